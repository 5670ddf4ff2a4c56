#!/usr/bin/env bash
# Destroys the platform with Cloud Build. Run it again after any failure.
set -euo pipefail

# VALUES

# INCLUDE common.bash

usage() {
  cat <<END
Usage: destroy-platform.sh [--yes] [--worker-pool=POOL]

Destroys the platform $NAME in project $PROJECT, region $REGION,
through cloudbuild/destroy.yaml:

# DESTROY USAGE

Options:
  --yes               do not ask for confirmation
  --worker-pool=POOL  build in a private worker pool,
                      projects/PROJECT/locations/REGION/workerPools/NAME;
                      required if the cluster has no public DNS endpoint
  -h, --help          show this text
END
}

begin --yes "$@"
sure=$GIVEN
# TAKEN OVER
need_way_in

existing=$(gcloud storage buckets list --project="$PROJECT" --filter="name=\"$BUCKET\"" --format='value(name)')
if [[ -z $existing ]]; then
  echo "Project $PROJECT has no bucket gs://$BUCKET, so nothing of the platform $NAME was ever built."
  exit 0
fi
gcloud iam service-accounts describe "$EMAIL" --project="$PROJECT" >/dev/null ||
  fail "the build's service account is missing: create it with ./create-platform.sh --prepare, then run this script again"

# FULL BUCKETS
if [[ $sure == false ]]; then
# CONFIRM
  printf 'Type the name of the platform to go on: '
  answer=
  read -r answer || true
  [[ $answer == "$NAME" ]] || fail 'the name is different: nothing was destroyed'
fi

submit cloudbuild/destroy.yaml

cat <<END
The platform $NAME is destroyed. The resources below remain. If nothing else needs
a resource, remove it with its command.

# CLUSTER RIGHTS
The repository with the teams' images:
END
say gcloud artifacts repositories delete "$REPOSITORY" --project="$PROJECT" --location="$BUILD_REGION"
echo
echo "The build's service account and its roles:"
for role in "${BUILD_ROLES[@]}"; do
  say gcloud projects remove-iam-policy-binding "$PROJECT" --member="serviceAccount:$EMAIL" --role="$role" --all
done
say gcloud iam service-accounts delete "$EMAIL" --project="$PROJECT"
echo
echo 'The service accounts of the nodes and the teams, which have no roles any more:'
say gcloud iam service-accounts delete "$NODE_EMAIL" --project="$PROJECT"
for ((i = 0; i < ${#TEAM_ACCOUNTS[@]}; i++)); do
  say gcloud iam service-accounts delete "${TEAM_ACCOUNTS[i]}@$PROJECT.iam.gserviceaccount.com" --project="$PROJECT"
done
if ((${#CUSTOM_ROLES[@]} > 0)); then
  echo
  echo 'These custom roles can stay. Without a binding, a role gives no rights. If a role is'
  echo "deleted, its name cannot be used for up to 37 days: ${CUSTOM_ROLES[*]}"
fi
if [[ -n $IMAGE_EMAIL ]]; then
  echo
  echo 'The service account of image builds and its role, if somebody has created it:'
  say gcloud projects remove-iam-policy-binding "$PROJECT" --member="serviceAccount:$IMAGE_EMAIL" \
    --role=roles/logging.logWriter --condition=None
  say gcloud iam service-accounts delete "$IMAGE_EMAIL" --project="$PROJECT"
fi
echo
echo "The bucket for the $HOLDS, with its contents:"
say gcloud storage rm --recursive "gs://$BUCKET"
echo
# SERVICES
