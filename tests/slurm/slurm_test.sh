#!/bin/sh
# The kit for Slurm on a real Slurm of three nodes: one of them dies while it records.
# usage: slurm_test.sh SKIDSCAN FETCH WORK
#   SKIDSCAN  the program; FETCH  scripts/fetch-debian-packages.sh; WORK  a directory for all of it
# Logs and results stay in WORK when something fails.
# exit status: 0 all held, 1 something did not, 77 cannot be tested here
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
skidscan=$1 fetch=$2 work=$3
mkdir -p "$work"
work=$(cd "$work" && pwd)

skip() { echo "skipped: $1"; exit 77; }
# What is needed, and what some of it would bring that every Debian has.
unneeded=''
for package in adduser coreutils debconf libc6 libgcc-s1 libstdc++6 lsb-base passwd perl-base ucf; do
  unneeded="$unneeded --without $package"
done
for program in perf python3; do
  command -v "$program" >/dev/null || skip "$program is not in PATH"
done
status=0
# shellcheck disable=SC2086 # one word each
"$fetch" --arch "$(dpkg --print-architecture)" --into "$work/slurm" $unneeded \
  slurmctld slurmd slurm-client munge || status=$?
[ "$status" -ne 69 ] || skip "Debian's packages of Slurm cannot be fetched"
[ "$status" -eq 0 ] || exit 1

rm -rf "$work/test"
mkdir -p "$work/test/bin" "$work/test/results"
cd "$work/test"
"$skidscan" record -e access -p none --samples 100 -o probe.run >probe.log 2>&1 ||
  skip "nothing can be recorded here: $(tail -n 1 probe.log)"

# shellcheck source=tests/slurm/cluster.sh
. "$here/cluster.sh"
failed=no
finish() {
  status=$?
  trap - EXIT INT TERM
  cluster_stop
  if [ "$status" -ne 0 ]; then
    echo "what was left is in $work/test; the last words of Slurm:"
    tail -n 5 "$work"/test/cluster/*.out "$work"/test/results/*.log 2>/dev/null || true
  fi
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cluster_start "$work/slurm/root" "$work/test/cluster" n1=alpha n2=beta n3=beta

check() { # what should hold, command
  what=$1
  shift
  if "$@" >/dev/null 2>&1; then
    echo "ok: $what"
  else
    echo "FAILED: $what"
    failed=yes
  fi
}
absent() { [ ! -e "$1" ]; }
says() { grep -q -e "$2" "$1"; } # file, pattern
reduced() { [ -s "$1/summary.txt" ] && ! squeue -h -o %j | grep -q skidscan; }

# A perf that waits at the second recording on n2, so that the node dies in the middle.
perf=$(command -v perf)
cat >bin/perf <<PERF
#!/bin/sh
if [ "\${SLURMD_NODENAME:-}" = n2 ] && [ -e '$work/test/hang' ] && [ "\$1" = record ] &&
  ls '$work/test/results/n2@n2.partial/'*.data >/dev/null 2>&1; then
  : >'$work/test/reached'
  exec sleep 600
fi
exec '$perf' "\$@"
PERF
chmod +x bin/perf
PATH=$work/test/bin:$PATH
: >hang

"$skidscan" kit --slurm -e access -p none,pp --samples 200 -o kit/
for file in run.sh submit.sh record.sbatch reduce.sbatch README.txt; do
  check "the kit has $file" test -s "kit/$file"
done
if command -v shellcheck >/dev/null; then
  check 'shellcheck finds nothing' shellcheck -s sh kit/submit.sh kit/record.sbatch kit/reduce.sbatch
fi

submit() { kit/submit.sh --skidscan "$skidscan" "$@" >submit.log 2>&1; }

status=0
submit || status=$?
check 'without nodes it submits nothing and says which there are' test "$status" -eq 64
check 'the nodes are said' says submit.log 'n3 .*beta'
status=0
submit --nodes 'n[1-3]' -w n1 || status=$?
check 'nodes of sbatch are refused' test "$status" -eq 64
submit --nodes 'n[1-3]' --results results --dry-run
check 'a dry run names the nodes' test "$(cat submit.log)" = 'n1
n2
n3'

submit --nodes 'n[1-3]' --results results
check 'three are submitted' says submit.log '3 submitted'
submit --nodes 'n[1-3]' --results results --dry-run
check 'what is in the queue or recorded is not submitted twice' sh -c '! grep -qx n2 submit.log'
cluster_wait 60 'the second recording on n2' test -e reached
before=$(cd results/n2@n2.partial && cksum ./*.data)
cluster_kill_node n2
cluster_wait 90 'the report' reduced results
cat results/summary.txt
check 'two of three are reported' says results/summary.txt '^2 of 3 reported'
check 'the node that died is named' says results/summary.txt '^n2: failed: .*NODE_FAIL'
check 'its failure is noted' test -s results/n2.failed
check 'it has no run' absent results/n2.run
check 'it has no report' absent results/n2.json
for node in n1 n3; do
  check "$node has a run" test -s "results/$node.run/plan.json"
  check "$node has a report of both levels" \
    test "$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["measurements"]))' \
      "results/$node.json")" = 2
done
check 'they are compared' says results/compare.txt 'n3.json'
check 'also as JSON' says results/compare.json '"skidscan.compare/1"'

rm -f hang results/summary.txt
status=0
submit --nodes n2 --results results || status=$?
check 'a node that is down is not waited for' says submit.log 'n2: not submitted: the node is down'
cluster_wait 60 'the report' reduced results
check 'and is still named' says results/summary.txt '^n2: failed: .*down'

cluster_start_node n2
rm -f results/summary.txt
submit --nodes 'n[1-3]' --results results
check 'only what is missing is submitted' says submit.log '1 submitted'
check 'the others are said to be there' says submit.log 'n3: recorded already'
cluster_wait 60 'the report' reduced results
cat results/summary.txt
check 'all are reported' says results/summary.txt '^3 of 3 reported'
check 'no failure is left' absent results/n2.failed
check 'what the node had recorded before it died was kept' \
  test "$(cd results/n2.run && printf '%s\n' "$before" | while read -r _ _ file; do cksum "$file"; done)" = "$before"
check 'nothing partial is left' sh -c '! ls results | grep -q partial'
check 'all are compared' says results/compare.txt 'n2.json'

submit --features alpha,beta --results by-feature -p all
cluster_wait 60 'the report' reduced by-feature
check 'features are recorded' says by-feature/summary.txt '^2 of 2 reported'
check 'a feature is recorded on a node that has it' sh -c 'grep -q "^alpha: recorded on n1," by-feature/jobs/*.out'

# No perf on a node: what run.sh says of it is the reason.
(PERF=$work/test/none && export PERF && submit --nodes n1,n9 --results without)
check 'a node that is not there is said' says submit.log 'n9: not submitted: .*no such node'
cluster_wait 60 'the report' reduced without
cat without/summary.txt
check 'nothing is reported' says without/summary.txt '^0 of 2 reported'
check 'the reason is that of run.sh' says without/summary.txt '^n1: failed: .*status 1: .*not found'
check 'no run is left' absent without/n1.run

[ "$failed" = no ] || exit 1
