# INCLUDE deployment.bash
# A preview of a deployment that is being changed would be refused.
settle
plan='{"resource_changes":[]}'
if [[ -n $state ]]; then
  preview=${DEPLOYMENT/deployments/previews}-retire
  gcloud infra-manager previews delete "$preview" --quiet 2>/dev/null || true
  gcloud infra-manager previews create "$preview" --deployment="$DEPLOYMENT" --service-account="$ACCOUNT" \
    --tf-version-constraint="$TERRAFORM" --local-source=terraform --inputs-file=terraform/terraform.tfvars --quiet
  url=$(gcloud infra-manager previews export "$preview" --format='value(result.jsonSignedUri)')
  plan=$(curl --fail --silent --show-error --config - <<<"url = \"$url\"")
  gcloud infra-manager previews delete "$preview" --quiet
fi
SECONDS=0 # the limits below count from here
