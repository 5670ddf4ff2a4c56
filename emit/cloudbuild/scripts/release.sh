#!/usr/bin/env bash
# Lets Infrastructure Manager delete everything it has applied, however much that
# is.
set -euo pipefail

# DEPLOYMENT
# A build that was cancelled does not stop what it has asked for.
settle
if [[ -z $state ]]; then
  echo 'Nothing has been built.'
  exit 0
fi

# Deletion protection is Terraform's, not GKE's, and holds as it was applied last.
# To apply it anew would build what is missing of a platform, and fail where that
# fails. A cluster that is gone is not protected.
clusters=$(gcloud container clusters list --project="$PROJECT" --location="$REGION" --filter="name=\"$CLUSTER\"" --format='value(name)')
if [[ -n $clusters ]]; then
  gcloud container clusters delete "$CLUSTER" --project="$PROJECT" --location="$REGION" --quiet
fi

# gcloud stops waiting after half an hour, and the deletion goes on.
problem=
if ! problem=$(gcloud infra-manager deployments delete "$DEPLOYMENT" --delete-policy=delete --quiet 2>&1); then
  settle
  if [[ -n $state ]]; then
    printf '%s\n' "$problem" >&2
    gcloud infra-manager deployments describe "$DEPLOYMENT" \
      --format='yaml(state,stateDetail,errorCode,errorLogs,deleteResults,tfErrors)' >&2
    printf 'The deployment is %s.\n' "$state" >&2
    exit 1
  fi
fi
echo 'The deployment is deleted.'
