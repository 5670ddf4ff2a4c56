#!/usr/bin/env bash
# Stops the queues that the platform no longer has.
set -euo pipefail

wanted=
for manifests in kubernetes/cohorts.yaml kubernetes/teams; do
  if [[ -e $manifests ]]; then
    wanted+=$(kubectl create --dry-run=client --validate=false -f "$manifests" -o name)$'\n'
  fi
done
# Those of teams come first: a queue cannot be deleted while others are in it.
live=$(kubectl get queues.scheduling.run.ai -l "$PLATFORM" \
  -o 'jsonpath={range .items[*]}queue.scheduling.run.ai/{.metadata.name} {.metadata.labels.team}{"\n"}{end}')
gone=$(awk '
  NR == FNR { wanted[$1]; next }
  !NF || $1 in wanted { next }
  $2 == "" { cohorts = cohorts $1 "\n"; next }
  { print $1 }
  END { printf "%s", cohorts }' <(printf '%s\n' "$wanted") - <<<"$live")

# Nothing more starts in them, and what they were guaranteed is the others'.
# "manifests" restores both, should the platform have the queue again.
xargs -r -n 200 -P 8 kubectl patch --type=merge \
  -p '{"spec":{"resources":{"cpu":{"limit":0,"quota":0},"gpu":{"limit":0,"quota":0},"memory":{"limit":0,"quota":0}}}}' <<<"$gone"
if [[ -n $gone ]]; then
  echo 'The platform no longer has these queues. Nothing starts in them; delete them, in this order, when what runs has ended:'
  awk '{ print "  kubectl delete " $0 }' <<<"$gone"
fi
