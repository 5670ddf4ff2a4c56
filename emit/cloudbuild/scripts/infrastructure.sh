#!/usr/bin/env bash
# Lets Infrastructure Manager apply the folder terraform, and waits until it has
# finished. This creates the deployment, or adds a revision to it.
set -euo pipefail

# INCLUDE deployment.bash
busy=false
# Infrastructure Manager continues its work even if the build that asked for it was
# cancelled.
settle
applied=true
gcloud infra-manager deployments apply "$DEPLOYMENT" --service-account="$ACCOUNT" --tf-version-constraint="$TERRAFORM" \
  --local-source=terraform --inputs-file=terraform/terraform.tfvars --quiet || applied=false
# gcloud may stop waiting before Infrastructure Manager has finished.
settle
if [[ $state == ACTIVE && ($applied == true || $busy == true) ]]; then
  exit 0
fi
if [[ -n $state ]]; then
  gcloud infra-manager deployments describe "$DEPLOYMENT" --format='yaml(state,stateDetail,errorCode,errorLogs,tfErrors)' >&2
fi
printf 'The deployment is %s. Correct the cause, then submit this build again.\n' "${state:-missing}" >&2
exit 1
