#!/usr/bin/env bash
# Lets Infrastructure Manager apply the folder terraform, and waits for it. The
# deployment is made, or becomes a new revision.
set -euo pipefail

gcloud infra-manager deployments apply "$DEPLOYMENT" --service-account="$ACCOUNT" --tf-version-constraint="$TERRAFORM" \
  --local-source=terraform --inputs-file=terraform/terraform.tfvars --quiet
state=$(gcloud infra-manager deployments describe "$DEPLOYMENT" --format='value(state)')
if [[ $state != ACTIVE ]]; then
  gcloud infra-manager deployments describe "$DEPLOYMENT" --format='yaml(state,stateDetail,errorCode,errorLogs,tfErrors)' >&2
  printf 'The deployment is %s.\n' "$state" >&2
  exit 1
fi
