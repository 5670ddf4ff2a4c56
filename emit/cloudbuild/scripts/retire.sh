#!/usr/bin/env bash
# Stops what the platform no longer has, before Terraform deletes its nodes: the
# ClusterQueues that are gone, and the jobs on capacities that are gone, lose nodes or get
# other nodes. These jobs wait in their queues again, and start where they may. Otherwise a
# job would keep its quota and never run again, and a queue that is gone would hold quota
# that its successor also provides.
set -euo pipefail
shopt -s inherit_errexit

# INCLUDE running.bash
# INCLUDE losses.bash
ready=$(kubectl -n "$KUEUE" get deployment kueue-controller-manager --ignore-not-found \
  -o 'jsonpath={.status.availableReplicas}')
if ((${ready:-0} == 0)); then
  echo 'Kueue does not run, so no job is evicted. If this build removes a capacity, submit it again at its end.'
  awk 'NF && $1 != "system" && !seen[$1]++ { print "Jobs on nodes of capacity " $1 " that are deleted stop with them." }' <<<"$losses"
  shrink
  exit 0
fi

# gone prints the names of the platform's objects of a kind that the manifests do not
# have, or for which the manifests have other fields.
gone() { # kind, resource, fields, manifests
  local kind=$1 resource=$2 fields="{.kind} {.metadata.name} $3{\"\\n\"}" manifests live
  shift 3
  live=$(kubectl get "$resource" -l "$PLATFORM" -o "jsonpath={range .items[*]}$fields{end}")
  for manifests; do
    if [[ -e kubernetes/$manifests ]]; then
      kubectl create --dry-run=client --validate=false -f "kubernetes/$manifests" -o "jsonpath=$fields"
    fi
  done | awk -v "kind=$kind" '
    !live { if ($0 == "live") live = 1; else wanted[$0]; next }
    $1 == kind && !($0 in wanted) { print $2 }' - <(printf 'live\n%s\n' "$live")
}

# INCLUDE evict.bash
# A stopped queue would still lend its quota. The patch therefore removes the quota, and
# with it the admission checks, which name flavors of the quota. If the platform gets a
# queue back, the step "manifests" restores both.
queues=$(gone ClusterQueue clusterqueues.kueue.x-k8s.io '' shared-queues.yaml teams)
xargs -r -n 200 -P 8 kubectl patch clusterqueues.kueue.x-k8s.io --type=merge \
  -p '{"metadata":{"annotations":{"batchwright/drained":"true"}},"spec":{"stopPolicy":"HoldAndDrain","resourceGroups":null,"admissionChecksStrategy":null}}' <<<"$queues"

# No further job gets quota of a capacity that is gone. The step "manifests" restores the
# quota of a capacity that loses nodes or gets others. Each line holds a queue, a flavor,
# the path of one of its quotas, and the numbers of the quota.
flavors=$(gone ResourceFlavor resourceflavors.kueue.x-k8s.io '{.spec.nodeLabels}' resource-flavors.yaml)
flavors+=$'\n'$(awk '{ print $1 }' <<<"$losses")
# shellcheck disable=SC2016 # the variables belong to the template
quotas='{{range .items}}{{$queue := .metadata.name}}{{$cohort := .spec.cohortName}}
{{- range $g, $group := .spec.resourceGroups}}{{range $f, $flavor := $group.flavors}}{{range $r, $quota := $flavor.resources}}
{{- $queue}} {{$flavor.name}} /spec/resourceGroups/{{$g}}/flavors/{{$f}}/resources/{{$r}} nominalQuota
{{- if $cohort}} borrowingLimit{{end}}{{if $quota.lendingLimit}} lendingLimit{{end}}{{"\n"}}
{{- end}}{{end}}{{end}}{{end}}'
kubectl get clusterqueues.kueue.x-k8s.io -l "${PLATFORM%%,*}" -o "go-template=$quotas" |
  awk '
    NR == FNR { if (NF) gone[$1]; next }
    $2 in gone {
      for (i = 4; i <= NF; i++) {
        patch[$1] = patch[$1] (patch[$1] ? "," : "") "{\"op\":\"add\",\"path\":\"" $3 "/" $i "\",\"value\":\"0\"}"
      }
    }
    END { for (queue in patch) print queue "\n-p=[" patch[queue] "]" }' <(printf '%s\n' "$flavors") - |
  xargs -r -d '\n' -n 2 -P 8 kubectl patch clusterqueues.kueue.x-k8s.io --type=json

# running prints the workloads that have quota of a capacity that is gone, and the queues
# that are gone and still give quota.
running() {
  kubectl get workloads.kueue.x-k8s.io --all-namespaces -o \
    'jsonpath={range .items[*]}{.metadata.namespace} {.metadata.name} {.status.conditions[?(@.type=="Finished")].status}|{.status.admission.podSetAssignments[*].flavors}{"\n"}{end}' |
    awk '
      NR == FNR { if (NF) gone[$1]; next }
      !/ True\|/ { for (flavor in gone) if (index($0, ":\"" flavor "\"")) { print $1, $2; next } }' \
      <(printf '%s\n' "$flavors") - || return
  kubectl get clusterqueues.kueue.x-k8s.io -l "$PLATFORM" \
    -o 'jsonpath={range .items[*]}{.metadata.name} {.status.reservingWorkloads}{"\n"}{end}' |
    awk 'NR == FNR { if (NF) gone[$1]; next } $1 in gone && $2 > 0 { print "queue", $1 }' <(printf '%s\n' "$queues") -
}

# INCLUDE evict-loop.bash
# A job that starts when the step "manifests" restores the quota must get the labels of
# the new nodes.
if [[ -n ${flavors//$'\n'/} && -e kubernetes/resource-flavors.yaml ]]; then
  kubectl apply --server-side --force-conflicts --field-manager=batchwright -f kubernetes/resource-flavors.yaml
fi
trap - EXIT
reactivate
if [[ -n $left ]]; then
  printf 'These do not stop. Delete their jobs, then submit this build again:\n%s\n' "$left" >&2
  exit 1
fi
# INCLUDE await-pods.bash
shrink
if [[ -n $queues ]]; then
  echo 'The platform no longer has these ClusterQueues. They are stopped. To delete them, run:'
  awk '{ print "  kubectl delete clusterqueue.kueue.x-k8s.io/" $1 }' <<<"$queues"
fi
