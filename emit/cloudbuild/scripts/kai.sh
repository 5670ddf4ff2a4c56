#!/usr/bin/env bash
# Installs KAI Scheduler and waits until the API server reaches the webhook of
# its queues.
set -euo pipefail

# A Helm run that was killed leaves a release for which Helm refuses every
# other. No other build of the platform runs by now, so that nobody works on it.
# Without the record of that run, Helm takes over what it has installed.
kubectl delete secrets --namespace="$NAMESPACE" --ignore-not-found \
  -l 'owner=helm,name=kai-scheduler,status in (pending-install,pending-upgrade,pending-rollback)'

# The chart would make a queue for jobs that name none, or one that is not
# there: they would start past every quota. Without it they wait.
./helm upgrade kai-scheduler "$CHART" --install --version="v$VERSION" --namespace="$NAMESPACE" --create-namespace \
  --set=defaultQueue.createDefaultQueue=false --wait --timeout=15m

# The chart installs an operator, which installs the rest.
kubectl wait configs.kai.scheduler/kai-config --for=condition=Ready --timeout=600s

# The controllers are up before their certificates have reached the API server.
# This queue is checked by the webhook, and not kept.
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
    printf '%s\nThe webhook of KAI Scheduler does not answer.\n' "$problem" >&2
    exit 1
  fi
  sleep 5
done
