#!/usr/bin/env bash
# Destroys the platform with Cloud Build. Run it again after any failure.
set -euo pipefail

NAME='tpu-training'
PROJECT='my-project'
REGION='us-central2'
BUILD_REGION='us-central1'
EMAIL='tpu-training-build@my-project.iam.gserviceaccount.com'
NODE_EMAIL='tpu-training-nodes@my-project.iam.gserviceaccount.com'
BUCKET='my-project-tpu-training-tfstate'
HOLDS='sources of the builds'
SOURCE_PREFIX='tpu-training/source'
REPOSITORY='tpu-training'
NEEDS_WORKER_POOL='false'
APIS=(
  'aiplatform.googleapis.com'
  'artifactregistry.googleapis.com'
  'cloudbuild.googleapis.com'
  'cloudresourcemanager.googleapis.com'
  'compute.googleapis.com'
  'config.googleapis.com'
  'container.googleapis.com'
  'containerfilesystem.googleapis.com'
  'iam.googleapis.com'
  'iamcredentials.googleapis.com'
  'logging.googleapis.com'
  'monitoring.googleapis.com'
  'serviceusage.googleapis.com'
  'storage.googleapis.com'
)
TEAM_ACCOUNTS=(
  'wi-tpu-training'
)
CUSTOM_ROLES=(
  'tpu_training_build'
  'tpu_training_tensorboard_writer'
)
BUILD_ROLES=(
  'projects/my-project/roles/tpu_training_build'
  'roles/compute.networkAdmin'
  'roles/compute.securityAdmin'
  'roles/config.admin'
  'roles/config.agent'
  'roles/logging.logWriter'
  'roles/monitoring.alertPolicyEditor'
  'roles/monitoring.dashboardEditor'
  'roles/container.admin'
  'roles/storage.admin'
  'roles/resourcemanager.projectIamAdmin'
)
IMAGE_EMAIL='tpu-training-image@my-project.iam.gserviceaccount.com'
TEAM_BUCKETS=(
  'my-project-tpu-training-tpu-training'
)

# fail prints a message and ends the script with exit code 1.
fail() { # message
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit 1
}

# begin reads the command line and changes to the deploy folder. It sets GIVEN to true
# if the command line has the script's own option, and WORKER_POOL to the value of
# --worker-pool.
begin() { # the script's own option, arguments
  local option=$1
  GIVEN=false
  WORKER_POOL=
  while shift && (($# > 0)); do
    case $1 in
    "$option") GIVEN=true ;;
    --worker-pool=?*) WORKER_POOL=${1#*=} ;;
    -h | --help)
      usage
      exit 0
      ;;
    *)
      usage >&2
      exit 2
      ;;
    esac
  done
  cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
  command -v gcloud >/dev/null || fail 'gcloud is not installed: see https://cloud.google.com/sdk/docs/install'
  # gcloud must not ask in the middle of a script. Without prompts it takes the default
  # answer, which is the safe one.
  export CLOUDSDK_CORE_DISABLE_PROMPTS=1
}

# say prints a command with the quotes that it needs in a shell.
say() {
  printf ' '
  printf ' %q' "$@"
  printf '\n'
}

# need_way_in fails if the build could not reach the control plane.
need_way_in() {
  if [[ -z $WORKER_POOL && $NEEDS_WORKER_POOL == true ]]; then
    fail "a build outside the cluster's network cannot reach the control plane: name a private worker pool inside the network with --worker-pool=POOL"
  fi
}

# submit submits a build and waits until it ends.
submit() { # path of the build
  local arguments=(
    --project="$PROJECT" --region="$BUILD_REGION" --config="$1"
    --gcs-source-staging-dir="gs://$BUCKET/$SOURCE_PREFIX"
  )
  if [[ -n $WORKER_POOL ]]; then
    arguments+=(--worker-pool="$WORKER_POOL")
  fi
  echo "Submitting $1. The address of its log in Cloud Logging follows."
  # The messages of gcloud go to the terminal and to a file, which is searched below.
  local errors problem
  errors=$(mktemp)
  if { gcloud builds submit . "${arguments[@]}" 2>&1 >&3 | tee "$errors" >&2; } 3>&1; then
    rm -f "$errors"
    return
  fi
  problem=$(<"$errors")
  rm -f "$errors"
  # https://cloud.google.com/build/docs/locations, "Restricted regions for some projects"
  if [[ $problem == *'cannot run builds in this region'* || $problem == *'no concurrent builds quota'* ]]; then
    fail "Cloud Build does not run in $BUILD_REGION for project $PROJECT. Set delivery.region in the blueprint to another region, and compile again"
  fi
  fail "$1 has failed: correct the cause, then run this script again"
}

usage() {
  cat <<END
Usage: destroy-platform.sh [--yes] [--worker-pool=POOL]

Destroys the platform $NAME in project $PROJECT, region $REGION,
through cloudbuild/destroy.yaml:

  1. deletes the teams' namespaces with all their jobs, and waits until load
     balancers and disks are gone
  2. deletes the cluster, in spite of its deletion protection, and everything
     else that Terraform has created. The build fails if a bucket of a team still
     holds objects. The script names such buckets before it asks for confirmation.

The script keeps the bucket for the $HOLDS, the Artifact Registry
repository with its images, the service accounts of the builds, the nodes and the
teams, and the APIs. At the end it prints the commands that remove them.

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
need_way_in

existing=$(gcloud storage buckets list --project="$PROJECT" --filter="name=\"$BUCKET\"" --format='value(name)')
if [[ -z $existing ]]; then
  echo "Project $PROJECT has no bucket gs://$BUCKET, so nothing of the platform $NAME was ever built."
  exit 0
fi
gcloud iam service-accounts describe "$EMAIL" --project="$PROJECT" >/dev/null ||
  fail "the build's service account is missing: create it with ./create-platform.sh --prepare, then run this script again"

# The build deletes no bucket that holds objects. Without the right to list a bucket, only the
# build finds that out.
full=()
for bucket in "${TEAM_BUCKETS[@]}"; do
  if read -r _ < <(gcloud storage ls --all-versions "gs://$bucket/**" 2>/dev/null); then
    full+=("gs://$bucket")
  fi
done
if ((${#full[@]} > 0)); then
  echo 'These buckets hold objects. The build would delete everything else, and then fail at them.'
  echo 'README.md says how to empty or keep a bucket:'
  printf '  %s\n' "${full[@]}"
fi
if [[ $sure == false ]]; then
  echo "This destroys the platform $NAME in project $PROJECT: the cluster, every job in it, and its network."
  printf 'Type the name of the platform to go on: '
  answer=
  read -r answer || true
  [[ $answer == "$NAME" ]] || fail 'the name is different: nothing was destroyed'
fi

submit cloudbuild/destroy.yaml

cat <<END
The platform $NAME is destroyed. The resources below remain. If nothing else needs
a resource, remove it with its command.

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
echo 'The APIs. They depend on each other, so the command needs --force. It also disables'
echo 'all other APIs that depend on them. Run it only if the project does not need them:'
say gcloud services disable "${APIS[@]}" --project="$PROJECT" --force
