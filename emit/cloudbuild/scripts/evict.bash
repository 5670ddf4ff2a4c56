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

# await calls a function every ten seconds until it prints nothing, and sets left to what
# it printed last. Whenever it prints something, await calls a second function. It fails if
# the first function fails five times in a row.
await() { # function, seconds since the start of the step, second function
  local failures=0 tries=240 now
  left='(kubectl has failed)'
  while true; do
    if now=$("$1"); then
      left=$now failures=0
    elif ((++failures == 5)); then
      return 1
    fi
    tries=$((tries - 1))
    if [[ -z $left ]] || ((tries == 0 || SECONDS > $2)); then
      return
    fi
    if ((failures == 0)); then
      "$3"
    fi
    sleep 10
  done
}
