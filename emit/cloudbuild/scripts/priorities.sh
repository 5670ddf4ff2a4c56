#!/usr/bin/env bash
# Deletes the platform's PriorityClasses that change or that the folder no longer has.
# Kubernetes forbids changing the value of a class, and having two default classes. The
# step "manifests" creates the changed classes. Existing pods keep their priority.
set -euo pipefail

fields='{.metadata.name} {.value} {.preemptionPolicy} {.globalDefault}{"\n"}'
wanted=
if [[ -e kubernetes/priority-classes.yaml ]]; then # otherwise the scheduler brings all classes
  wanted=$(kubectl create --dry-run=client --validate=false -f kubernetes/priority-classes.yaml -o "jsonpath=$fields")
fi
live=$(kubectl get priorityclasses.scheduling.k8s.io -l "$PLATFORM" -o "jsonpath={range .items[*]}$fields{end}")
awk 'NR == FNR { wanted[$0]; next } NF && !($0 in wanted) { print $1 }' <(printf '%s\n' "$wanted") - <<<"$live" |
  xargs -r kubectl delete priorityclasses.scheduling.k8s.io
