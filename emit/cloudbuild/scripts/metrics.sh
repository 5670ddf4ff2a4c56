#!/usr/bin/env bash
# Lets GKE collect exactly the metrics that the folder names. Terraform does so only for a
# new cluster: GKE returns the list in another order than it was sent, and Terraform would
# take that for a change.
set -euo pipefail

live=$(gcloud container clusters describe "$CLUSTER" --project="$PROJECT" --location="$REGION" \
  --format='value(monitoringConfig.componentConfig.enableComponents)')
same=$(awk -v "live=$live" -v "wanted=$METRICS" 'BEGIN {
  same = split(live, names, ";") == split(wanted, expected, " ")
  for (i in names) has[names[i]]
  for (i in expected) if (!(expected[i] in has)) same = 0
  print same
}')
if ((same)); then
  echo 'GKE collects the metrics of the folder.'
  exit 0
fi
printf 'GKE collects metrics of: %s\nThe folder names:        %s\n' "${live//;/ }" "$METRICS"
gcloud container clusters update "$CLUSTER" --project="$PROJECT" --location="$REGION" --enable-managed-prometheus \
  --monitoring="$COMPONENTS"
