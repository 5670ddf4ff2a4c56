#!/usr/bin/env bash
# Destroys the platform with Cloud Build. Run it again after any failure.
set -euo pipefail

# VALUES

# COMMON

usage() {
  cat <<END
Usage: destroy-platform.sh [--yes] [--worker-pool=POOL]

Destroys the platform $NAME in project $PROJECT, region $REGION,
through cloudbuild/destroy.yaml:

  1. deletes the teams' namespaces with all their jobs, and waits until load
     balancers and disks are gone
  2. switches the cluster's deletion protection off
  3. deletes everything Terraform has created. It stops at a bucket of a team
     that still holds objects: empty it, then destroy again.

The bucket of the $HOLDS, the Artifact Registry repository with its
images, the build's service account and the APIs stay. The commands that remove
them are printed at the end.

Options:
  --yes               do not ask
  --worker-pool=POOL  build in a private worker pool,
                      projects/PROJECT/locations/REGION/workerPools/NAME;
                      necessary where the cluster has no public DNS endpoint
  -h, --help          show this text
END
}

# say prints a command so that it can be pasted into a shell.
say() {
  printf ' '
  printf ' %q' "$@"
  printf '\n'
}

begin --yes "$@"
sure=$GIVEN
need_way_in

existing=$(gcloud storage buckets list --project="$PROJECT" --filter="name=\"$BUCKET\"" --format='value(name)')
if [[ -z $existing ]]; then
  echo "Project $PROJECT has no bucket gs://$BUCKET, so nothing of the platform $NAME was ever built."
  exit 0
fi
gcloud iam service-accounts describe "$EMAIL" --project="$PROJECT" >/dev/null ||
  fail "the build's service account is needed once more: run ./create-platform.sh --prepare"

if [[ $sure == false ]]; then
  echo "This destroys the platform $NAME in project $PROJECT: the cluster, every job in it, and its network."
  printf 'Type the name of the platform to go on: '
  answer=
  read -r answer || true
  [[ $answer == "$NAME" ]] || fail 'nothing was destroyed'
fi

submit cloudbuild/destroy.yaml

cat <<END
The platform $NAME is destroyed. These remain; remove what nothing else needs.

The images of the teams:
END
say gcloud artifacts repositories delete "$REPOSITORY" --project="$PROJECT" --location="$BUILD_REGION"
echo
echo "The build's service account with its roles:"
for role in "${ROLES[@]}" roles/resourcemanager.projectIamAdmin; do
  say gcloud projects remove-iam-policy-binding "$PROJECT" --member="serviceAccount:$EMAIL" --role="$role" --all
done
if ((${#PERMISSIONS[@]} > 0)); then
  say gcloud projects remove-iam-policy-binding "$PROJECT" --member="serviceAccount:$EMAIL" \
    --role="projects/$PROJECT/roles/$CUSTOM_ROLE" --all
fi
say gcloud iam service-accounts delete "$EMAIL" --project="$PROJECT"
if ((${#PERMISSIONS[@]} > 0)); then
  echo
  echo "The custom role $CUSTOM_ROLE may stay: bound to nobody it gives no rights, and the"
  echo 'name of a deleted one is blocked for up to 37 days.'
fi
echo
echo "The bucket of the $HOLDS, with all it holds:"
say gcloud storage rm --recursive "gs://$BUCKET"
echo
echo 'The APIs, in case the project has no other use for them. They depend on each'
echo 'other, so it takes --force, which also disables whatever else depends on them:'
say gcloud services disable "${APIS[@]}" --project="$PROJECT" --force
