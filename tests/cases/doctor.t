`skidscan doctor` on the trees of tests/machines, which are written by hand from the kernel's documentation.
What it says of each is in the texts beside them.

  $ . "$CASES/common.sh"
  $ needs x86-64
  $ machines=$CASES/../machines
  $ doctor() { machine=$1; shift; skidscan doctor --root "$machines/$machine" "$@"; }

On one screen, of 80 columns:

  $ doctor skylake
  This machine samples events of its CPU's PMU, up to precise level ppp.
  
  CPU        Intel(R) Core(TM) i7-6700 CPU @ 3.40GHz (GenuineIntel, family 6,
             model 94, stepping 3, microcode 0xf0, x86_64)
  kernel     6.1.0-18-amd64, perf 6.1.76
  source     files of a machine; the answers follow from the kernel's source
  branches   32 a sample, with any event, at levels none p pp ppp
  
  Events of record, by precise level (user mode)
    event                        none  p        pp       ppp
    access                       yes   ignored  ignored  ignored
    execute                      yes   ignored  ignored  ignored
    faults                       yes   ignored  ignored  ignored
    cpu-clock                    yes   ignored  ignored  ignored
    MEM_INST_RETIRED.ALL_LOADS   yes   yes      yes      yes
    MEM_LOAD_RETIRED.L3_MISS     yes   yes      yes      yes
    MEM_INST_RETIRED.ALL_STORES  yes   yes      yes      yes
    BR_INST_RETIRED.NEAR_TAKEN   yes   yes      yes      yes
    BR_MISP_RETIRED.CONDITIONAL  yes   yes      yes      yes
    INST_RETIRED.ANY_P           yes   yes      yes      yes
    CPU_CLK_UNHALTED.THREAD_P    yes   yes      yes      yes
    cycles:P                     yes   yes      yes      yes
  
  Problems
    1 only user mode can be sampled: kernel.perf_event_paranoid is 2 and this
      process has neither CAP_PERFMON nor CAP_SYS_ADMIN
      > sudo sysctl kernel.perf_event_paranoid=1
    2 the NMI watchdog keeps one hardware counter for itself
      > sudo sysctl kernel.nmi_watchdog=0
  
  --details prints rights, settings, PMUs and the default triggers, and how to
  record a program so that each sample is judged
  $ for machine in skylake alder-lake zen4 neoverse-n1 vm-without-pmu container; do
  >   doctor $machine > text; echo "$machine $?"
  >   doctor $machine --details > details
  >   [ "$(wc -l < text)" -le 40 ] && [ "$(wc -l < details)" -le 70 ] || wc -l text details
  >   grep -E -h -e '.{81}' -e ' $' text details
  > done
  skylake 0
  alder-lake 0
  zen4 0
  neoverse-n1 0
  vm-without-pmu 3
  container 1
  [1]

As JSON:

  $ doctor zen4 --format json > json
  $ pick < json schema exit_status tried cpu.vendor cpu.midr settings.perf_event_max_sample_rate \
  >   settings.smt_active perf events.5.name events.5.levels events.5.answers.3 problems.0.id \
  >   cpu_events.default_set.# cpu_events.default_set.1.perf_event cpu_events.default_set.1.levels
  schema = "skidscan.doctor/1"
  exit_status = 0
  tried = false
  cpu.vendor = "AuthenticAMD"
  cpu.midr = null
  settings.perf_event_max_sample_rate = 8000
  settings.smt_active = true
  perf = {"path": null, "version": "6.5.13"}
  events.5.name = "r076"
  events.5.levels = [0, 1, 2]
  events.5.answers.3 = {"level": 3, "acceptance": "refused", "error": "operation not supported", "reason": "IBS has no level 3", "remedy": null}
  problems.0.id = "low_sample_rate"
  cpu_events.default_set.# = 5
  cpu_events.default_set.1.perf_event = "r076"
  cpu_events.default_set.1.levels = [0, 1, 2]
  $ doctor neoverse-n1 --format json | pick cpu.midr cpu.core_name pmus.0.name pmus.0.core \
  >   pmus.0.caps.count_size
  cpu.midr = "0x413fd0c1"
  cpu.core_name = "Neoverse N1 r3p1"
  pmus.0.name = "arm_spe_0"
  pmus.0.core = false
  pmus.0.caps.count_size = "12"
  $ doctor container --format json > json
  [1]
  $ pick < json exit_status rights.effective_capabilities rights.seccomp_filter perf events.4.remark
  exit_status = 1
  rights.effective_capabilities = "0x0"
  rights.seccomp_filter = true
  perf = null
  events.4.remark = "not permitted"
  $ grep -c '"usable": true' json
  0
  [1]

Hostile names are escaped:

  $ cp -r "$machines/skylake" hostile
  $ printf '6.1\033[2J%02000d' 0 > hostile/proc/sys/kernel/osrelease
  $ pmus=hostile/sys/bus/event_source/devices
  $ printf '\033]0;x\007\n\nsky' > $pmus/cpu/caps/pmu_name
  $ evil=$pmus/$(printf 'evil\033[31m\npmu')
  $ mkdir "$evil"; echo 99 > "$evil/type"; echo 0 > "$evil/cpus"
  $ for format in text json; do skidscan doctor --root hostile --format $format; done > text
  $ LC_ALL=C grep -e '[[:cntrl:]]' -e '^pmu' text
  [1]
  $ grep -o 'evil[^ ]*pmu' text
  evil\u001b[31m\npmu
  evil\u001b[31m\npmu

A root that is no directory:

  $ skidscan doctor --root /dev/null
  skidscan: --root /dev/null: not a directory; expected a copy of /
  [1]
  $ skidscan doctor --format xml
  skidscan: --format xml: expected text, json; try 'skidscan doctor --help'
  [64]
