#!/usr/bin/env bash
# Writes the resource name of the TensorBoard to a ConfigMap in each team's namespace,
# where jobs read it. The name contains an ID that Google Cloud assigns.
set -euo pipefail

found=$(gcloud ai tensorboards list --project="$PROJECT" --region="$REGION" \
  --filter="displayName=\"$DISPLAY_NAME\"" --format='value(name)')
if [[ -z $found || $found == *$'\n'* ]]; then
  printf 'There must be exactly one TensorBoard with the display name %s in %s. Correct this, then submit this build again. Found:\n%s\n' "$DISPLAY_NAME" "$REGION" "$found" >&2
  exit 1
fi
namespaces=$(kubectl get namespaces -l "$TEAMS" -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}')
object=$(kubectl create configmap "$CONFIG" --from-literal="$KEY=$found" --dry-run=client -o yaml)
for namespace in $namespaces; do
  kubectl apply --server-side --force-conflicts --field-manager=batchwright -n "$namespace" -f - <<<"$object"
done
