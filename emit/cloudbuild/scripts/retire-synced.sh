#!/usr/bin/env bash
# Stops the jobs on capacities that the folder no longer has or that lose nodes, before
# Terraform deletes these. These jobs wait in their queues again, and start where they may.
# Otherwise a job would keep its quota and never run again. The GitOps tool takes away
# the quota of capacities that are gone. Until then the step stops nothing, because other
# jobs would start there.
set -euo pipefail
shopt -s inherit_errexit

# INCLUDE running.bash
# The label finds the nodes that a build has cordoned and that stay, because it failed.
kubectl uncordon -l batchwright-retired
kubectl label nodes -l batchwright-retired batchwright-retired-
# INCLUDE losses.bash
ready=$(kubectl -n "$KUEUE" get deployment kueue-controller-manager --ignore-not-found \
  -o 'jsonpath={.status.availableReplicas}')
if ((${ready:-0} == 0)); then
  echo 'Kueue does not run, so no job is evicted. If this build removes a capacity, submit it again when Kueue runs.'
  awk 'NF && $1 != "system" && !seen[$1]++ { print "Jobs on nodes of capacity " $1 " that are deleted stop with them." }' <<<"$losses"
  shrink
  exit 0
fi

wanted=
if [[ -e kubernetes/resource-flavors.yaml ]]; then
  wanted=$(kubectl create --dry-run=client --validate=false -f kubernetes/resource-flavors.yaml -o 'jsonpath={.metadata.name}{"\n"}')
fi
# A queue that is being deleted admits no more workloads.
stale=$(kubectl get clusterqueues.kueue.x-k8s.io -l "${PLATFORM%%,*}" \
  -o 'jsonpath={range .items[*]}{.metadata.name}|{.metadata.deletionTimestamp}|{.spec.resourceGroups[*].flavors[*].name}{"\n"}{end}' |
  awk -F'|' '
    NR == FNR { wanted[$1]; next }
    $2 == "" {
      count = split($3, flavors, " ")
      for (i = 1; i <= count; i++) if (!(flavors[i] in wanted)) print "ClusterQueue", $1 ", capacity", flavors[i]
    }' <(printf '%s\n' "$wanted") -)
if [[ -n $stale ]]; then
  printf 'These queues still give quota of capacities that this folder does not have. Wait until %s has synced this folder, then submit this build again:\n%s\n' \
    "$TOOL" "$stale" >&2
  exit 1
fi
namespaces=$(kubectl get namespaces -l "$TEAMS" -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}')

# The quota of a capacity that loses nodes stays, so jobs could start on these nodes. GKE
# chooses the nodes of a pool that gets fewer.
while read -r _ pool why detail; do
  [[ -n $pool ]] || continue
  going="cloud.google.com/gke-nodepool=$pool"
  if [[ $why == zone ]]; then
    going+=",topology.kubernetes.io/zone=$detail"
  fi
  kubectl cordon -l "$going"
  kubectl label nodes -l "$going" --overwrite "batchwright-retired=$why"
done <<<"$losses"

# INCLUDE evict.bash
# admitted prints the teams' workloads that have quota of a capacity that is gone or loses
# nodes.
admitted() {
  kubectl get workloads.kueue.x-k8s.io --all-namespaces -o \
    'jsonpath={range .items[*]}{.metadata.namespace} {.metadata.name} {.status.conditions[?(@.type=="Finished")].status}|{.status.admission.podSetAssignments[*].flavors}{"\n"}{end}' |
    awk '
      !workloads { if ($0 == "workloads") workloads = 1; else known[$0]; next }
      / True\|/ || !(("namespace " $1) in known) { next }
      {
        for (rest = $0; match(rest, /:"[^"]*"/); rest = substr(rest, RSTART + RLENGTH)) {
          if (!(("flavor " substr(rest, RSTART + 2, RLENGTH - 3)) in known)) { print $1, $2; next }
        }
      }' <(
      awk 'NR == FNR { lost[$1]; next } NF && !($1 in lost) { print "flavor", $1 }' <(printf '%s\n' "$losses") - <<<"$wanted"
      awk 'NF { print "namespace", $1 }' <<<"$namespaces"
      echo workloads
    ) -
}

# The pods of a job that gets its quota after this line wait for other nodes.
present=$(admitted)
running() {
  admitted | awk 'NR == FNR { present[$0]; next } $0 in present' <(printf '%s\n' "$present") -
}

# INCLUDE evict-loop.bash
if [[ -n $left ]]; then
  printf 'These do not stop. Delete their jobs, then submit this build again:\n%s\n' "$left" >&2
  exit 1
fi
# INCLUDE await-pods.bash
shrink
kubectl uncordon -l batchwright-retired=fewer
trap - EXIT
reactivate
