#!/usr/bin/env bash
# Prepares the project, then builds the platform with Cloud Build.
# Run it again after any failure or change: what is there stays.
set -euo pipefail

# VALUES

usage() {
  cat <<END
Usage: create-platform.sh [--prepare] [--worker-pool=POOL]

Builds the platform $NAME in project $PROJECT, region $REGION:

  1. enables the APIs the platform needs
  2. creates the build's service account $EMAIL
     and gives it the rights to build the platform, and no others
  3. creates the nodes' service account, the bucket of the Terraform state
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

fail() {
  printf 'create-platform.sh: %s\n' "$1" >&2
  exit 1
}

# attempt runs a command until it succeeds, for two minutes at most: a service
# account that was just created is unknown to other services for a while.
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

grant() { # role, condition
  attempt gcloud projects add-iam-policy-binding "$PROJECT" --member="serviceAccount:$EMAIL" --role="$1" --condition="$2"
}

prepare_only=false
worker_pool=
while (($# > 0)); do
  case $1 in
  --prepare) prepare_only=true ;;
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
if [[ -z $worker_pool && $prepare_only == false && $NEEDS_WORKER_POOL == true ]]; then
  fail 'the control plane cannot be reached from outside its network: name a worker pool inside it, --worker-pool=POOL'
fi
# A question in the middle of a script is not read; its default is the safe one.
export CLOUDSDK_CORE_DISABLE_PROMPTS=1

echo "Preparing project $PROJECT for the platform $NAME."

echo '- APIs'
gcloud services enable "${APIS[@]}" --project="$PROJECT"

echo "- service account $EMAIL"
account "$ACCOUNT" "$EMAIL" "$DISPLAY_NAME"

# The build may run machines as this account and as no other. Terraform takes
# the account over.
echo "- service account $NODE_EMAIL"
account "$NODE_ACCOUNT" "$NODE_EMAIL" "$NODE_DISPLAY_NAME"
attempt gcloud iam service-accounts add-iam-policy-binding "$NODE_EMAIL" --project="$PROJECT" \
  --member="serviceAccount:$EMAIL" --role=roles/iam.serviceAccountUser --condition=None

echo "- Artifact Registry repository $REPOSITORY"
if ! gcloud artifacts repositories describe "$REPOSITORY" --project="$PROJECT" --location="$REGION" >/dev/null 2>&1; then
  gcloud artifacts repositories create "$REPOSITORY" --project="$PROJECT" --location="$REGION" \
    --repository-format=docker --description="Images of the teams of $NAME"
fi

# Asked of the project, not of the bucket: names of buckets are global, and the
# state must not go to a stranger's.
echo "- bucket gs://$BUCKET"
existing=$(gcloud storage buckets list --project="$PROJECT" --filter="name=\"$BUCKET\"" --format='value(name)')
if [[ -z $existing ]]; then
  gcloud storage buckets create "gs://$BUCKET" --project="$PROJECT" --location="$REGION" \
    --uniform-bucket-level-access --public-access-prevention
fi
attempt gcloud storage buckets add-iam-policy-binding "gs://$BUCKET" \
  --member="serviceAccount:$EMAIL" --role=roles/storage.admin --condition=None

echo '- roles of the build'
if ((${#PERMISSIONS[@]} > 0)); then
  list=$(
    IFS=,
    printf '%s' "${PERMISSIONS[*]}"
  )
  if gcloud iam roles describe "$CUSTOM_ROLE" --project="$PROJECT" >/dev/null 2>&1; then
    gcloud iam roles update "$CUSTOM_ROLE" --project="$PROJECT" --permissions="$list" >/dev/null
  else
    gcloud iam roles create "$CUSTOM_ROLE" --project="$PROJECT" --stage=GA --title="$DISPLAY_NAME" \
      --permissions="$list" >/dev/null
  fi
  grant "projects/$PROJECT/roles/$CUSTOM_ROLE" None
fi
for role in "${ROLES[@]}"; do
  grant "$role" None
done

# The build grants roles to the accounts it creates, and may grant no others
# than those. A binding with another condition is one from an earlier state of
# the platform.
admin=roles/resourcemanager.projectIamAdmin
wanted=$admin$'\t'$CONDITION
granted=$(gcloud projects get-iam-policy "$PROJECT" --flatten='bindings[].members' \
  --filter="bindings.role=\"$admin\" AND bindings.members=\"serviceAccount:$EMAIL\"" \
  --format='value(bindings.role,bindings.condition.expression)')
if [[ $granted != "$wanted" ]]; then
  if [[ -n $granted ]]; then
    gcloud projects remove-iam-policy-binding "$PROJECT" --member="serviceAccount:$EMAIL" --role="$admin" --all >/dev/null
  fi
  # "^;^" makes the semicolon the separator: the expression has commas in it.
  grant "$admin" "^;^title=Roles of the accounts it creates;expression=$CONDITION"
fi

if [[ $prepare_only == true ]]; then
  echo 'The project is prepared.'
  exit 0
fi

echo 'Submitting cloudbuild/provision.yaml. Its log is in Cloud Logging, at the address below.'
arguments=(
  --project="$PROJECT" --region="$REGION" --config=cloudbuild/provision.yaml
  --gcs-source-staging-dir="gs://$BUCKET/$SOURCE_PREFIX"
)
if [[ -n $worker_pool ]]; then
  arguments+=(--worker-pool="$worker_pool")
fi
gcloud builds submit . "${arguments[@]}"
echo "The platform $NAME is built. README.md says what to do next."
