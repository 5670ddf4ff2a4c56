#!/usr/bin/env bash
# Tells the teams' jobs the name of the TensorBoard, which Google Cloud numbers.
set -euo pipefail

found=$(gcloud ai tensorboards list --project="$PROJECT" --region="$REGION" \
  --filter="displayName=\"$DISPLAY_NAME\"" --format='value(name)')
if [[ -z $found || $found == *$'\n'* ]]; then
  printf 'Want one TensorBoard named %s in %s, and found:\n%s\n' "$DISPLAY_NAME" "$REGION" "$found" >&2
  exit 1
fi
namespaces=$(kubectl get namespaces -l "$TEAMS" -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}')
object=$(kubectl create configmap "$CONFIG" --from-literal="$KEY=$found" --dry-run=client -o yaml)
for namespace in $namespaces; do
  kubectl apply --server-side --force-conflicts --field-manager=batchwright -n "$namespace" -f - <<<"$object"
done
