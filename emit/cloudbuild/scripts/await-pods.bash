# stopping prints the pods that still stop on nodes of the pools that lose nodes. Kueue has
# the quota of a job back as soon as its pods are told to stop. They may write a checkpoint
# for as long as their grace period.
stopping() {
  local pools nodes
  pools=$(awk 'NF { printf "%s%s", separator, $2; separator = "," }' <<<"$losses")
  if [[ -z $pools ]]; then
    return
  fi
  nodes=$(kubectl get nodes -l "cloud.google.com/gke-nodepool in ($pools)" \
    -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}') || return
  kubectl get pods --all-namespaces --field-selector='status.phase!=Succeeded,status.phase!=Failed' -o \
    'jsonpath={range .items[?(@.metadata.deletionTimestamp)]}{.spec.nodeName} {.metadata.namespace} {.metadata.name}{"\n"}{end}' |
    awk 'NR == FNR { if (NF) nodes[$1]; next } $1 in nodes { print $2, $3 }' <(printf '%s\n' "$nodes") -
}

tell() {
  printf 'These pods still stop:\n%s\n' "$left"
}

await stopping 3000 tell
if [[ -n $left ]]; then
  printf 'These pods do not stop. Delete them, or what holds them, then submit this build again:\n%s\n' "$left" >&2
  exit 1
fi
