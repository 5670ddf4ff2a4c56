# A workload that becomes inactive is evicted. Kueue may just have admitted another one
# when the quota became 0, so every round evicts.
trap reactivate EXIT
failures=0
evicted=
tries=240
while true; do
  if left=$(running); then
    failures=0
  else
    failures=$((failures + 1))
    if ((failures == 5)); then
      exit 1
    fi
    left=unknown
  fi
  tries=$((tries - 1))
  if [[ -z $left ]] || ((tries == 0 || SECONDS > 2400)); then # a pod may take 1800 seconds to stop
    break
  fi
  new=$(awk 'NR == FNR { evicted[$0]; next } $1 != "queue" && NF == 2 && !($0 in evicted)' \
    <(printf '%s\n' "$evicted") - <<<"$left")
  if [[ -n $new ]]; then
    printf 'The capacities of these jobs are gone or get other nodes. The jobs are stopped, and wait in their queues:\n%s\n' "$new"
    change '{"metadata":{"labels":{"batchwright-evicted":"true"}},"spec":{"active":false}}' <<<"$new"
    evicted+=$'\n'$new
  fi
  sleep 10
done
