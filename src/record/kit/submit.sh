#!/bin/sh
# Records this kit on many machines: submits one Slurm job for each node or feature without a run.
# usage: submit.sh --nodes LIST | --features LIST [OPTION OF SBATCH]...
#   --nodes LIST     a run on each of these nodes, in Slurm's notation: node[1-16],login1
#   --features LIST  a run on one node of each of these features (sbatch --constraint): skylake,genoa
# Other options are passed to sbatch: -p short --time=30 (default: an hour). All nodes must see this
# directory under the same path. results/NAME.run is a complete run, results/NAME.log the output of
# its job. The same command again submits what is missing. When all jobs have ended:
#   skidscan compare results/*.run
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --exclusive
#SBATCH --no-requeue
#SBATCH --time=60
set -eu
export LC_ALL=C

if [ "${1-}" = --record ]; then # on the node: KIT RESULT
  partial=$3@${SLURMD_NODENAME:-$(uname -n)}.partial
  if [ -e "$3.run" ]; then
    echo "$3.run: recorded by another job"
    exit
  fi
  rm -rf "$partial/lock" # of a job that was killed; only one job at a time records this run
  sh "$2/run.sh" -o "$partial"
  mv -T "$partial" "$3.run" || { # -T: not into the run of another job
    echo "$3.run: recorded by another job in the meantime; this run is $partial" >&2
    exit 1
  }
  exit
fi

usage() { sed -n '2,/^#SBATCH/s/^# \{0,1\}//p' "$0"; }
case ${1-}=${2-} in
  --nodes=?* | --features=?*) ;;
  -h= | --help=) usage; exit 0 ;;
  *) usage >&2; exit 64 ;;
esac
if [ "$1" = --nodes ]; then
  option=--nodelist names=$(scontrol show hostnames "$2")
else
  option=--constraint names=$(printf '%s' "$2" | tr ',' '\n')
fi
shift 2
kit=$(cd "$(dirname "$0")" && pwd -P)
mkdir -p "$kit/results"
status=0
set -f
for name in $names; do
  # A constraint can contain characters that a file name cannot; a&b and a|b are two results.
  result=$kit/results/$(printf '%s' "$name" | tr '|' ',' | tr -c 'A-Za-z0-9_.,-' '+')
  if [ -e "$result.run" ]; then
    echo "$name: recorded already"
  elif squeue -h -o %k | grep -qxF "$result"; then
    echo "$name: is in the queue already"
  else
    printf '%s: ' "$name"
    sbatch --job-name="skidscan-$name" --comment="$result" "$option=$name" --open-mode=append \
      --output="$(printf '%s' "$result.log" | sed 's/%/%%/g')" "$@" \
      "$kit/submit.sh" --record "$kit" "$result" || status=1
  fi
done
exit "$status"
