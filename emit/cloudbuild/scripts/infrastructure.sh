#!/usr/bin/env bash
# Lets Infrastructure Manager apply the folder terraform, and waits for it. The
# deployment is made, or becomes a new revision.
set -euo pipefail

# DEPLOYMENT
busy=false
# A build that was cancelled does not stop what it has asked for.
settle
applied=true
gcloud infra-manager deployments apply "$DEPLOYMENT" --service-account="$ACCOUNT" --tf-version-constraint="$TERRAFORM" \
  --local-source=terraform --inputs-file=terraform/terraform.tfvars --quiet || applied=false
# gcloud may stop waiting before Infrastructure Manager has ended.
settle
if [[ $state == ACTIVE && ($applied == true || $busy == true) ]]; then
  exit 0
fi
if [[ -n $state ]]; then
  gcloud infra-manager deployments describe "$DEPLOYMENT" --format='yaml(state,stateDetail,errorCode,errorLogs,tfErrors)' >&2
fi
printf 'The deployment is %s.\n' "${state:-missing}" >&2
exit 1
