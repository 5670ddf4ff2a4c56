#!/usr/bin/env bash
# Deletes the platform's PriorityClasses that are to be others or not to be at
# all: their values cannot be changed, and two defaults cannot be there at once.
# Pods that exist keep their priority.
set -euo pipefail

fields='{.metadata.name} {.value} {.preemptionPolicy} {.globalDefault}{"\n"}'
wanted=
if [[ -e kubernetes/priority-classes.yaml ]]; then # else all of them come with the scheduler
  wanted=$(kubectl create --dry-run=client --validate=false -f kubernetes/priority-classes.yaml -o "jsonpath=$fields")
fi
live=$(kubectl get priorityclasses.scheduling.k8s.io -l "$PLATFORM" -o "jsonpath={range .items[*]}$fields{end}")
awk 'NR == FNR { wanted[$0]; next } NF && !($0 in wanted) { print $1 }' <(printf '%s\n' "$wanted") - <<<"$live" |
  xargs -r kubectl delete priorityclasses.scheduling.k8s.io
