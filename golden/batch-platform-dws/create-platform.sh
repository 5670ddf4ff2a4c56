#!/usr/bin/env bash
# Prepares the project, then builds the platform with Cloud Build.
# Run it again after any failure or change: what is there stays.
set -euo pipefail

NAME='gke-batch'
PROJECT='my-project'
REGION='us-central1'
BUILD_REGION='us-central1'
EMAIL='gke-batch-build@my-project.iam.gserviceaccount.com'
BUCKET='my-project-gke-batch-tfstate'
HOLDS='Terraform state'
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
  'cloudbuild.builds.list'
  'compute.reservationBlocks.get'
  'compute.reservationBlocks.list'
  'compute.reservations.create'
  'compute.reservations.delete'
  'compute.reservations.get'
  'compute.reservations.list'
  'compute.reservations.resize'
  'compute.reservations.update'
)
CUSTOM_ROLE='gke_batch_build'
ACCOUNT='gke-batch-build'
DISPLAY_NAME='Builds gke-batch'
NODE_ACCOUNT='gke-batch-nodes'
NODE_EMAIL='gke-batch-nodes@my-project.iam.gserviceaccount.com'
NODE_DISPLAY_NAME='Nodes of gke-batch'
CONDITION='api.getAttribute("iam.googleapis.com/modifiedGrantsByRole", []).hasOnly(["roles/artifactregistry.reader", "roles/container.clusterViewer", "roles/container.defaultNodeServiceAccount", "roles/logging.logWriter", "roles/monitoring.metricWriter", "roles/serviceusage.serviceUsageConsumer"])'
INFRASTRUCTURE_MANAGER='false'

fail() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit 1
}

# begin reads the command line and goes to the deploy folder. It sets GIVEN to
# whether the one option is there that the other script does not have, and
# WORKER_POOL.
begin() { # that option, arguments
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
  # A question in the middle of a script is not read; its default is the safe one.
  export CLOUDSDK_CORE_DISABLE_PROMPTS=1
}

need_way_in() {
  if [[ -z $WORKER_POOL && $NEEDS_WORKER_POOL == true ]]; then
    fail 'the control plane cannot be reached from outside its network: name a worker pool inside it, --worker-pool=POOL'
  fi
}

submit() { # build
  local arguments=(
    --project="$PROJECT" --region="$BUILD_REGION" --config="$1"
    --gcs-source-staging-dir="gs://$BUCKET/$SOURCE_PREFIX"
  )
  if [[ -n $WORKER_POOL ]]; then
    arguments+=(--worker-pool="$WORKER_POOL")
  fi
  echo "Submitting $1. Its log is in Cloud Logging, at the address below."
  # The errors are shown and kept.
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
    fail "Cloud Build does not run in $BUILD_REGION for project $PROJECT. Set delivery.region in the blueprint to a region in which it does, and compile again"
  fi
  fail "$1 has failed: mend the cause, then run this again"
}

usage() {
  cat <<END
Usage: create-platform.sh [--prepare] [--worker-pool=POOL]

Builds the platform $NAME in project $PROJECT, region $REGION:

  1. enables the APIs the platform needs
  2. creates the build's service account $EMAIL
     and gives it the rights to build the platform, and no others
  3. creates the nodes' service account, the bucket of the $HOLDS
     (gs://$BUCKET) and the Artifact Registry repository $REPOSITORY
  4. submits cloudbuild/provision.yaml and waits for it

Every step can be repeated. You need the gcloud CLI and, in the project, the
rights to enable services, to create service accounts, roles, buckets and
repositories, to change the IAM policy, and to submit builds as
$EMAIL.

Options:
  --prepare           stop before step 4
  --worker-pool=POOL  build in a private worker pool,
                      projects/PROJECT/locations/REGION/workerPools/NAME;
                      necessary where the cluster has no public DNS endpoint
  -h, --help          show this text
END
}

# attempt runs a command until it succeeds, for two minutes at most: an API that
# was just enabled, and an account that was just created, is unknown to other
# services for a while. What creates something must look first whether it is
# there: the attempt before may have succeeded without an answer.
attempt() {
  local tries=12 problem
  until problem=$("$@" 2>&1); do
    tries=$((tries - 1))
    if ((tries == 0)); then
      printf '%s\n' "$problem" >&2
      fail "this keeps failing: $*"
    fi
    sleep 10
  done
}

account() { # ID, e-mail address, display name
  if ! gcloud iam service-accounts describe "$2" --project="$PROJECT" >/dev/null 2>&1; then
    gcloud iam service-accounts create "$1" --project="$PROJECT" --display-name="$3"
  fi
}

ensure_repository() {
  if ! gcloud artifacts repositories describe "$REPOSITORY" --project="$PROJECT" --location="$BUILD_REGION" >/dev/null 2>&1; then
    gcloud artifacts repositories create "$REPOSITORY" --project="$PROJECT" --location="$BUILD_REGION" \
      --repository-format=docker --description="Images of the teams of $NAME"
  fi
}

# ensure_bucket asks the project for the bucket, and not the bucket itself: names of
# buckets are global, and the state must not go to a stranger's.
ensure_bucket() {
  local existing
  existing=$(gcloud storage buckets list --project="$PROJECT" --filter="name=\"$BUCKET\"" --format='value(name)') || return
  if [[ -z $existing ]]; then
    gcloud storage buckets create "gs://$BUCKET" --project="$PROJECT" --location="$BUILD_REGION" \
      --uniform-bucket-level-access --public-access-prevention || return
  fi
  gcloud storage buckets update "gs://$BUCKET" --versioning
}

# ensure_custom_role makes the build's role of permissions, or changes it to that. A
# deleted role can still be described for a week, but neither updated nor created
# anew.
ensure_custom_role() { # permissions
  local deleted
  if deleted=$(gcloud iam roles describe "$CUSTOM_ROLE" --project="$PROJECT" --format='value(deleted)' 2>/dev/null); then
    if [[ $deleted == True ]]; then
      gcloud iam roles undelete "$CUSTOM_ROLE" --project="$PROJECT" || return
    fi
    gcloud iam roles update "$CUSTOM_ROLE" --project="$PROJECT" --permissions="$1"
  else
    gcloud iam roles create "$CUSTOM_ROLE" --project="$PROJECT" --stage=GA --title="$DISPLAY_NAME" --permissions="$1"
  fi
}

grant() { # role, condition
  attempt gcloud projects add-iam-policy-binding "$PROJECT" --member="serviceAccount:$EMAIL" --role="$1" --condition="$2"
}

begin --prepare "$@"
prepare_only=$GIVEN
[[ $prepare_only == true ]] || need_way_in

echo "Preparing project $PROJECT for the platform $NAME."

echo '- APIs'
gcloud services enable "${APIS[@]}" --project="$PROJECT"

echo "- service account $EMAIL"
attempt account "$ACCOUNT" "$EMAIL" "$DISPLAY_NAME"

# The build may run machines as this account and as no other. Terraform takes
# the account over.
echo "- service account $NODE_EMAIL"
attempt account "$NODE_ACCOUNT" "$NODE_EMAIL" "$NODE_DISPLAY_NAME"
attempt gcloud iam service-accounts add-iam-policy-binding "$NODE_EMAIL" --project="$PROJECT" \
  --member="serviceAccount:$EMAIL" --role=roles/iam.serviceAccountUser --condition=None

# Infrastructure Manager acts as the build, at its request.
if [[ $INFRASTRUCTURE_MANAGER == true ]]; then
  attempt gcloud iam service-accounts add-iam-policy-binding "$EMAIL" --project="$PROJECT" \
    --member="serviceAccount:$EMAIL" --role=roles/iam.serviceAccountUser --condition=None
fi

echo "- Artifact Registry repository $REPOSITORY"
attempt ensure_repository

echo "- bucket gs://$BUCKET"
attempt ensure_bucket
attempt gcloud storage buckets add-iam-policy-binding "gs://$BUCKET" \
  --member="serviceAccount:$EMAIL" --role=roles/storage.admin --condition=None

echo '- roles of the build'
if ((${#PERMISSIONS[@]} > 0)); then
  list=$(
    IFS=,
    printf '%s' "${PERMISSIONS[*]}"
  )
  attempt ensure_custom_role "$list"
  grant "projects/$PROJECT/roles/$CUSTOM_ROLE" None
fi
for role in "${ROLES[@]}"; do
  grant "$role" None
done

# The build grants roles to the accounts it creates, and may grant and revoke no
# others than those. A binding with another condition is one from an earlier
# state of the platform: it stays until a build has revoked what only that state
# had.
admin=roles/resourcemanager.projectIamAdmin
# "^;^" makes the semicolon the separator: the expression has commas in it.
limit="^;^title=Roles of the accounts it creates;expression=$CONDITION"
wanted=$admin$'\t'$CONDITION
granted=$(gcloud projects get-iam-policy "$PROJECT" --flatten='bindings[].members' \
  --filter="bindings.role=\"$admin\" AND bindings.members=\"serviceAccount:$EMAIL\"" \
  --format='value(bindings.role,bindings.condition.expression)')
if [[ $'\n'$granted$'\n' != *$'\n'"$wanted"$'\n'* ]]; then
  grant "$admin" "$limit"
fi

if [[ $prepare_only == true ]]; then
  echo 'The project is prepared.'
  exit 0
fi

submit cloudbuild/provision.yaml

if [[ -n $granted && $granted != "$wanted" ]]; then
  gcloud projects remove-iam-policy-binding "$PROJECT" --member="serviceAccount:$EMAIL" --role="$admin" --all >/dev/null
  grant "$admin" "$limit"
fi
echo "The platform $NAME is built. README.md says what to do next."
