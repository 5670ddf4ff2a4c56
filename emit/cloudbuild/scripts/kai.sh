#!/usr/bin/env bash
# Installs KAI Scheduler and waits until the API server reaches the webhook of
# its queues.
set -euo pipefail

# A Helm run that was killed leaves the release pending, and Helm then refuses every
# other run. No other build of the platform runs at this point, so that no Helm run is
# active. Without the record of the killed run, Helm takes over the objects that the
# run has installed.
kubectl delete secrets --namespace="$NAMESPACE" --ignore-not-found \
  -l 'owner=helm,name=kai-scheduler,status in (pending-install,pending-upgrade,pending-rollback)'

# By default the chart creates a queue for jobs that name no queue, or a queue that
# does not exist. The jobs would start in it without a quota. Without the queue the
# jobs wait.
./helm upgrade kai-scheduler "$CHART" --install --version="v$VERSION" --namespace="$NAMESPACE" --create-namespace \
  --set=defaultQueue.createDefaultQueue=false --wait --timeout=15m

# The chart installs an operator, which installs the other components.
kubectl wait configs.kai.scheduler/kai-config --for=condition=Ready --timeout=600s

# The controllers are ready before the API server has their certificates. A dry run
# sends this queue through the webhook without creating it.
probe='
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata:
  name: probe
spec:
  resources: {}
'
tries=60
until problem=$(kubectl create --dry-run=server -f - <<<"$probe" 2>&1); do
  tries=$((tries - 1))
  if ((tries == 0)); then
    printf '%s\nThe webhook of KAI Scheduler does not answer. Check the pods of namespace %s, then submit this build again.\n' \
      "$problem" "$NAMESPACE" >&2
    exit 1
  fi
  sleep 5
done
