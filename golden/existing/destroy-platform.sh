#!/usr/bin/env bash
# Destroys the platform with Cloud Build. Run it again after any failure.
set -euo pipefail

NAME='research'
PROJECT='my-project'
REGION='us-central1'
BUILD_REGION='us-central1'
EMAIL='research-build@my-project.iam.gserviceaccount.com'
NODE_EMAIL='research-nodes@my-project.iam.gserviceaccount.com'
BUCKET='my-project-research-tfstate'
HOLDS='Terraform state'
SOURCE_PREFIX='research/source'
REPOSITORY='research'
NEEDS_WORKER_POOL='false'
APIS=(
  'artifactregistry.googleapis.com'
  'cloudbuild.googleapis.com'
  'cloudresourcemanager.googleapis.com'
  'compute.googleapis.com'
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
)
CUSTOM_ROLES=(
  'research_build'
  'research_node_pool_admin'
)
BUILD_ROLES=(
  'projects/my-project/roles/research_build'
  'roles/logging.logWriter'
  'roles/monitoring.alertPolicyEditor'
  'roles/monitoring.dashboardEditor'
  'projects/my-project/roles/research_node_pool_admin'
  'roles/resourcemanager.projectIamAdmin'
)
IMAGE_EMAIL='research-image@my-project.iam.gserviceaccount.com'
CLUSTER='prod'

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

  1. deletes from cluster $CLUSTER, which belongs to others, what the platform
     has added: the teams' namespaces with all their jobs, and all other objects
     with the label app.kubernetes.io/part-of=$NAME. A namespace that its
     owner has handed over stays. Its jobs stop and wait.
  2. deletes the node pools, and everything else that Terraform has created. The
     build fails if a bucket of a team still holds objects. The script names such
     buckets before it asks for confirmation; empty them first.

Nothing else in the cluster changes. The script keeps the bucket for the
$HOLDS, the Artifact Registry repository with its images, and the
service accounts of the builds, the nodes and the teams. At the end it prints the
commands that remove them. The APIs stay enabled.

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

if [[ $sure == false ]]; then
  echo "This removes the platform $NAME from cluster $CLUSTER of project $PROJECT: its node pools, its queues, and its teams' namespaces with every job in them. Everything else in the cluster stays."
  printf 'Type the name of the platform to go on: '
  answer=
  read -r answer || true
  [[ $answer == "$NAME" ]] || fail 'the name is different: nothing was destroyed'
fi

submit cloudbuild/destroy.yaml

cat <<END
The platform $NAME is destroyed. The resources below remain. If nothing else needs
a resource, remove it with its command.

The rights of the build in cluster $CLUSTER, which the owner of the cluster revokes:
  kubectl delete clusterrolebindings $NAME-build

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
echo "These APIs stay enabled, because the cluster and others in the project need them: ${APIS[*]}"
