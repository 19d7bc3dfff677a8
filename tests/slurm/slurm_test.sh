#!/bin/sh
# The job script on a real Slurm of four nodes, one of which has a broken perf at first.
# usage: slurm_test.sh SKIDSCAN SCRIPT FETCH WORK
#   SKIDSCAN  the program; SCRIPT  slurm/record.sbatch; FETCH  scripts/fetch-debian-packages.sh
#   WORK      a directory for all of it
# Logs and results stay in WORK when something fails.
# exit status: 0 all checks passed, 1 one failed, 77 not testable here
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
skidscan=$1 script=$2 fetch=$3 work=$4
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
    tail -n 5 "$work"/test/cluster/*.out "$work"/test/results/*.log 2>/dev/null || true
  fi
  [ -z "$short" ] || rm -rf "$short"
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cluster_start "$work/slurm/contents" "$work/test/cluster" n1 n2 n3 n4

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

# As in an archive: the script finds the program by its own place.
mkdir -p archive/bin archive/share/skidscan/slurm results
ln -s "$skidscan" archive/bin/skidscan
cp "$script" archive/share/skidscan/slurm
script=$work/test/archive/share/skidscan/slurm/record.sbatch
check 'without Slurm the script prints its usage' fails_with 64 "$script"

cd results
# Events that need no PMU and no breakpoints.
submit() { sbatch "$@" "$script" -e faults,cpu-clock -p none --samples 100; }
check 'an array is submitted' submit --array=1-4
cluster_wait 120 'the first jobs' is_queue_empty
for node in n1 n3 n4; do check "$node has a run" test -s $node.tar; done
check 'n2 has no run' test ! -e n2.tar
check 'the log of n2 has the reason' has n2.log 'perf: does not run: exit status 1'

rm ../broken
check 'the node that failed is submitted again' submit --nodelist=n2
check 'a recorded node is submitted again' submit --nodelist=n1
cluster_wait 60 'the second jobs' is_queue_empty
check 'n2 has a run' test -s n2.tar
check 'a recorded node is not recorded again' has n1.log '^n1.tar: recorded already'

# A job that is cancelled leaves its run, which the next one on that node finishes.
rm n3.tar
sbatch --nodelist=n3 "$script" -e faults -p none,pp --duration 5
cluster_wait 60 'a recording' ls n3.run/faults.none.data
scancel --name skidscan
cluster_wait 60 'the cancelled job' is_queue_empty
check 'the log says what is kept' has n3.log '1 of 2 measurements kept'
check 'the node is submitted again' submit --nodelist=n3
cluster_wait 60 'the last job' is_queue_empty
check 'no directory is left' sh -c '! ls -d ./*.run'
hits=$("$skidscan" compare n1.tar n2.tar n3.tar n4.tar --format json | python3 -c 'import json, sys
for row in json.load(sys.stdin)["rows"]:
    if (row["event"], row["level"]) == ("faults", 0): print(*(cell["hit_ratio"]["value"] > 0.9 for cell in row["cells"]))')
check "all runs are compared: faults at the trigger: $hits" [ "$hits" = 'True True True True' ]
check 'all runs can be reported' "$skidscan" report n1.tar n2.tar n3.tar n4.tar
check 'all runs can be merged' "$skidscan" merge n1.tar n2.tar n4.tar -o all.json

[ "$failed" = no ] || exit 1
