#!/usr/bin/env bash
# Checks that Kueue, which others run, manages the jobs in the namespaces of the teams. Two
# parts of its installation decide this: the selector in its configuration, without which
# jobs wait for ever, and the selectors of its webhooks, without which jobs start without
# quota. Kueue suspends each new job that its webhooks see: a dry run shows this without
# creating the job. Each element of QUEUES is a namespace, a queue and a PriorityClass.
set -euo pipefail

# INCLUDE kueue-settings.bash
# shellcheck disable=SC2016 # the variables belong to the template
template='{{with .managedJobsNamespaceSelector}}
  {{- range $key, $value := .matchLabels}}{{$key}}={{$value}},{{end}}
  {{- range .matchExpressions}}
    {{- if eq .operator "In" "NotIn"}}{{.key}} {{if eq .operator "In"}}in{{else}}notin{{end}} (
      {{- range $i, $value := .values}}{{if $i}},{{end}}{{$value}}{{end}})
    {{- else}}{{if eq .operator "DoesNotExist"}}!{{end}}{{.key}}{{end}},
  {{- end}}{{end}}'
selector=$(settings "$template")
selector=${selector%,}
selected=$(kubectl get namespaces ${selector:+-l "$selector"} -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}')

errors=$(mktemp)
unmanaged=
for element in $QUEUES; do
  IFS=: read -r namespace queue class <<<"$element"
  if [[ $'\n'$selected$'\n' != *$'\n'"$namespace"$'\n'* ]]; then
    unmanaged+="- $namespace: managedJobsNamespaceSelector of the configuration does not select it: $selector"$'\n'
  fi
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
  # The API server learns of new labels and queues after a moment.
  tries=12
  until suspended=$(kubectl create --dry-run=server -o 'jsonpath={.spec.suspend}' -f - <<<"$job" 2>"$errors") && [[ $suspended == true ]]; do
    tries=$((tries - 1))
    if ((tries == 0)); then
      unmanaged+="- $namespace: the webhooks do not see it, or refuse a job. Suspended: \"$suspended\". $(<"$errors")"$'\n'
      break
    fi
    sleep 5
  done
done
if [[ -n $unmanaged ]]; then
  printf 'Kueue does not manage the jobs in these namespaces:\n%sWrite the labels that Kueue selects namespaces by as cluster: existing: kueue: namespaceLabels in the blueprint, or ask its owner to select them.\n' \
    "$unmanaged" >&2
  exit 1
fi
