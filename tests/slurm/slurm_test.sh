#!/bin/sh
# The kit for Slurm on a real Slurm of two nodes, one of which has a broken perf at first.
# usage: slurm_test.sh SKIDSCAN FETCH WORK
#   SKIDSCAN  the program; FETCH  scripts/fetch-debian-packages.sh; WORK  a directory for all of it
# Logs and results stay in WORK when something fails.
# exit status: 0 all checks passed, 1 one failed, 77 not testable here
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
skidscan=$1 fetch=$2 work=$3
mkdir -p "$work"
work=$(cd "$work" && pwd)

skip() { echo "skipped: $1"; exit 77; }
# Dependencies that every Debian has.
unneeded=''
for package in adduser coreutils debconf libc6 libgcc-s1 libstdc++6 lsb-base passwd perl-base ucf; do
  unneeded="$unneeded --without $package"
done
status=0
# shellcheck disable=SC2086 # one word each
"$fetch" --arch "$(dpkg --print-architecture)" --into "$work/slurm" $unneeded \
  slurmctld slurmd slurm-client munge || status=$?
[ "$status" -ne 69 ] || skip "Debian's packages of Slurm cannot be fetched"
[ "$status" -eq 0 ] || exit 1

short=''
case $work in
  *[[:space:]]*) # slurm.conf cannot name such a path
    short=$(mktemp -d)
    ln -s "$work" "$short/work"
    work=$short/work
    ;;
esac
rm -rf "$work/test"
mkdir -p "$work/test/bin"
cd "$work/test"

# shellcheck source=tests/slurm/cluster.sh
. "$here/cluster.sh"
failed=no
finish() {
  status=$?
  trap - EXIT INT TERM
  cluster_stop
  if [ "$status" -ne 0 ]; then
    echo "files are in $(cd "$work/test" && pwd -P); the last messages of Slurm:"
    tail -n 5 "$work"/test/cluster/*.out "$work"/test/kit/results/*.log 2>/dev/null || true
  fi
  [ -z "$short" ] || rm -rf "$short"
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cluster_start "$work/slurm/contents" "$work/test/cluster" n1=alpha n2=beta

check() { # expectation, command
  what=$1
  shift
  if "$@" >/dev/null 2>&1; then
    echo "ok: $what"
  else
    echo "FAILED: $what"
    failed=yes
  fi
}
has() { grep -q -e "$2" "$1"; } # file, pattern
fails_with() { # status, command
  expected=$1 status=0
  shift
  "$@" || status=$?
  [ "$status" -eq "$expected" ]
}
is_queue_empty() { [ -z "$(squeue -h)" ]; }
submit() { kit/submit.sh "$@" >submit.log 2>&1; }

# A perf that is broken on n2 while the file "broken" exists.
perf=$(command -v perf)
cat >bin/perf <<PERF
#!/bin/sh
[ "\${SLURMD_NODENAME:-}" != n2 ] || [ ! -e '$work/test/broken' ] || exit 1
exec '$perf' "\$@"
PERF
chmod +x bin/perf
PATH=$work/test/bin:$PATH
: >broken

"$skidscan" kit --slurm -e faults -p none --samples 100 -o kit/
check 'the README mentions submit.sh' has kit/README.txt submit.sh
check 'submit.sh without nodes is a usage error' fails_with 64 submit
check 'submit.sh prints its usage' has submit.log '^usage: submit.sh --nodes LIST'

submit --nodes 'n[1-2]'
check 'both nodes are submitted' has submit.log 'n2: Submitted batch job'
cluster_wait 60 'both jobs' is_queue_empty
check 'n1 has a run' test -s kit/results/n1.run/session
check 'n2 has no run' test ! -e kit/results/n2.run
check 'the log of n2 has the reason' has kit/results/n2.log 'perf --version printed no version'

rm broken
submit --nodes 'n[1-2]'
check 'recorded nodes are not submitted again' has submit.log '^n1: recorded already'
check 'feature jobs wait in the queue' submit --features alpha --hold
check 'queued jobs are not submitted again' submit --features alpha,beta
check 'the queued job is named' has submit.log '^alpha: is in the queue already'
scancel --name skidscan-alpha
cluster_wait 60 'the second jobs' is_queue_empty
for run in n2 beta; do check "$run has a run" test -s "kit/results/$run.run/session"; done
check 'no partial run is left' sh -c '! ls -d kit/results/*.partial'
check 'an unknown node is an error' fails_with 1 submit --nodes n9
check 'the runs can be compared' "$skidscan" compare kit/results/n1.run kit/results/n2.run

[ "$failed" = no ] || exit 1
