#!/usr/bin/env bash
# Stops the queues that the platform no longer has, and prints how to delete them.
set -euo pipefail

wanted=
for manifests in kubernetes/cohorts.yaml kubernetes/teams; do
  if [[ -e $manifests ]]; then
    wanted+=$(kubectl create --dry-run=client --validate=false -f "$manifests" -o name)$'\n'
  fi
done
# The queues of teams come first, because a queue with children cannot be deleted.
live=$(kubectl get queues.scheduling.run.ai -l "$PLATFORM" \
  -o 'jsonpath={range .items[*]}queue.scheduling.run.ai/{.metadata.name} {.metadata.labels.team}{"\n"}{end}')
gone=$(awk '
  NR == FNR { wanted[$1]; next }
  !NF || $1 in wanted { next }
  $2 == "" { cohorts = cohorts $1 "\n"; next }
  { print $1 }
  END { printf "%s", cohorts }' <(printf '%s\n' "$wanted") - <<<"$live")

# With a limit of 0 no job starts in these queues, and with a quota of 0 their
# guaranteed quota goes to the other queues. If the platform gets a queue back, the
# step "manifests" restores both values.
xargs -r -n 200 -P 8 kubectl patch --type=merge \
  -p '{"spec":{"resources":{"cpu":{"limit":0,"quota":0},"gpu":{"limit":0,"quota":0},"memory":{"limit":0,"quota":0}}}}' <<<"$gone"
if [[ -n $gone ]]; then
  echo 'The platform no longer has these queues. No job starts in them. Delete them in this order when their running jobs have ended:'
  awk '{ print "  kubectl delete " $0 }' <<<"$gone"
fi
