# change patches workloads, which it reads as lines of namespace and name, up to 200 of a
# namespace at a time. Workloads that no longer exist are left out.
change() { # merge patch
  local calls problems
  calls=$(awk '
    count[$1] == 200 { print line[$1]; count[$1] = 0 }
    !count[$1]++ { line[$1] = "-n " $1 }
    { line[$1] = line[$1] " " $2 }
    END { for (namespace in line) print line[namespace] }')
  if problems=$(xargs -r -L 1 -P 8 kubectl patch workloads.kueue.x-k8s.io --type=merge "-p=$1" 2>&1 >/dev/null <<<"$calls"); then
    return
  fi
  problems=$(awk '!/NotFound/' <<<"$problems")
  if [[ -n $problems ]]; then
    printf '%s\n' "$problems" >&2
    return 1
  fi
}

# reactivate lets the evicted jobs wait in their queues. The label also finds jobs that a
# cancelled build has left inactive.
reactivate() {
  local evicted
  evicted=$(kubectl get workloads.kueue.x-k8s.io --all-namespaces -l batchwright-evicted \
    -o 'jsonpath={range .items[*]}{.metadata.namespace} {.metadata.name}{"\n"}{end}')
  if [[ -n $evicted ]]; then
    change '{"metadata":{"labels":{"batchwright-evicted":null}},"spec":{"active":true}}' <<<"$evicted"
  fi
}

