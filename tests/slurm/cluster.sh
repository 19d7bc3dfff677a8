# A Slurm on loopback: munged, slurmctld and a slurmd for each node, from extracted packages.
# To be sourced. Nothing is installed or listens elsewhere, all files are in one directory, and every
# process is ended by its id.
# cluster_start ROOT DIR NODE...   ROOT: the extracted packages; exports the environment of Slurm's programs
# cluster_stop

cluster_fail() {
  echo "cluster: $1" >&2
  return 1
}

# Ports that are free now; the daemons cannot inherit sockets.
cluster_ports() { # how many
  python3 - "$1" <<'PYTHON'
import socket, sys
sockets = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in sockets:
    s.bind(("127.0.0.1", 0))
print(" ".join(str(s.getsockname()[1]) for s in sockets))
PYTHON
}

# Waits until a command succeeds.
cluster_wait() { # seconds, what for, command
  cluster_limit=$(($1 * 5))
  cluster_for=$2
  shift 2
  while ! "$@" >/dev/null 2>&1; do
    cluster_limit=$((cluster_limit - 1))
    [ "$cluster_limit" -gt 0 ] || cluster_fail "timeout while waiting for $cluster_for" || return 1
    sleep 0.2
  done
}

cluster_start() {
  cluster_root=$1 cluster_directory=$2
  shift 2
  cluster_libraries=$cluster_root/usr/lib/$(uname -m)-linux-gnu
  mkdir -p "$cluster_directory/munge" "$cluster_directory/state"
  chmod 700 "$cluster_directory/munge"
  (umask 077 && head -c 128 /dev/urandom >"$cluster_directory/munge/key")
  export SLURM_CONF="$cluster_directory/slurm.conf"
  export LD_LIBRARY_PATH="$cluster_libraries:$cluster_libraries/slurm-wlm"
  export PATH="$cluster_root/usr/bin:$PATH"
  user=$(id -un)
  ports=$(cluster_ports $(($# + 1)))
  cat >"$SLURM_CONF" <<CONF
ClusterName=skidscan
SlurmctldHost=$(uname -n)(127.0.0.1)
SlurmctldPort=${ports%% *}
SlurmctldPidFile=$cluster_directory/slurmctld.pid
SlurmctldLogFile=$cluster_directory/slurmctld.log
StateSaveLocation=$cluster_directory/state
SlurmUser=$user
SlurmdUser=$user
SlurmdPidFile=$cluster_directory/%n.pid
SlurmdLogFile=$cluster_directory/%n.log
SlurmdSpoolDir=$cluster_directory/spool.%n
PluginDir=$cluster_libraries/slurm-wlm
AuthType=auth/munge
AuthInfo=socket=$cluster_directory/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SlurmdTimeout=5
KillWait=2
SlurmdParameters=config_overrides
CONF
  for node; do
    ports=${ports#* }
    echo "NodeName=$node NodeHostname=$(uname -n) NodeAddr=127.0.0.1 Port=${ports%% *} CPUs=1"
  done >>"$SLURM_CONF"
  echo 'PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP' >>"$SLURM_CONF"

  munge=$cluster_directory/munge
  "$cluster_root/usr/sbin/munged" --force --foreground --key-file="$munge/key" \
    --socket="$munge/socket" --pid-file="$munge/pid" --log-file="$munge/log" \
    --seed-file="$munge/seed" >"$munge/out" 2>&1 &
  echo $! >"$cluster_directory/munged.id"
  cluster_wait 20 munged test -S "$munge/socket" || return 1
  "$cluster_root/usr/sbin/slurmctld-wlm" -D -f "$SLURM_CONF" >"$cluster_directory/slurmctld.out" 2>&1 &
  echo $! >"$cluster_directory/slurmctld.id"
  cluster_wait 20 slurmctld scontrol ping || return 1
  for node; do
    "$cluster_root/usr/sbin/slurmd-wlm" -D -N "$node" -f "$SLURM_CONF" \
      -d "$cluster_root/usr/sbin/slurmstepd-wlm" >>"$cluster_directory/$node.out" 2>&1 &
    echo $! >"$cluster_directory/$node.id"
  done
  for node; do cluster_wait 30 "node $node" cluster_is_idle "$node" || return 1; done
}

cluster_is_idle() { [ "$(sinfo -h -N -n "$1" -o %T)" = idle ]; }

cluster_stop() {
  [ -n "${cluster_directory:-}" ] || return 0
  squeue -h -o %A 2>/dev/null | while read -r job; do scancel -f "$job" 2>/dev/null || true; done
  for file in "$cluster_directory"/n*.id "$cluster_directory/slurmctld.id" \
    "$cluster_directory/munged.id"; do
    [ -e "$file" ] || continue
    process=$(cat "$file")
    rm -f "$file"
    kill "$process" 2>/dev/null || continue
    limit=50
    while kill -0 "$process" 2>/dev/null && [ "$limit" -gt 0 ]; do
      sleep 0.1
      limit=$((limit - 1))
    done
    kill -KILL "$process" 2>/dev/null || true
  done
}
