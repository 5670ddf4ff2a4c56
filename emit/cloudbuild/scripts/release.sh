#!/usr/bin/env bash
# Lets Infrastructure Manager delete everything it has applied. The cluster's
# deletion protection is heeded as it was applied last, so that it is switched
# off first.
set -euo pipefail

deployments=$(gcloud infra-manager deployments list --project="$PROJECT" --location="$BUILD_REGION" --format='value(name.basename())')
if [[ $'\n'$deployments$'\n' != *$'\n'"${DEPLOYMENT##*/}"$'\n'* ]]; then
  echo 'Nothing has been built.'
  exit 0
fi
clusters=$(gcloud container clusters list --project="$PROJECT" --location="$REGION" --filter="name=\"$CLUSTER\"" --format='value(name)')
if [[ -n $clusters ]]; then
  awk '$1 == "deletion_protection" { print "deletion_protection = false"; next } { print }' terraform/terraform.tfvars >unprotected.tfvars
  cp unprotected.tfvars terraform/terraform.tfvars
  gcloud infra-manager deployments apply "$DEPLOYMENT" --service-account="$ACCOUNT" --tf-version-constraint="$TERRAFORM" \
    --local-source=terraform --inputs-file=terraform/terraform.tfvars --quiet
fi
gcloud infra-manager deployments delete "$DEPLOYMENT" --delete-policy=delete --quiet
