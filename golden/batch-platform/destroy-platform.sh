#!/usr/bin/env bash
# Destroys the platform with Cloud Build. Run it again after any failure.
set -euo pipefail

NAME='gke-batch'
PROJECT='my-project'
REGION='us-central1'
EMAIL='gke-batch-build@my-project.iam.gserviceaccount.com'
BUCKET='my-project-gke-batch-tfstate'
SOURCE_PREFIX='gke-batch/source'
REPOSITORY='gke-batch'
NEEDS_WORKER_POOL='false'
APIS=(
  'artifactregistry.googleapis.com'
  'cloudbuild.googleapis.com'
  'cloudresourcemanager.googleapis.com'
  'compute.googleapis.com'
  'container.googleapis.com'
  'containerfilesystem.googleapis.com'
  'file.googleapis.com'
  'iam.googleapis.com'
  'iamcredentials.googleapis.com'
  'logging.googleapis.com'
  'monitoring.googleapis.com'
  'serviceusage.googleapis.com'
  'storage.googleapis.com'
)
ROLES=(
  'roles/compute.networkAdmin'
  'roles/compute.securityAdmin'
  'roles/container.admin'
  'roles/iam.serviceAccountAdmin'
  'roles/logging.logWriter'
  'roles/monitoring.alertPolicyEditor'
  'roles/monitoring.dashboardEditor'
  'roles/storage.admin'
)
PERMISSIONS=(
  'compute.reservations.create'
  'compute.reservations.delete'
  'compute.reservations.get'
  'compute.reservations.list'
  'compute.reservations.resize'
  'compute.reservations.update'
)
CUSTOM_ROLE='gke_batch_build'

usage() {
  cat <<END
Usage: destroy-platform.sh [--yes] [--worker-pool=POOL]

Destroys the platform $NAME in project $PROJECT, region $REGION,
through cloudbuild/destroy.yaml:

  1. stops the queues, deletes the teams' namespaces with all their jobs, and
     waits until load balancers and disks are gone
  2. switches the cluster's deletion protection off
  3. deletes everything Terraform has created. It stops at a bucket of a team
     that still holds objects: empty it, then destroy again.

The bucket of the Terraform state, the Artifact Registry repository with its
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

fail() {
  printf 'destroy-platform.sh: %s\n' "$1" >&2
  exit 1
}

# say prints a command so that it can be pasted into a shell.
say() {
  printf ' '
  printf ' %q' "$@"
  printf '\n'
}

sure=false
worker_pool=
while (($# > 0)); do
  case $1 in
  --yes) sure=true ;;
  --worker-pool=?*) worker_pool=${1#*=} ;;
  -h | --help)
    usage
    exit 0
    ;;
  *)
    usage >&2
    exit 2
    ;;
  esac
  shift
done

cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
command -v gcloud >/dev/null || fail 'gcloud is not installed: see https://cloud.google.com/sdk/docs/install'
if [[ -z $worker_pool && $NEEDS_WORKER_POOL == true ]]; then
  fail 'the control plane cannot be reached from outside its network: name a worker pool inside it, --worker-pool=POOL'
fi
export CLOUDSDK_CORE_DISABLE_PROMPTS=1

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

echo 'Submitting cloudbuild/destroy.yaml. Its log is in Cloud Logging, at the address below.'
arguments=(
  --project="$PROJECT" --region="$REGION" --config=cloudbuild/destroy.yaml
  --gcs-source-staging-dir="gs://$BUCKET/$SOURCE_PREFIX"
)
if [[ -n $worker_pool ]]; then
  arguments+=(--worker-pool="$worker_pool")
fi
gcloud builds submit . "${arguments[@]}"

cat <<END
The platform $NAME is destroyed. These remain; remove what nothing else needs.

The images of the teams:
END
say gcloud artifacts repositories delete "$REPOSITORY" --project="$PROJECT" --location="$REGION"
echo
echo "The build's service account with its roles:"
for role in "${ROLES[@]}" roles/resourcemanager.projectIamAdmin; do
  say gcloud projects remove-iam-policy-binding "$PROJECT" --member="serviceAccount:$EMAIL" --role="$role" --all
done
if ((${#PERMISSIONS[@]} > 0)); then
  say gcloud projects remove-iam-policy-binding "$PROJECT" --member="serviceAccount:$EMAIL" \
    --role="projects/$PROJECT/roles/$CUSTOM_ROLE" --all
  say gcloud iam roles delete "$CUSTOM_ROLE" --project="$PROJECT"
fi
say gcloud iam service-accounts delete "$EMAIL" --project="$PROJECT"
echo
echo 'The Terraform state in all its versions, and the sources of the builds:'
say gcloud storage rm --recursive "gs://$BUCKET"
echo
echo 'The APIs, in case the project has no other use for them:'
say gcloud services disable "${APIS[@]}" --project="$PROJECT"
