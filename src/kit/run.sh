#!/bin/sh
# Records what this kit is made for on this machine: it takes perf and a shell, nothing else.
# README.txt beside it says how; what is left there is read by 'skidscan report'.
#
# It decides nothing that can be decided later. What perf and the target said, how perf ended and
# what the machine shows of itself is kept as it is; skidscan makes a run of it.
#
# shellcheck disable=SC2016 # what is in single quotes is not to be expanded
set -eu
LC_ALL=C
PERF_CONFIG=/dev/null # what ~/.perfconfig asks for would make runs differ
export LC_ALL PERF_CONFIG
unset CDPATH || true

newline='
'
output=skidscan.run
force=
quiet=

directory=     # of the run, absolute, once it is there
fresh=         # not empty: made here, and nothing in it is worth keeping yet
aside=         # where the run is that it replaces
locked=        # not empty: the lock is ours
work=          # FIFOs, and what perf and the target say
child=         # perf, while it runs
total=0        # measurements
kept=0         # of them recorded
refused=0      # of them not taken by this machine
died=0         # of them broken off, by the death of perf or the target: pending
tries=0        # of perf record
number=0       # of the one at hand
first_reason=  # why the first one was not recorded
no_permission= # not empty: one was refused for that

usage() {
  cat <<'END'
usage: sh run.sh [-o DIR] [-f] [-q]
  -o DIR  where the run goes (default: skidscan.run in this directory); a partial one
          of the same kit and machine is finished
  -f      replace a run that is there
  -q      say nothing but errors
  -h      this text
Environment: PERF names another perf than the one in PATH.
END
}

say() {
  printf '%s\n' "run.sh: $*" | tr -d '\000-\011\013-\037\177' >&2
}

tell() {
  [ -n "$quiet" ] || say "$@"
}

die() {
  say "$@"
  exit 1
}

# A word as a shell takes it.
quoted() {
  case $1 in
    '' | *[!A-Za-z0-9_./:,@%+=-]*) printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")" ;;
    *) printf '%s' "$1" ;;
  esac
}

# At the end of everything, whatever it was.
leave() {
  status=$?
  trap '' HUP INT TERM
  trap - EXIT
  set +e
  if [ -n "$child" ]; then
    kill -TERM "$child" 2>/dev/null
    wait "$child" 2>/dev/null
  fi
  [ -z "$work" ] || rm -rf "$work"
  if [ -n "$locked" ]; then
    rm -f "$directory"/*.partial "$directory"/results/*.partial
    rm -rf "$directory/lock"
  fi
  if [ -n "$fresh" ]; then
    cd /
    rm -rf "$directory"
  fi
  if [ -n "$aside" ] && [ -d "$aside" ]; then
    if [ -d "$directory" ]; then rm -rf "$aside"; else mv "$aside" "$directory"; fi
  fi
  [ "$status" -le 128 ] || say "interrupted: $(what_is_kept)"
  exit "$status"
}

what_is_kept() {
  [ "$kept" -gt 0 ] || {
    echo 'nothing was recorded'
    return
  }
  echo "$kept of $total measurements kept; finish with: sh $(quoted "$directory/run.sh") -o $(quoted "$directory")"
}

# The end of a message of the system: "No space left on device".
reason_in() {
  reason=${1##*: }
  case $1 in
    *"$disk_full_text"*) reason='no space left on device' ;;
  esac
  printf '%s' "$reason"
}

cannot_write() {
  message="$1: cannot be written: $(reason_in "$2")"
  [ "$kept" -eq 0 ] || message="$message; $(what_is_kept)"
  die "$message"
}

make_directory() {
  [ -d "$1" ] || problem=$(mkdir -p "$1" 2>&1) || cannot_write "$1" "$problem"
}

# put FILE TEXT: the file appears whole or not at all.
put() {
  problem=$({ printf '%s\n' "$2" | cat >"$1.partial"; } 2>&1) || cannot_write "$1" "$problem"
  problem=$(mv -f "$1.partial" "$1" 2>&1) || cannot_write "$1" "$problem"
}

copy() {
  problem=$(cp "$1" "$2.partial" 2>&1) || cannot_write "$2" "$problem"
  problem=$(mv -f "$2.partial" "$2" 2>&1) || cannot_write "$2" "$problem"
}

now() {
  date -u +%Y-%m-%dT%H:%M:%SZ
}

# --- what must be there -------------------------------------------------------

check_kit() {
  for file in plan.json $targets; do
    [ -f "$kit/$file" ] || die "$kit/$file: is missing; unpack the kit anew and run its run.sh"
  done
  # Lengths are nanoseconds.
  [ "$((4294967296 * 4))" = 17179869184 ] ||
    die 'this shell counts with 32 bits only; run the script with another: busybox sh, dash, bash'
}

check_architecture() {
  here=$(uname -m)
  case $here in
    amd64) here=x86_64 ;;
    arm64) here=aarch64 ;;
  esac
  [ "$here" = "$arch" ] ||
    die "this kit is for $arch and this machine is $here; make one with: skidscan kit --arch $here"
}

find_perf() {
  perf=${PERF:-perf}
  perf=$(command -v "$perf" 2>/dev/null) || die "${PERF:-perf}: not found in PATH; $how_to_install"
  case $perf in
    /*) ;;
    */*) perf=$(pwd -P)/$perf ;;
    *) die "$perf: is no program but something of this shell; name perf's path in PERF" ;;
  esac
  said=$("$perf" --version 2>&1 </dev/null) ||
    die "$perf: does not run: $(printf '%s\n' "$said" | sed -n '/[^[:space:]]/{p;q;}'); $how_to_install"
  perf_version=$(printf '%s\n' "$said" |
    sed -n 's/^.*perf version \([0-9][0-9]*\.[0-9][^[:space:]]*\).*$/\1/p' | sed 1q)
  [ -n "$perf_version" ] ||
    die "$perf: no version in what --version prints (\"$said\"); $how_to_install"
  perf_major=${perf_version%%.*}
  perf_minor=${perf_version#*.}
  perf_minor=${perf_minor%%[!0-9]*}
}

# Whether perf has what came with version MAJOR.MINOR.
perf_has() {
  [ "$perf_major" -gt "${1%.*}" ] ||
    { [ "$perf_major" -eq "${1%.*}" ] && [ "$perf_minor" -ge "${1#*.}" ]; }
}

# The first line that perf does not say each time.
first_remark() {
  printf '%s\n' "$chatter_texts" >"$work/texts"
  grep -v -F -f "$work/texts" "$1" | sed -n '/[^[:space:]]/{p;q;}'
}

tells_of_permission() {
  printf '%s\n' "$permission_texts" >"$work/texts"
  grep -q -F -f "$work/texts" "$1"
}

permission_remedy() {
  paranoid=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null) || paranoid=unknown
  remedy="kernel.perf_event_paranoid is $paranoid; "
  case $paranoid in
    -* | 0 | 1)
      remedy="${remedy}run as root, or give the container CAP_PERFMON and a seccomp profile that"
      remedy="$remedy allows perf_event_open"
      ;;
    *)
      remedy="${remedy}allow it with 'sysctl kernel.perf_event_paranoid=1', or run as root or with"
      remedy="$remedy CAP_PERFMON"
      ;;
  esac
  printf '%s' "$remedy"
}

# A timer of user code is what any kernel with perf_event_open samples for anybody it samples for.
check_permission() {
  "$perf" record -o "$work/probe" -e cpu-clock:u -- true \
    >"$work/out" 2>"$work/err" </dev/null && return
  tells_of_permission "$work/err" || return 0 # the measurements will tell
  die "nothing can be sampled here: no permission ($(permission_remedy))"
}

# Both ways of asking, as for an event of its own: the first looks it up, the second needs access.
check_witness() {
  witness_here=
  [ -n "$witness" ] || return 0
  if "$perf" record --dry-run -e "$witness" -- true >"$work/out" 2>"$work/err" </dev/null &&
    "$perf" stat -e "$witness" -- true >"$work/out" 2>"$work/err" </dev/null; then
    witness_here=yes
    return
  fi
  witness_note="--check-ip: $witness cannot be recorded here ($(reason_of_perf "$work/err")); page faults are recorded without it"
  tell "$witness_note"
}

# A directory that only we can enter, where there can be FIFOs and what perf says. perf splits their
# names at a comma.
make_work() {
  for parent in "${TMPDIR:-/tmp}" /tmp /var/tmp /dev/shm; do
    case $parent in
      *,* | *"$newline"*) continue ;;
      /*) ;;
      *) parent=$(pwd -P)/$parent ;;
    esac
    for attempt in 1 2 3 4 5; do
      work=$parent/skidscan-$$-$attempt
      mkdir -m 700 "$work" 2>/dev/null || continue
      mkfifo -m 600 "$work/fifo" 2>/dev/null && has_room "$work" && return
      rm -rf "$work"
    done
  done
  work=
  die "${TMPDIR:-/tmp}: no FIFO can be made there, or nothing written; name a directory with room in TMPDIR"
}

# --- the machine --------------------------------------------------------------

# Whether some more can be written to a directory; dd's words in $problem where it cannot.
has_room() {
  room=yes
  problem=$(dd if=/dev/zero of="$1/room.partial" bs=4096 count=16 2>&1) || room=
  rm -f "$1/room.partial"
  [ -n "$room" ]
}

# "0-2,8" to "0 1 2 8".
cpus_of() {
  rest=$1,
  while [ -n "$rest" ]; do
    range=${rest%%,*}
    rest=${rest#*,}
    first=${range%%-*}
    last=${range##*-}
    case $first$last in '' | *[!0-9]*) continue ;; esac
    while [ "$first" -le "$last" ]; do
      printf '%s ' "$first"
      first=$((first + 1))
    done
  done
}

# Those of the first list that are in the second.
common_cpus() {
  for candidate in $1; do
    case " $2 " in *" $candidate "*) printf '%s ' "$candidate" ;; esac
  done
}

last_word() {
  words=${1% }
  printf '%s' "${words##* }"
}

# The highest CPU allowed that has the PMUs which events name; events that name none mean the
# performance cores of a hybrid machine.
choose_cpu() {
  devices=/sys/bus/event_source/devices
  allowed=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status 2>/dev/null) || allowed=
  allowed=$(cpus_of "$allowed")
  candidates=$allowed
  if [ -n "$cpu" ]; then
    case " $allowed" in
      ' ' | *" $cpu "*) ;;
      *) die "CPU $cpu: this process may not run there, allowed: $allowed" ;;
    esac
    candidates="$cpu "
  fi
  named=
  for pmu in $pmus; do
    [ -s "$devices/$pmu/cpus" ] || continue
    named=yes
    candidates=$(common_cpus "$candidates" "$(cpus_of "$(cat "$devices/$pmu/cpus")")")
    [ -n "$candidates" ] ||
      die "events of $pmu are to be recorded, which is on the CPUs $(cat "$devices/$pmu/cpus") only; make the kit with --cpu, and one kit for each PMU"
  done
  if [ -z "$named" ] && [ -s "$devices/cpu_core/cpus" ]; then
    cores=$(common_cpus "$candidates" "$(cpus_of "$(cat "$devices/cpu_core/cpus")")")
    [ -z "$cores" ] || candidates=$cores
  fi
  cpu=$(last_word "$candidates")
  cpu=${cpu:-0}
}

# What must not change between the beginning of a run and its end.
identity() {
  uname -r
  uname -n
  sed -n '/^$/q; /^\(vendor_id\|cpu family\|model\|stepping\|microcode\|CPU [a-z]*\)[[:space:]]*:/p' \
    /proc/cpuinfo 2>/dev/null || true
}

# keep PATH...: files of this machine below machine/, as below /. Missing ones are left out.
keep() {
  for path; do
    if [ ! -f "$path" ] || [ ! -r "$path" ]; then continue; fi
    text=$(tr -d '\000' <"$path" 2>/dev/null) || continue
    [ -n "$text" ] || continue
    make_directory "$directory/machine${path%/*}"
    put "$directory/machine$path" "$text"
  done
}

keep_machine() {
  make_directory "$directory/machine/proc/sys/kernel"
  put "$directory/machine/proc/sys/kernel/osrelease" "$(uname -r)"
  put "$directory/machine/proc/sys/kernel/hostname" "$(uname -n)"
  put "$directory/machine/proc/sys/kernel/arch" "$arch"
  put "$directory/machine/perf-version" "$said"
  kernel=/proc/sys/kernel
  keep /proc/cpuinfo /proc/meminfo /proc/self/status /proc/version /proc/cmdline \
    $kernel/perf_event_paranoid $kernel/perf_event_max_sample_rate $kernel/perf_event_mlock_kb \
    $kernel/perf_cpu_time_max_percent $kernel/nmi_watchdog $kernel/kptr_restrict \
    $kernel/randomize_va_space /sys/hypervisor/type /proc/device-tree/hypervisor/compatible \
    /sys/class/dmi/id/sys_vendor /sys/class/dmi/id/product_name /sys/class/dmi/id/bios_version \
    /sys/devices/system/cpu/smt/active \
    /sys/devices/system/cpu/cpu0/regs/identification/midr_el1 \
    "/sys/devices/system/cpu/cpu$cpu/cpufreq/scaling_governor"
  for index in "/sys/devices/system/cpu/cpu$cpu/cache"/index*; do
    keep "$index/type" "$index/level" "$index/size"
  done
  # Large machines have hundreds of PMUs outside of the cores, which sample nothing.
  for pmu in /sys/bus/event_source/devices/*; do
    case ${pmu##*/} in
      software | breakpoint | tracepoint | cpu | ibs_* | arm_spe_* | intel_pt) ;;
      *) [ -e "$pmu/cpus" ] || continue ;;
    esac
    keep "$pmu/type" "$pmu/cpus" "$pmu/cpumask" "$pmu"/caps/* "$pmu"/format/*
  done
  # A shell cannot ask the CPU itself. That targets run here is seen by the way.
  for target in $targets; do
    problem=$("$directory/$target" --print hypervisor 2>&1) ||
      die "$directory/$target: does not run here: $(reason_in "$problem"); name a directory with -o where programs may run"
    [ -z "$problem" ] || put "$directory/machine/cpuid-hypervisor" "$problem"
  done
}

# --- the directory ------------------------------------------------------------

is_run() {
  [ -f "$1/run.json" ] || { [ -f "$1/plan.json" ] && [ -f "$1/session" ]; }
}

is_empty() {
  [ -d "$1" ] || return 1
  for entry in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    if [ -e "$entry" ] || [ -L "$entry" ]; then return 1; fi
  done
}

take_lock() {
  if ! mkdir "$directory/lock" 2>/dev/null; then
    [ -d "$directory/lock" ] || cannot_write "$directory/lock" "$(mkdir "$directory/lock" 2>&1)"
    owner=$(cat "$directory/lock/owner" 2>/dev/null) || owner=
    # One that was killed left it behind.
    if [ -z "$owner" ] || [ "${owner#* }" != "$(uname -n)" ] || [ -d "/proc/${owner%% *}" ]; then
      die "$directory: another run.sh records into it (${owner:-just begun}); wait for its end, or, where it is gone, remove $directory/lock"
    fi
    rm -rf "$directory/lock"
    mkdir "$directory/lock" 2>/dev/null || die "$directory: another run.sh records into it"
  fi
  locked=yes
  put "$directory/lock/owner" "$$ $(uname -n)"
}

# One of this kit that was ended before it recorded anything.
is_begun() {
  [ -f "$1/identity" ] && [ ! -e "$1/session" ] && cmp -s "$kit/plan.json" "$1/plan.json"
}

# Goes on with the run that is there, or says why not.
resume() {
  is_run "$output" || is_empty "$output" ||
    die "$output: exists and is no run; name another directory with -o"
  other='name another directory with -o, or replace it with -f'
  if [ ! -f "$output/plan.json" ] || [ ! -f "$output/session" ]; then
    die "$output: exists and is no run of this kit; $other"
  fi
  cmp -s "$kit/plan.json" "$output/plan.json" || die "$output: is a run of another kit; $other"
  directory=$(cd "$output" && pwd -P)
  [ "$(cat "$directory/identity" 2>/dev/null)" = "$(identity)" ] ||
    die "$output: was begun on another machine or kernel; $other"
  count
  [ "$((kept + refused))" -lt "$total" ] || die "$output: exists and is whole; $other"
  take_lock
  rm -f "$directory"/*.partial "$directory"/results/*.partial
  cpu=$(sed -n 's/^cpu=//p' "$directory/session" | tail -n 1)
  choose_cpu
  session=$(cat "$directory/session")$newline
}

begin() {
  directory=$output
  if [ -e "$output" ] || [ -L "$output" ]; then
    is_run "$output" || is_begun "$output" || is_empty "$output" ||
      die "$output: exists and is no run; name another directory with -o"
    directory=$(cd "$output" && pwd -P)
    case $kit/ in "$directory"/*) die "$output: this script is in it; name another directory" ;; esac
    take_lock
    locked=
    aside=$directory.replaced.$$
    problem=$(mv "$directory" "$aside" 2>&1) || {
      aside=
      rm -rf "$directory/lock"
      die "$output: cannot be replaced: $(reason_in "$problem")"
    }
    rm -rf "$aside/lock"
  fi
  problem=$(mkdir "$directory" 2>&1) || {
    [ -z "$aside" ] || mv "$aside" "$directory"
    die "$output: cannot be created: $(reason_in "$problem")"
  }
  fresh=yes
  directory=$(cd "$directory" && pwd -P)
  take_lock
  choose_cpu
  put "$directory/identity" "$(identity)"
  copy "$kit/plan.json" "$directory/plan.json"
  copy "$kit/run.sh" "$directory/run.sh"
  for target in $targets; do copy "$kit/$target" "$directory/$target"; done
  session="format=1$newline"
}

# Something is worth keeping: what it replaces can go.
keep_directory() {
  [ -n "$fresh" ] || return 0
  fresh=
  [ -z "$aside" ] || rm -rf "$aside"
  aside=
}

# --- the measurements ---------------------------------------------------------

# The list of measurements is read twice: to count what is there, and to record what is not.
count() {
  doing=count_one
  total=0 kept=0 refused=0
  measurements
}

count_one() {
  total=$((total + 1))
  is_done "$3" || return 0
  if [ -f "$directory/$3" ]; then kept=$((kept + 1)); else refused=$((refused + 1)); fi
}

is_done() {
  [ -f "$directory/results/$1.result" ] || return 1
  [ -f "$directory/$1" ] || grep -q '^recorded=no$' "$directory/results/$1.result"
}

# measure EVENT NAME FILE TARGET NANOSECONDS WITNESS WORD...
# EVENT numbers the event, for all its levels; NANOSECONDS is 0 where iterations are counted. Of the
# words =TEXT is itself and @NAME a value that is known only here. What stands before that is a
# condition: the version of perf that has it, "w" with the witness, "n" without.
measure() {
  "$doing" "$@"
}

record_one() {
  event=$1 name=$2 file=$3 target=$4 nanoseconds=$5 with_witness=$6
  shift 6
  number=$((number + 1))
  ! is_done "$file" || return 0
  if [ "$nanoseconds" -gt 0 ]; then eval "nanoseconds=\${sufficient_$event:-$nanoseconds}"; fi
  # Without it, or an earlier perf's file would be set aside as one more.
  while :; do
    try "$@"
    next_length
    [ -n "$next" ] || break
    tell "[$number/$total] $name: $samples samples of $samples_asked asked for; recorded again for $((next / 1000000)) ms"
    nanoseconds=$next
  done
  keep_result
}

value_of() {
  case $1 in
    perf) printf '%s' "$perf" ;;
    output) printf '%s' "$directory/$file.partial" ;;
    fifos) printf '%s' "fifo:$(value_of control),$(value_of acknowledge)" ;;
    control | acknowledge) printf '%s' "$work/fifos.$tries/$1" ;;
    target) printf '%s' "$directory/$target" ;;
    seconds) printf '%d.%09d' "$((nanoseconds / 1000000000))" "$((nanoseconds % 1000000000))" ;;
    cpu) printf '%s' "$cpu" ;;
    *) die "$kit/run.sh: the value $1 is not known; make the kit anew" ;;
  esac
}

holds() {
  case $1 in
    '') ;;
    w) [ -n "$witness_here" ] ;;
    n) [ -z "$witness_here" ] ;;
    *) perf_has "$1" ;;
  esac
}

# One perf record: leaves $status, $samples, $recorded, $started, $ended, and $command, a line
# for each word.
try() {
  rm -f "$directory/$file.partial"
  # Other names each time: the target of a perf that was killed may still look for the old ones.
  rm -rf "$work/fifos.$tries"
  tries=$((tries + 1))
  mkdir "$work/fifos.$tries"
  mkfifo -m 600 "$work/fifos.$tries/control" "$work/fifos.$tries/acknowledge"
  command=
  left=$#
  while [ "$left" -gt 0 ]; do
    left=$((left - 1))
    word=$1
    shift
    condition=${word%%[=@]*}
    word=${word#"$condition"}
    holds "$condition" || continue
    case $word in
      =*) word=${word#=} ;;
      *) word=$(value_of "${word#@}") ;;
    esac
    command="${command}word=$word$newline"
    set -- "$@" "$word"
  done
  started=$(now)
  "$@" >"$work/out" 2>"$work/err" </dev/null &
  child=$!
  status=0
  wait "$child" || status=$?
  child=
  ended=$(now)

  samples=$(grep -F "$wrote_file_text" "$work/err" | tail -n 1) || true
  samples=${samples%"$samples_end_text"*}
  samples=${samples##*\(}
  case $samples in '' | *[!0-9]*) samples=0 ;; esac
  recorded=no
  if [ "$status" -eq 0 ] && grep -q -F "$report_text" "$work/out" && is_recording &&
    ! is_disk_full; then
    recorded=yes
  else
    check_disk
    ! has_died || recorded=died
  fi
}

is_recording() {
  [ "$(dd if="$directory/$file.partial" bs=8 count=1 2>/dev/null | tr -d '\000')" = PERFILE2 ]
}

is_disk_full() {
  grep -q -F "$disk_full_text" "$work/err"
}

# perf may have had no room to say so.
check_disk() {
  ! is_disk_full || cannot_write "$directory/$file" "$disk_full_text"
  has_room "$directory" || cannot_write "$directory/$file" "$(printf '%s\n' "$problem" | sed 1q)"
  has_room "$work" || cannot_write "$work" "$(printf '%s\n' "$problem" | sed 1q)"
}

# Whether perf or the target came to grief: what perf and the kernel do not take ends perf by itself
# before the target starts (perftool/outcome.cpp).
has_died() {
  [ "$status" -ne 0 ] || return 0
  # perf's own status for options that it does not know is 129.
  if [ "$status" -gt 129 ] && [ "$status" -le 192 ]; then return 0; fi
  grep -q -F "$wrote_file_text" "$work/err" || grep -q -F "$report_text" "$work/out"
}

how_it_died() {
  if [ "$status" -gt 129 ]; then
    echo "perf or the target was ended by signal $((status - 128))"
  else
    how=$(first_remark "$work/err")
    echo "the target did not come to its end${how:+: $how}"
  fi
}

# How long to record an event of unknown frequency again; empty: not again.
next_length() {
  next=
  if [ "$nanoseconds" -eq 0 ] || [ -n "$duration_given" ] || [ "$recorded" != yes ]; then return; fi
  [ "$samples" -lt "$samples_asked" ] || return 0
  longest=$longest_try
  [ "$samples" -gt 0 ] || longest=$longest_empty_try
  [ "$nanoseconds" -lt "$longest" ] || return 0
  percent=$least_growth
  if [ "$samples" -gt 0 ] && [ "$((margin * samples_asked / samples))" -gt "$percent" ]; then
    percent=$((margin * samples_asked / samples))
  fi
  if [ "$percent" -ge "$((longest_try * 100 / nanoseconds))" ]; then
    next=$longest_try
  else
    next=$((nanoseconds * percent / 100))
  fi
}

# perf's reason, for people: skidscan reads all that it said.
reason_of_perf() {
  found=$(sed -n 's/^.*\\___ //p' "$1" | sed 1q)
  [ -n "$found" ] || found=$(sed -n '/^Error:/{s/^Error:[[:space:]]*//;/./!{n;};p;q;}' "$1")
  [ -n "$found" ] || found=$(first_remark "$1")
  printf '%s' "${found:-no reason given}"
}

keep_result() {
  make_directory "$directory/results"
  copy "$work/out" "$directory/results/$file.out"
  copy "$work/err" "$directory/results/$file.err"
  result="format=1${newline}recorded=$recorded${newline}status=$status${newline}started=$started${newline}ended=$ended$newline"
  [ "$nanoseconds" -eq 0 ] || result="${result}nanoseconds=$nanoseconds$newline"
  if [ "$with_witness" = yes ] && [ -z "$witness_here" ]; then result="${result}witness=no$newline"; fi
  put "$directory/results/$file.result" "$result${command%"$newline"}"
  if [ "$recorded" = yes ]; then
    # Last of all: a recording with its name is finished.
    problem=$(mv "$directory/$file.partial" "$directory/$file" 2>&1) ||
      cannot_write "$directory/$file" "$problem"
    kept=$((kept + 1))
    keep_directory
    [ "$nanoseconds" -eq 0 ] || eval "sufficient_$event=$nanoseconds"
    tell "[$number/$total] $name: $samples samples"
    return
  fi
  rm -f "$directory/$file.partial"
  if [ "$recorded" = died ]; then
    died=$((died + 1))
    reason=$(how_it_died)
  else
    refused=$((refused + 1))
    reason=$(reason_of_perf "$work/err")
    if tells_of_permission "$work/err"; then
      no_permission=yes
      reason="no permission to sample it ($reason)"
    fi
  fi
  [ -n "$first_reason" ] || first_reason="$name: $reason"
  tell "[$number/$total] $name: not recorded: $reason"
}

# --- all of it ----------------------------------------------------------------

main() {
  case ${1:-} in --help)
    usage
    exit 0
    ;;
  esac
  while getopts o:fqh option; do
    case $option in
      o) output=$OPTARG ;;
      f) force=yes ;;
      q) quiet=yes ;;
      h)
        usage
        exit 0
        ;;
      *)
        usage >&2
        exit 64
        ;;
    esac
  done
  shift "$((OPTIND - 1))"
  if [ "$#" -gt 0 ] || [ -z "$output" ]; then
    usage >&2
    exit 64
  fi
  case $output in
    /*) ;;
    *) output=$(pwd -P)/$output ;;
  esac
  while :; do case $output in ?*/) output=${output%/} ;; *) break ;; esac; done
  case $output in *"$newline"*) die 'a line break in the name of the directory is not supported' ;; esac
  kit=$(cd "$(dirname "$0")" && pwd -P)

  trap leave EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  check_kit
  check_architecture
  find_perf
  make_work
  check_permission
  check_witness

  if [ -n "$force" ] || is_begun "$output" || { [ ! -e "$output" ] && [ ! -L "$output" ]; }; then
    begin
  else
    resume
  fi
  keep_machine
  cd "$directory"
  session="${session}started=$(now)${newline}perf=$perf${newline}perf_version=$perf_version${newline}cpu=$cpu"
  [ -z "${witness_note:-}" ] || session="$session${newline}note=$witness_note"
  put "$directory/session" "$session"

  count
  doing=record_one
  measurements

  if [ "$kept" -eq 0 ]; then
    [ -z "$no_permission" ] || first_reason="$first_reason; $(permission_remedy)"
    [ "$died" -eq 0 ] || die "nothing was recorded: $first_reason"
    die "nothing was recorded: this machine refused every measurement; of the first perf said: $first_reason"
  fi
  [ "$died" -eq 0 ] || die "$died of $total measurements came to no end; $(what_is_kept)"
  summary="$kept measurements"
  [ "$refused" -eq 0 ] || summary="$summary, $refused refused by this machine"
  if [ -z "$quiet" ]; then
    base=$(quoted "${directory##*/}")
    echo "$directory: $summary"
    echo "bring it back with: tar -C $(quoted "${directory%/*}/") -cf $base.tar $base"
    echo "read it with: skidscan report $base"
  fi
}

@THE KIT@
main "$@"
