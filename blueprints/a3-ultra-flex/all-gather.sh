# Measures NCCL's all-gather over all GPUs of the pods. Each pod first checks its
# GPUs. The first pod runs the measurement when it reaches all pods over SSH. The
# other pods serve it until it has ended.
set -euo pipefail

# A broken GPU would slow down or stop the measurement on all nodes. Google's Cluster
# Toolkit checks the same in its example for A3 Ultra: all GPUs are there, and none
# has memory errors that ECC could not correct since the driver was loaded.
gpus=8
/usr/local/nvidia/bin/nvidia-smi --query-gpu=index,ecc.errors.uncorrected.volatile.total --format=csv,noheader,nounits |
  awk -F ', *' -v want="$gpus" '
    $2 != "0" { print "GPU " $1 " has uncorrected memory errors: " $2; bad = 1 }
    END {
      if (NR != want) { print NR " GPUs are there, not " want; bad = 1 }
      if (!bad) print "GPU check passed: " NR " GPUs without uncorrected memory errors"
      exit bad
    }'

port=222
ssh_options="-q -p $port -o StrictHostKeyChecking=no -o ConnectTimeout=5"
/sbin/ldconfig
/scripts/container_entry.sh daemon &

# The names of the pods differ only in their number. MASTER_ADDR is the name of pod 0.
name_of() { echo "${MASTER_ADDR/-0./-$1.}"; }

if [ "$JOB_COMPLETION_INDEX" -ne 0 ]; then
  until ssh $ssh_options "$MASTER_ADDR" true; do sleep 5; done
  while ssh $ssh_options "$MASTER_ADDR" true; do sleep 5; done
  exit
fi

for index in $(seq 0 $((NNODES - 1))); do
  host=$(name_of "$index")
  until ssh $ssh_options "$host" true; do sleep 5; done
  echo "$host slots=$gpus" >>/tmp/hosts
done

# The script of gIB may contain commands that fail, so errors must not end it.
set +eu
. /usr/local/gib/scripts/set_nccl_env.sh
set -eu
export NCCL_NET=gIB NCCL_TESTS_SPLIT_MASK=0x0
passed=""
for variable in ${!NCCL_*} LD_LIBRARY_PATH PATH; do passed="$passed -x $variable"; done
mpirun --hostfile /tmp/hosts $passed \
  --bind-to none --mca orte_keep_fqdn_hostnames 1 --mca plm_rsh_no_tree_spawn 1 \
  --mca plm_rsh_agent "ssh $ssh_options" --mca btl self,tcp --mca btl_tcp_if_include eth0 \
  /third_party/nccl-tests/build/all_gather_perf -b 1K -e 8G -f 2 -g 1 -w 5 --iters 100 -c 1 |
  tee /tmp/result

# The columns of NCCL's table: size, count, type, redop, root; then time, algbw, busbw
# and #wrong, first out of place and then in place.
awk '$1 == 8589934592 && $8 > 0 {
    print "Bus bandwidth for 8 GiB: " $8 " GB/s out of place, " $12 " GB/s in place"; found = 1
  }
  END { if (!found) { print "The table has no line for 8 GiB"; exit 1 } }' /tmp/result
