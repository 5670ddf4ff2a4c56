# A workload that becomes inactive is evicted. Kueue may just have admitted another one
# when the quota became 0, so every round evicts.
evict() {
  local new
  new=$(awk 'NR == FNR { evicted[$0]; next } $1 != "queue" && NF == 2 && !($0 in evicted)' \
    <(printf '%s\n' "$evicted") - <<<"$left")
  if [[ -n $new ]]; then
    printf 'The capacities of these jobs are gone, lose nodes or get other nodes. The jobs are stopped, and wait in their queues:\n%s\n' "$new"
    change '{"metadata":{"labels":{"batchwright-evicted":"true"}},"spec":{"active":false}}' <<<"$new"
    evicted+=$'\n'$new
  fi
}

trap reactivate EXIT
evicted=
await running 2400 evict # a pod may take 1800 seconds to stop
