#!/bin/sh
# slurm.sh FOLDER COMMAND: runs a command beside a Slurm of one node, which
# lives in FOLDER as long as it does. Ends with 77 where it cannot be started.
set -u
folder=$1
shift
cannot() { echo "slurm.sh: $*" >&2; exit 77; }
for tool in munged slurmctld slurmd sbatch; do
  command -v $tool >/dev/null || cannot "no $tool: apt-get install slurm-wlm"
done
[ "$(id -u)" = 0 ] || cannot "not root"
mkdir -p "$folder/state" "$folder/spool"
host=$(hostname -s)
dd if=/dev/urandom of="$folder/key" bs=128 count=1 2>/dev/null
chmod 400 "$folder/key"
cat >"$folder/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
SlurmctldPort=36817
SlurmdPort=36818
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MpiDefault=none
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=test Nodes=$host Default=YES State=UP
END
export SLURM_CONF="$folder/slurm.conf"
stop() {
  for name in slurmd slurmctld munged; do
    [ ! -s "$folder/$name.pid" ] || kill "$(cat "$folder/$name.pid")"
  done
}
start() {
  "$@" 2>"$folder/said" || cannot "$1: $(cat "$folder/said")"
}
trap stop EXIT
start munged --force --key-file="$folder/key" --seed-file="$folder/seed" \
  --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" \
  --log-file="$folder/munged.log"
start slurmctld -c
start slurmd -N "$host"
tries=0
until sinfo -h -o %t 2>/dev/null | grep -q idle; do
  tries=$((tries + 1))
  [ $tries -lt 100 ] || cannot "no idle node, see $folder/slurmctld.log"
  sleep 0.2
done
"$@"
