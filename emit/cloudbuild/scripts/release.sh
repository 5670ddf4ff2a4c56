#!/usr/bin/env bash
# Lets Infrastructure Manager delete everything that it has applied, also if it has
# applied only a part.
set -euo pipefail

# INCLUDE deployment.bash
# Infrastructure Manager continues its work even if the build that asked for it was
# cancelled.
settle
if [[ -z $state ]]; then
  echo 'Nothing has been built.'
  exit 0
fi

# The deletion protection is a setting of Terraform, not of GKE, and Terraform uses the
# value that was applied last. Applying another value would also build the missing
# parts of the platform, and could fail. Therefore gcloud deletes the cluster: Terraform
# does not protect a cluster that no longer exists. If CLUSTER is empty, the cluster belongs
# to others.
clusters=
if [[ -n $CLUSTER ]]; then
  clusters=$(gcloud container clusters list --project="$PROJECT" --location="$REGION" --filter="name=\"$CLUSTER\"" --format='value(name)')
fi
if [[ -n $clusters ]]; then
  gcloud container clusters delete "$CLUSTER" --project="$PROJECT" --location="$REGION" --quiet
fi

# gcloud stops waiting after half an hour, but the deletion continues.
problem=
if ! problem=$(gcloud infra-manager deployments delete "$DEPLOYMENT" --delete-policy=delete --quiet 2>&1); then
  settle
  if [[ -n $state ]]; then
    printf '%s\n' "$problem" >&2
    gcloud infra-manager deployments describe "$DEPLOYMENT" \
      --format='yaml(state,stateDetail,errorCode,errorLogs,deleteResults,tfErrors)' >&2
    printf 'The deployment is %s. Correct the cause, then run destroy-platform.sh again.\n' "$state" >&2
    exit 1
  fi
fi
echo 'The deployment is deleted.'
