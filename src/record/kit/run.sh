#!/bin/sh
# Samples the targets beside this script with perf and leaves a run for 'skidscan report'.
# usage: sh run.sh [-o DIR]
#   -o DIR  where the run goes (default: ./skidscan.run); an unfinished run of this kit in DIR is
#           continued where it stopped
# PERF in the environment names another perf than the one in PATH. Progress goes to standard output.
# exit status: 0 every measurement was recorded or refused by this machine; 1 otherwise; 64 usage
# shellcheck disable=SC2016,SC2094 # single quotes keep $; session is only tested for its size
set -eu
export LC_ALL=C PERF_CONFIG=/dev/null # settings in ~/.perfconfig would make runs differ
unset CDPATH

# Removes control characters, which perf's messages and names of directories may contain, and
# replaces those of U+0080 to U+009F, which terminals obey too, by "?".
c1=$(printf 's/\302[\200-\237]/?/g')
print() { printf '%s\n' "$*" | tr -d '\000-\011\013-\037\177' | sed "$c1"; }
die() {
  print "run.sh: $*" >&2
  exit 1
}
usage() { sed -n '2,/^# exit/s/^# \{0,1\}//p' "$0"; }
now() { date -u +%Y-%m-%dT%H:%M:%SZ; }

@VALUES@
output=skidscan.run
[ "${1-}" != --help ] || set -- -h
while getopts o:h option; do
  case $option in
    o) output=$OPTARG ;;
    h) usage; exit 0 ;;
    *) usage >&2; exit 64 ;;
  esac
done
if [ $# -ge "$OPTIND" ] || [ -z "$output" ]; then
  usage >&2
  exit 64
fi
case $output in -*) output=./$output ;; esac # "cd -" goes elsewhere
kit=$(cd "$(dirname "$0")" && pwd -P)

# --- perf ---------------------------------------------------------------------

[ "$(uname -m)" = "$arch" ] ||
  die "this kit is for $arch and this machine is $(uname -m); make one with: skidscan kit --arch $(uname -m)"
perf=$(command -v "${PERF:-perf}") || die "${PERF:-perf}: not found in PATH; $how_to_install_perf"
case $perf in /*) ;; *) perf=$PWD/$perf ;; esac
printed=$("$perf" --version 2>&1 </dev/null) || true
version=$(print "$printed" | sed -n 's/^.*perf version \([0-9][0-9]*\.[0-9][^[:space:]]*\).*$/\1/p' | head -n 1)
[ -n "$version" ] || die "$perf --version printed no version ('$printed'); $how_to_install_perf"

# since MAJOR MINOR: "yes" where perf is at least of that version.
since() {
  major=${version%%.*} minor=${version#*.}
  minor=${minor%%[!0-9]*}
  [ "$major" -lt "$1" ] || { [ "$major" -eq "$1" ] && [ "$minor" -lt "$2" ]; } || echo yes
}
@VERSIONS@
cross_check='' no_cross_check=yes note=''
if [ -n "$tracepoint" ]; then
  if "$perf" stat -e "$tracepoint" -- true >/dev/null 2>&1; then
    cross_check=yes no_cross_check=''
  else
    note="--check-ip: $tracepoint cannot be recorded here; page faults are recorded without it"
    print "$note"
  fi
fi

# --- directory ----------------------------------------------------------------

# What must not change between the parts of a run.
identity() {
  uname -rn
  grep -E '^(vendor_id|cpu family|model|stepping|microcode|CPU [a-z]+)[[:space:]]*:' /proc/cpuinfo |
    sort -u
}

other='name another directory with -o'
if problem=$(mkdir "$output" 2>&1); then
  identity >"$output/identity"
else
  [ -f "$output/identity" ] || die "$problem; $other"
  [ "$(identity)" = "$(cat "$output/identity")" ] ||
    die "$output: was begun on another machine or kernel; $other"
  [ ! -f "$output/plan.json" ] || cmp -s "$kit/plan.json" "$output/plan.json" ||
    die "$output: is a run of another kit; $other"
fi
cd "$output"
mkdir lock 2>/dev/null ||
  die "$output: another run.sh is recording into it; if that one was killed, remove $output/lock"

child='' work=''
leave() {
  status=$?
  trap '' HUP INT TERM
  trap - EXIT
  set +e
  if [ -n "$child" ]; then
    kill "$child" 2>/dev/null
    wait "$child" 2>/dev/null
  fi
  [ -z "$work" ] || rm -rf "$work"
  rm -rf lock ./*.partial results/*.partial
  [ "$status" -lt 129 ] || print 'run.sh: interrupted; the same command continues the run' >&2
  exit "$status"
}
trap leave EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# shellcheck disable=SC2086 # names without special characters
[ "$kit" = "$(pwd -P)" ] || (cd "$kit" && cp plan.json run.sh $targets "$OLDPWD")
mkdir -p results machine/proc/sys/kernel
# FIFOs, which the file system of the run may not support.
work=$(mktemp -d) && work=$(cd "$work" && pwd -P)
case $work in *,*) die "$work: perf cannot use FIFOs whose names have a comma; set TMPDIR" ;; esac

# --- machine ------------------------------------------------------------------

# The highest number that is in all of the lists ("0-3,8").
highest_common() {
  printf '%s\n' "$@" | awk -F, '
    { for (i = 1; i <= NF; i++) {
        n = split($i, range, "-")
        for (cpu = range[1] + 0; cpu <= range[n] + 0; cpu++) lists[cpu]++
      } }
    END {
      best = -1
      for (cpu in lists) if (lists[cpu] == NR && cpu + 0 > best) best = cpu + 0
      if (best >= 0) print best
    }'
}

choose_cpu() {
  allowed=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
  set -- "$allowed" "${cpu:-$allowed}"
  # Events that name no PMU are those of the performance cores of a hybrid machine.
  for pmu in ${pmus:-cpu_core}; do
    cpus=/sys/bus/event_source/devices/$pmu/cpus
    [ ! -s "$cpus" ] || set -- "$@" "$(cat "$cpus")"
  done
  chosen=$(highest_common "$@")
  [ -n "$chosen$pmus" ] || chosen=$(highest_common "$1" "$2")
  [ -n "$chosen" ] ||
    die "no CPU: this process may use $allowed, the kit asks for CPU '$cpu' and PMUs '$pmus'; see skidscan kit --cpu"
  cpu=$chosen
}

if [ -s session ]; then cpu=$(sed -n 's/^cpu=//p' session | tail -n 1); fi
choose_cpu

uname -r >machine/proc/sys/kernel/osrelease
uname -n >machine/proc/sys/kernel/hostname
print "$arch" >machine/proc/sys/kernel/arch
print "$printed" >machine/perf-version
for file in /proc/cpuinfo /proc/meminfo /proc/self/status /proc/version /proc/cmdline \
  /proc/sys/kernel/perf_* /proc/sys/kernel/nmi_watchdog /proc/sys/kernel/kptr_restrict \
  /proc/sys/kernel/randomize_va_space /sys/hypervisor/type \
  /proc/device-tree/hypervisor/compatible /sys/class/dmi/id/sys_vendor \
  /sys/class/dmi/id/product_name /sys/class/dmi/id/bios_version /sys/devices/system/cpu/smt/active \
  /sys/devices/system/cpu/cpu0/regs/identification/midr_el1 \
  "/sys/devices/system/cpu/cpu$cpu/cpufreq/scaling_governor" \
  "/sys/devices/system/cpu/cpu$cpu"/cache/index*/type \
  "/sys/devices/system/cpu/cpu$cpu"/cache/index*/level \
  "/sys/devices/system/cpu/cpu$cpu"/cache/index*/size \
  /sys/bus/event_source/devices/*/type /sys/bus/event_source/devices/*/cpus \
  /sys/bus/event_source/devices/*/caps/* /sys/bus/event_source/devices/cpu*/format/* \
  /sys/bus/event_source/devices/ibs_*/format/* /sys/bus/event_source/devices/arm*/format/*; do
  # Large machines have hundreds of PMUs outside of the cores, which sample nothing.
  case $file in */uncore_*) continue ;; esac
  if [ ! -f "$file" ] || [ ! -r "$file" ]; then continue; fi
  mkdir -p "machine${file%/*}"
  tr -d '\000' <"$file" >"machine$file" 2>/dev/null || true
  [ -s "machine$file" ] || rm "machine$file"
done
# A shell cannot execute CPUID. This also shows whether programs may run in this directory.
"./${targets%% *}" --print hypervisor >machine/cpuid-hypervisor ||
  die "$output/${targets%% *}: does not run; name a directory where programs may run with -o"
[ -s machine/cpuid-hypervisor ] || rm machine/cpuid-hypervisor

{
  [ -s session ] || echo format=1
  printf 'started=%s\nperf=%s\nperf_version=%s\ncpu=%s\n' "$(now)" "$perf" "$version" "$cpu"
  [ -z "$note" ] || print "note=$note"
} >>session

# --- measurements -------------------------------------------------------------

kept=0 refused=0 died=0 first_reason=''

# How long to record again an event that gave too few samples, in seconds; empty: not again.
longer() {
  awk -v last="$seconds" -v samples="$samples" -v asked="$samples_asked" \
    -v longest="$longest_try" -v longest_empty="$longest_empty_try" -v growth="$least_growth" \
    -v margin="$margin" 'BEGIN {
      if (last == 0 || samples >= asked || last >= (samples > 0 ? longest : longest_empty)) exit
      factor = samples > 0 ? margin * asked / samples : growth
      next_try = last * (factor > growth ? factor : growth)
      printf "%.9f", next_try < longest ? next_try : longest
    }'
}

# The number of samples of all events in a recording: its records of type 9. They are counted in the file, whose
# layout is the same for every perf (tools/perf/Documentation/perf.data-file-format.txt), because what perf prints
# differs: "(N samples)" is missing in 7.2, 'perf report --stats' has other lines, 'perf script' has several lines a
# sample with call graphs. od prints each 8 bytes as 16 digits; the first ones of a record are its size in bytes (4
# digits), flags (4) and type (8).
samples_in() { # recording
  # shellcheck disable=SC2046 # two numbers: where the records begin, and their size in bytes
  set -- "$1" $(od -A n -v -t u8 -j 40 -N 16 "$1" 2>/dev/null)
  if [ $# -ne 3 ] || [ "$3" -eq 0 ]; then
    echo 0
    return
  fi
  od -A n -v -t x8 -j "$2" -N "$3" "$1" | awk '
    function number(digits, i, value) {
      for (i = 1; i <= length(digits); i++) value = value * 16 + index("123456789abcdef", substr(digits, i, 1))
      return value
    }
    { for (i = 1; i <= NF; i++) {
        # What an AUXTRACE record (71) announces is not in its size.
        if (announced) { rest += number($i) / 8; announced = 0 }
        if (rest > 0) { rest--; continue }
        size = substr($i, 1, 4)
        if (!(size in words)) words[size] = number(size) / 8
        if (words[size] < 1) exit
        rest = words[size] - 1
        type = substr($i, 9)
        if (type == "00000009") samples++
        else if (type == "00000047") announced = 1
      } }
    END { print samples + 0 }'
}

# One perf record. Leaves its status and output in results/, $status and $samples.
try() {
  for word; do
    shift
    case $word in -d | -W) [ -n "$addresses" ] || continue ;; esac
    [ "$word" != @seconds ] || word=$seconds
    set -- "$@" "$word"
  done
  rm -f "$file.partial" "results/$file.result" "$work/$file".*
  mkfifo "$work/$file.control" "$work/$file.acknowledge"
  started=$(now)
  "$@" >"results/$file.out" 2>"results/$file.err" </dev/null &
  child=$!
  status=0
  wait "$child" || status=$?
  child=''
  {
    printf 'format=1\nstatus=%s\nstarted=%s\nended=%s\n' "$status" "$started" "$(now)"
    [ "$seconds" = 0 ] || echo "nanoseconds=${seconds%.*}${seconds#*.}"
    [ -z "$tracepoint" ] || [ -n "$cross_check" ] || echo cross_check=no
    printf 'word=%s\n' "$@"
  } >"results/$file.result.partial" ||
    die "$output: no space left on device, or not writable; the same command continues the run"
  mv "results/$file.result.partial" "results/$file.result"
  samples=$(samples_in "$file.partial")
}

# Whether perf gave up before it recorded: an event that it or the kernel does not support ends it
# with 129 or 255, before it writes to the file.
gave_up() {
  [ "$status" -ne 0 ] && { [ "$status" -le 129 ] || [ "$status" -gt 192 ]; } && [ ! -s "$file.partial" ]
}

# measure NAME FILE SAMPLES SECONDS WORD...: one measurement, unless it is finished. SECONDS is 0 where
# the number of iterations is fixed; @seconds among the words of the command is replaced by it.
measure() {
  name=$1 file=$2 samples_asked=$3 seconds=$4
  shift 4
  if [ -f "$file" ]; then
    kept=$((kept + 1))
    return
  fi
  addresses=yes
  try "$@"
  # Some events are refused with data addresses (-d, -W), and recorded without.
  case " $* " in *' -d '*) if gave_up; then addresses=''; fi ;; esac
  if [ -z "$addresses" ]; then
    try "$@"
    [ "$status" -ne 0 ] || print "$name: $addresses_refused"
  fi
  next=''
  [ "$status" -ne 0 ] || next=$(longer)
  if [ -n "$next" ]; then
    print "$name: $samples samples of $samples_asked; recorded again for $next s"
    seconds=$next
    try "$@"
  fi
  if [ "$status" -eq 0 ] && grep -q "$report_marker" "results/$file.out"; then
    mv "$file.partial" "$file" # last: a recording with this name is finished
    kept=$((kept + 1))
    print "$name: $samples samples"
    return
  fi
  ! grep -q 'No space left on device' "results/$file.err" ||
    die "$output/$file: no space left on device; the same command continues the run"
  reason=$(grep -v -e '^Events ' -e 'perf record: Woken' -e '/proc/schedstat' "results/$file.err" |
    grep '[^[:space:]]' | head -n 3 | tr -s '\n ' '  ') || true
  if gave_up; then
    refused=$((refused + 1))
    print "$name: not recorded: ${reason:-status $status}"
  else
    died=$((died + 1))
    print "$name: not recorded, perf or the target died: ${reason:-status $status}"
  fi
  rm -f "$file.partial"
  [ -n "$first_reason" ] || first_reason="$name: ${reason:-status $status}"
}

@MEASUREMENTS@
[ "$kept" -gt 0 ] || die "nothing was recorded: $first_reason"
[ "$died" -eq 0 ] ||
  die "perf or the target died in $died measurements, $kept were recorded; the same command continues the run"
print "$output: $kept measurements, $refused refused by this machine; read them with: skidscan report $output"
