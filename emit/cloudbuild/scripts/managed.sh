#!/usr/bin/env bash
# Checks that Kueue, which others run, manages the jobs in the namespaces of the teams. A
# job that it does not manage would start without quota. Kueue suspends each new job that
# it manages: a dry run shows this without creating the job. Each element of QUEUES is a
# namespace, a queue and a PriorityClass.
set -euo pipefail

unmanaged=
for element in $QUEUES; do
  IFS=: read -r namespace queue class <<<"$element"
  job="
  apiVersion: batch/v1
  kind: Job
  metadata:
    name: probe
    namespace: $namespace
    labels:
      kueue.x-k8s.io/queue-name: $queue
  spec:
    suspend: false
    template:
      spec:
        priorityClassName: $class
        restartPolicy: Never
        automountServiceAccountToken: false
        containers:
        - name: probe
          image: probe
          resources:
            requests: {cpu: 1m, memory: 1Mi}
            limits: {memory: 1Mi}
  "
  tries=12
  until suspended=$(kubectl create --dry-run=server -o 'jsonpath={.spec.suspend}' -f - <<<"$job" 2>&1) && [[ $suspended == true ]]; do
    tries=$((tries - 1))
    if ((tries == 0)); then
      unmanaged+="$namespace: the answer to the probe was \"$suspended\""$'\n'
      break
    fi
    sleep 5
  done
done
if [[ -n $unmanaged ]]; then
  printf 'Kueue does not manage the jobs in these namespaces:\n%sCompare managedJobsNamespaceSelector of its configuration, and the namespaceSelector of its webhooks, with cluster: existing: kueue: namespaceLabels in the blueprint.\n' \
    "$unmanaged" >&2
  exit 1
fi
