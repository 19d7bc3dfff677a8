#!/bin/sh
# Has Slurm record this kit on many machines: one run for each node or feature, and one comparison.
# What is recorded already stays as it is, so that the same command again submits what is missing.
# usage: submit.sh --nodes LIST | --features LIST [--results DIR] [--skidscan PROGRAM]
#                  [--baseline NAME] [--dry-run] [OPTION OF SBATCH]...
#   --nodes LIST        a run on each of these nodes, as Slurm writes lists: node[1-16],login1
#   --features LIST     a run on one node of each of these features (as sbatch's --constraint), by
#                       commas: skylake,genoa
#   --results DIR       where runs, reports and what failed go (default: results, in the kit)
#   --skidscan PROGRAM  reports and compares, on a node (default: skidscan as PATH has it)
#   --baseline NAME     the node or feature that the others are held against (default: the first)
#   --dry-run           say what would be submitted
# All other options are given to sbatch, for the array and for the job that reports: -p, -A, --time=30.
# The kit and the results have to be where all nodes see them under the same path.
# exit status: 0 submitted, or nothing was missing; 1 failed; 64 wrong usage
set -eu
export LC_ALL=C

usage() {
  sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '/^set/d'
}
say() { printf 'submit.sh: %s\n' "$1" >&2; }
fail() { # message, status
  say "$1"
  exit "${2:-1}"
}
# Options of sbatch that would put several nodes into one task, or an array where there is one.
refuse() { fail "$1 is not for this script: $2" 64; }

by='' list='' results='' skidscan='' baseline='' dry=no
left=$#
while [ "$left" -gt 0 ]; do
  argument=$1
  shift
  left=$((left - 1))
  case "$argument" in
    --nodes | --features | --results | --skidscan | --baseline)
      [ "$left" -gt 0 ] || fail "$argument: names nothing" 64
      value=$1
      shift
      left=$((left - 1))
      ;;
    --nodes=* | --features=* | --results=* | --skidscan=* | --baseline=*)
      value=${argument#*=}
      argument=${argument%%=*}
      ;;
    --dry-run) dry=yes; continue ;;
    -h | --help) usage; exit 0 ;;
    -a | -a* | --array | --array=*) refuse "$argument" 'the array has a task for each node or feature' ;;
    -N | -N* | -w | -w* | --nodelist | --nodelist=*) refuse "$argument" 'name nodes with --nodes' ;;
    -C | -C* | --constraint | --constraint=*) refuse "$argument" 'name features with --features' ;;
    *) set -- "$@" "$argument"; continue ;;
  esac
  case "$argument" in
    --nodes | --features)
      [ -z "$by" ] || fail 'one of --nodes and --features, once' 64
      by=${argument#--}
      list=$value
      ;;
    --results) results=$value ;;
    --skidscan) skidscan=$value ;;
    --baseline) baseline=$value ;;
  esac
done
for program in sbatch scontrol squeue sinfo scancel; do
  command -v "$program" >/dev/null || fail "$program is not in PATH: this has to be done where Slurm is"
done
if [ -z "$list" ]; then
  say 'name --nodes LIST or --features LIST; Slurm has (node, state, features):'
  sinfo -h -N -o '  %N  %T  %f' >&2 || true
  exit 64
fi

kit=$(cd "$(dirname "$0")" && pwd)
[ -f "$kit/run.sh" ] || fail "$kit: has no run.sh, it is no kit of skidscan"
results=${results:-$kit/results}
if [ -z "$skidscan" ]; then
  skidscan=$(command -v skidscan) ||
    fail 'skidscan is not in PATH; it reports what was recorded: --skidscan PROGRAM'
fi
case "$skidscan" in
  /*) ;;
  */*) skidscan=$(cd "$(dirname "$skidscan")" && pwd)/$(basename "$skidscan") ;;
  *) skidscan=$(command -v "$skidscan") || fail "$skidscan: not in PATH" ;;
esac
[ -x "$skidscan" ] || fail "$skidscan: no program that could be run"

# A line for each task: the name of its files, a tab, the node or feature.
tasks() {
  if [ "$by" = nodes ]; then
    scontrol show hostnames "$list" | while IFS= read -r node; do printf '%s\t%s\n' "$node" "$node"; done
  else
    printf '%s\n' "$list" | tr ',' '\n' | while IFS= read -r feature; do
      [ -z "$feature" ] || printf '%s\t%s\n' "$(printf '%s' "$feature" | tr '&|' '++')" "$feature"
    done
  fi
}
all=$(tasks)
[ -n "$all" ] || fail "--$by: '$list' names nothing" 64
odd=$(printf '%s\n' "$all" | cut -f 1 | grep -v '^[A-Za-z0-9_][A-Za-z0-9._+-]*$' | head -n 1) || true
[ -z "$odd" ] || fail "--$by: found '$odd', allowed are letters, digits and . _ + -" 64
twice=$(printf '%s\n' "$all" | cut -f 1 | sort | uniq -d | head -n 1)
[ -z "$twice" ] || fail "--$by: '$twice' is named twice" 64
if [ -n "$baseline" ] && ! printf '%s\n' "$all" | cut -f 1 | grep -qxF -e "$baseline"; then
  fail "--baseline: '$baseline' is none of the $by" 64
fi

work=$(mktemp -d) || fail 'no temporary directory can be made'
arrays=''
clean_up() {
  rm -rf "$work"
  # Held and not yet what they are to be: nobody else would remove them.
  [ -z "${held:-}" ] || scancel "$held" || true
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [ "$dry" = no ]; then
  mkdir -p "$results/jobs" || fail "$results: cannot be made"
  results=$(cd "$results" && pwd)
fi

# What an earlier call submitted and has not ended yet. Slurm forgets jobs that ended.
: >"$work/queued"
for file in "$results"/jobs/*.tasks; do
  [ -e "$file" ] || continue
  id=$(basename "$file" .tasks)
  squeue -h -r -j "$id" -o '%K' >"$work/indices" 2>/dev/null || continue
  [ ! -s "$work/indices" ] || arrays="$arrays:$id"
  while IFS= read -r index; do
    sed -n "$((index + 1))p" "$file" | cut -f 1
  done <"$work/indices" >>"$work/queued"
done

: >"$work/missing"
printf '%s\n' "$all" >"$work/all"
while IFS='	' read -r name what; do
  if [ -e "$results/$name.run" ]; then
    say "$name: recorded already"
  elif grep -qxF -e "$name" "$work/queued"; then
    say "$name: is in the queue already"
  else
    # A task for a node that is down would wait, and the comparison with it.
    state=''
    [ "$by" = features ] || state=$(sinfo -h -N -n "$what" -o '%T' | head -n 1)
    case "$by $state" in
      'nodes ') why='Slurm has no such node' ;;
      nodes\ down* | nodes\ drain* | nodes\ fail* | *'*') why="the node is $state, says sinfo" ;;
      *) why='' ;;
    esac
    if [ -z "$why" ]; then
      printf '%s\t%s\n' "$name" "$what" >>"$work/missing"
    else
      say "$name: not submitted: $why"
      [ "$dry" = yes ] || printf '%s: not submitted: %s\n' "$name" "$why" >"$results/$name.failed"
      [ "$dry" = yes ] || printf '%s\t%s\n' "$name" "$what" >>"$work/down"
    fi
  fi
done <"$work/all"
if [ "$dry" = yes ]; then
  cut -f 1 "$work/missing"
  exit 0
fi
# So that the job that reports knows of all that were asked for.
cut -f 1 "$work/all" | cat - "$results/jobs/names" 2>/dev/null | sort -u >"$work/names"
mv "$work/names" "$results/jobs/names"

# Tasks of an array have the same options; what each is for is told to Slurm while they are held.
submit() { # file of tasks, options of sbatch
  chunk=$1
  shift
  count=$(wc -l <"$chunk")
  held=$(sbatch --parsable --hold --array="0-$((count - 1))" \
    --output="$(printf '%s' "$results/jobs/%A_%a.out" | escape_percent)" "$@" \
    "$kit/record.sbatch" "$kit" "$results") || exit 1
  held=${held%%;*} # of a federation: ID;CLUSTER
  cp "$chunk" "$results/jobs/$held.tasks"
  index=0
  while IFS='	' read -r name what; do
    task=${held}_$index
    index=$((index + 1))
    if [ "$by" = nodes ]; then
      set -- "ReqNodeList=$what"
    else
      set -- "Features=$what"
    fi
    if ! said=$(scontrol update "JobId=$task" "$@" 2>&1 </dev/null); then
      said=$(printf '%s' "$said" | tr '\n' ' ')
      say "$name: not submitted: $said"
      printf '%s: not submitted: %s\n' "$name" "$said" >"$results/$name.failed"
      scancel "$task" </dev/null || true
    fi
  done <"$chunk"
  scontrol release "$held" || exit 1
  arrays="$arrays:$held"
  say "array $held: $count submitted"
  held=''
}
# Only the part that is ours: %A and %a are Slurm's.
escape_percent() { sed 's/%/%%/g; s/%%A_%%a\.out$/%A_%a.out/'; }

largest=$(scontrol show config | sed -n 's/^MaxArraySize *= *\([0-9]*\).*/\1/p')
largest=${largest:-1001}
if [ -s "$work/missing" ]; then
  split -l "$((largest > 1 ? largest - 1 : 1))" "$work/missing" "$work/chunk."
  for chunk in "$work"/chunk.*; do submit "$chunk" "$@"; done
else
  say 'nothing to record'
fi
[ -z "$arrays" ] || set -- "--dependency=afterany$arrays" "$@"
id=$(sbatch --parsable --output="$(printf '%s' "$results/jobs/reduce.out" | sed 's/%/%%/g')" "$@" \
  "$kit/reduce.sbatch" "$results" "$skidscan" "$baseline") || exit 1
say "job ${id%%;*}: reports and compares when all have ended; see $results/summary.txt then"
