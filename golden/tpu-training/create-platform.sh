#!/usr/bin/env bash
# Prepares the project, then builds the platform with Cloud Build. Run the
# script again after any failure or change: it keeps all resources that exist.
set -euo pipefail

NAME='tpu-training'
PROJECT='my-project'
REGION='us-west4'
BUILD_REGION='us-west4'
EMAIL='tpu-training-build@my-project.iam.gserviceaccount.com'
NODE_EMAIL='tpu-training-nodes@my-project.iam.gserviceaccount.com'
BUCKET='my-project-tpu-training-tfstate'
HOLDS='Terraform state'
SOURCE_PREFIX='tpu-training/source'
REPOSITORY='tpu-training'
NEEDS_WORKER_POOL='false'
APIS=(
  'aiplatform.googleapis.com'
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
  'roles/logging.logWriter'
  'roles/monitoring.alertPolicyEditor'
  'roles/monitoring.dashboardEditor'
  'roles/container.admin'
  'roles/storage.admin'
  'roles/resourcemanager.projectIamAdmin'
)
ACCOUNT='tpu-training-build'
DISPLAY_NAME='Builds tpu-training'
NODE_ACCOUNT='tpu-training-nodes'
NODE_DISPLAY_NAME='Nodes of tpu-training'
TEAM_DISPLAY_NAMES=(
  'Jobs of tpu-training in tpu-training'
)
TEAM_SUBJECTS=(
  'tpu-training/tpu-training-ksa'
)
CUSTOM_TITLES=(
  'Builds tpu-training'
  'Writes to the TensorBoard of tpu-training'
)
CUSTOM_PERMISSIONS=(
  'aiplatform.locations.get,aiplatform.tensorboards.create,aiplatform.tensorboards.delete,aiplatform.tensorboards.get,aiplatform.tensorboards.list,aiplatform.tensorboards.update,cloudbuild.builds.list,storage.buckets.create'
  'aiplatform.artifacts.create,aiplatform.artifacts.get,aiplatform.artifacts.list,aiplatform.artifacts.update,aiplatform.contexts.addContextArtifactsAndExecutions,aiplatform.contexts.addContextChildren,aiplatform.contexts.create,aiplatform.contexts.get,aiplatform.contexts.list,aiplatform.contexts.queryContextLineageSubgraph,aiplatform.contexts.update,aiplatform.executions.addExecutionEvents,aiplatform.executions.create,aiplatform.executions.get,aiplatform.executions.list,aiplatform.executions.queryExecutionInputsAndOutputs,aiplatform.executions.update,aiplatform.locations.get,aiplatform.metadataSchemas.create,aiplatform.metadataSchemas.get,aiplatform.metadataSchemas.list,aiplatform.metadataStores.create,aiplatform.metadataStores.get,aiplatform.metadataStores.list,aiplatform.tensorboardExperiments.create,aiplatform.tensorboardExperiments.get,aiplatform.tensorboardExperiments.list,aiplatform.tensorboardExperiments.update,aiplatform.tensorboardExperiments.write,aiplatform.tensorboardRuns.batchCreate,aiplatform.tensorboardRuns.create,aiplatform.tensorboardRuns.get,aiplatform.tensorboardRuns.list,aiplatform.tensorboardRuns.update,aiplatform.tensorboardRuns.write,aiplatform.tensorboardTimeSeries.batchCreate,aiplatform.tensorboardTimeSeries.batchRead,aiplatform.tensorboardTimeSeries.create,aiplatform.tensorboardTimeSeries.get,aiplatform.tensorboardTimeSeries.list,aiplatform.tensorboardTimeSeries.read,aiplatform.tensorboardTimeSeries.update,aiplatform.tensorboards.get,aiplatform.tensorboards.list'
)
BUILD_CONDITIONS=(
  ''
  ''
  ''
  ''
  ''
  ''
  'resource.type != "container.googleapis.com/Cluster" || resource.name == "projects/my-project/locations/us-west4/clusters/tpu-training" || resource.name.startsWith("projects/my-project/locations/us-west4/clusters/tpu-training/")'
  'resource.name.startsWith("projects/_/buckets/my-project-tpu-training-")'
  'api.getAttribute("iam.googleapis.com/modifiedGrantsByRole", []).hasOnly(["projects/my-project/roles/tpu_training_tensorboard_writer", "roles/artifactregistry.reader", "roles/container.defaultNodeServiceAccount", "roles/logging.logWriter", "roles/monitoring.metricWriter", "roles/serviceusage.serviceUsageConsumer"])'
)
BUILD_TITLES=(
  ''
  ''
  ''
  ''
  ''
  ''
  'Cluster tpu-training'
  'Buckets of the teams of tpu-training'
  'Roles of nodes, jobs and members'
)
INFRASTRUCTURE_MANAGER='false'

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
Usage: create-platform.sh [--prepare] [--worker-pool=POOL]

Builds the platform $NAME in project $PROJECT, region $REGION:

  1. enables the APIs that the platform needs
  2. creates the build's service account $EMAIL
     and gives it the rights to build the platform. They apply to the platform's
     own cluster and its teams' buckets, and to the networks, firewall rules,
     reservations, TensorBoards, dashboards and alert policies of the whole
     project; REFERENCE.md lists them
  3. creates the service accounts of the nodes and of each team that has one, the
     custom roles of jobs and members, the bucket for the $HOLDS
     (gs://$BUCKET) and the Artifact Registry repository $REPOSITORY
  4. submits cloudbuild/provision.yaml and waits until the build ends
  5. lets the jobs of each team act as the team's service account, names every
     other member who may act as it, and revokes the roles that the build no
     longer needs

Every step can be repeated, also after a failure. You need the gcloud CLI and
these rights in the project: to enable services, to create service accounts,
roles, buckets and repositories, to change IAM policies, and to submit builds as
$EMAIL.
README.md lists the roles.

Options:
  --prepare           stop before step 4, and print the commands of step 5
  --worker-pool=POOL  build in a private worker pool,
                      projects/PROJECT/locations/REGION/workerPools/NAME;
                      required if the cluster has no public DNS endpoint
  -h, --help          show this text
END
}

# attempt runs a command until it succeeds, for at most two minutes: other services
# learn of a new account or a newly enabled API only after a while. A command that
# creates a resource must first check whether the resource exists, because an attempt
# can create it and still fail.
attempt() { # command
  local tries=12 problem
  until problem=$("$@" 2>&1); do
    tries=$((tries - 1))
    if ((tries == 0)); then
      printf '%s\n' "$problem" >&2
      fail "this command keeps failing; correct the cause and run this script again: $*"
    fi
    sleep 10
  done
}

# account creates a service account if it does not exist.
account() { # ID, email address, display name
  if ! gcloud iam service-accounts describe "$2" --project="$PROJECT" >/dev/null 2>&1; then
    gcloud iam service-accounts create "$1" --project="$PROJECT" --display-name="$3"
  fi
}

# ensure_repository creates the repository for the teams' images if it does not exist.
ensure_repository() {
  if ! gcloud artifacts repositories describe "$REPOSITORY" --project="$PROJECT" --location="$BUILD_REGION" >/dev/null 2>&1; then
    gcloud artifacts repositories create "$REPOSITORY" --project="$PROJECT" --location="$BUILD_REGION" \
      --repository-format=docker --description="Images of the teams of $NAME"
  fi
}

# ensure_bucket creates the bucket if the project does not have it. It searches the
# project's buckets because names are global: a bucket of the same name in another
# project must not receive the state.
ensure_bucket() {
  local existing
  existing=$(gcloud storage buckets list --project="$PROJECT" --filter="name=\"$BUCKET\"" --format='value(name)') || return
  if [[ -z $existing ]]; then
    gcloud storage buckets create "gs://$BUCKET" --project="$PROJECT" --location="$BUILD_REGION" \
      --uniform-bucket-level-access --public-access-prevention || return
  fi
  gcloud storage buckets update "gs://$BUCKET" --versioning
}

# owned_account creates the service account of the nodes or of a team. If the account
# exists, its display name must show that it belongs to the nodes or this team of this
# platform, because they get the account's rights, and destroying the platform revokes
# its roles.
owned_account() { # ID, display name, field of the blueprint, owner in words
  local owner address=$1@$PROJECT.iam.gserviceaccount.com
  echo "- service account $address"
  if owner=$(gcloud iam service-accounts describe "$address" --project="$PROJECT" --format='value(displayName)' 2>/dev/null); then
    [[ $owner == "$2" ]] || fail "service account $address exists and is called \"$owner\", not \"$2\": \
set another account in $3 of the blueprint, or give this account to $4: \
gcloud iam service-accounts update $address --project=$PROJECT --display-name=\"$2\""
  else
    attempt account "$1" "$address" "$2"
  fi
}

# ensure_custom_role creates a custom role, or sets the permissions of an existing one.
# A deleted role still exists for a week. It must be undeleted, because it can neither
# be updated nor be created again.
ensure_custom_role() { # ID, title, permissions
  local deleted
  if deleted=$(gcloud iam roles describe "$1" --project="$PROJECT" --format='value(deleted)' 2>/dev/null); then
    if [[ $deleted == True ]]; then
      gcloud iam roles undelete "$1" --project="$PROJECT" || return
    fi
    gcloud iam roles update "$1" --project="$PROJECT" --permissions="$3"
  else
    gcloud iam roles create "$1" --project="$PROJECT" --stage=GA --title="$2" --permissions="$3"
  fi
}

# rights prints the build's bindings on the project, one on each line: the role, and
# the expression, title and description of the condition, separated by tabs.
rights() {
  gcloud projects get-iam-policy "$PROJECT" --flatten='bindings[].members' \
    --filter="bindings.members=\"serviceAccount:$EMAIL\"" \
    --format='value(bindings.role,bindings.condition.expression,bindings.condition.title,bindings.condition.description)'
}

# has_line reports whether a text contains a line.
has_line() { # text, line
  [[ $'\n'$1$'\n' == *$'\n'"$2"$'\n'* ]]
}

# condition_flag prints the value of --condition for one binding.
condition_flag() { # expression, title, description
  if [[ -z $1 ]]; then
    printf None
    return
  fi
  # "^;^" makes the semicolon the separator, because the expression contains commas.
  printf '^;^title=%s;expression=%s' "$2" "$1"
  [[ -z $3 ]] || printf ';description=%s' "$3"
}

# grant gives the build a role on the project.
grant() { # role, expression, title of the condition
  attempt gcloud projects add-iam-policy-binding "$PROJECT" --member="serviceAccount:$EMAIL" --role="$1" \
    --condition="$(condition_flag "$2" "$3" '')"
}

# stale prints the build's bindings that this folder does not need, in the format of
# rights. Google Cloud distinguishes the bindings of a role by their conditions.
# Therefore, removing a stale binding never interrupts the valid binding of the role.
stale() {
  local line
  while IFS= read -r line; do
    [[ -z $line ]] || has_line "$wanted" "$line" || printf '%s\n' "$line"
  done <<<"$granted"
}

# revoke runs or prints the command that removes each stale binding.
revoke() { # nothing, or "say" to print
  local role expression title description
  while IFS=$'\t' read -r role expression title description <&3; do
    "$@" gcloud projects remove-iam-policy-binding "$PROJECT" --member="serviceAccount:$EMAIL" --role="$role" \
      --condition="$(condition_flag "$expression" "$title" "$description")"
  done 3< <(stale)
}

# act_as prints a line for each team's service account: the account's address, and the
# member who must be able to act as it, the Kubernetes service account of the team.
act_as() {
  local i
  for ((i = 0; i < ${#TEAM_ACCOUNTS[@]}; i++)); do
    printf '%s serviceAccount:%s.svc.id.goog[%s]\n' "${TEAM_ACCOUNTS[i]}@$PROJECT.iam.gserviceaccount.com" "$PROJECT" "${TEAM_SUBJECTS[i]}"
  done
}

# actors prints the members who may act as a service account, one on each line.
actors() { # address
  gcloud iam service-accounts get-iam-policy "$1" --project="$PROJECT" --flatten='bindings[].members' \
    --filter="bindings.role=\"$IDENTITY\"" --format='value(bindings.members)'
}

# name_others prints the other members who may act as a team's service account, and
# the commands that revoke this right. Such a member remains after the team's namespace
# was renamed. The script does not revoke the right itself, because an administrator
# may have granted it.
name_others() { # address, the team's member, the members
  local other
  while IFS= read -r other; do
    if [[ -n $other && $other != "$2" ]]; then
      printf '%s may also act as %s. If it should not, revoke the right:\n' "$other" "$1"
      say gcloud iam service-accounts remove-iam-policy-binding "$1" --project="$PROJECT" --member="$other" --role="$IDENTITY" --all
    fi
  done <<<"$3"
}

# IDENTITY is the role that lets a member act as a service account.
IDENTITY=roles/iam.workloadIdentityUser

begin --prepare "$@"
prepare_only=$GIVEN
[[ $prepare_only == true ]] || need_way_in

echo "Preparing project $PROJECT for the platform $NAME."

echo '- APIs'
gcloud services enable "${APIS[@]}" --project="$PROJECT"

echo "- service account $EMAIL"
attempt account "$ACCOUNT" "$EMAIL" "$DISPLAY_NAME"

# This is the only service account that the build may attach to machines.
owned_account "$NODE_ACCOUNT" "$NODE_DISPLAY_NAME" cluster.nodes.serviceAccount 'the nodes'
attempt gcloud iam service-accounts add-iam-policy-binding "$NODE_EMAIL" --project="$PROJECT" \
  --member="serviceAccount:$EMAIL" --role=roles/iam.serviceAccountUser --condition=None

# The build asks Infrastructure Manager to run Terraform as the build's own service
# account. For this, the account needs the right to act as itself.
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

for ((i = 0; i < ${#TEAM_ACCOUNTS[@]}; i++)); do
  owned_account "${TEAM_ACCOUNTS[i]}" "${TEAM_DISPLAY_NAMES[i]}" teams.TEAM.serviceAccount 'the team'
done

for ((i = 0; i < ${#CUSTOM_ROLES[@]}; i++)); do
  echo "- custom role ${CUSTOM_ROLES[i]}"
  attempt ensure_custom_role "${CUSTOM_ROLES[i]}" "${CUSTOM_TITLES[i]}" "${CUSTOM_PERMISSIONS[i]}"
done

# The last role in the list lets the build grant and revoke the roles of the nodes,
# jobs and members, and no others. It is the last because the build waits for it. A
# binding of another role, or with another condition, belongs to an earlier state of
# the platform. It stays until a build has removed the resources of the earlier state.
echo '- roles of the build'
granted=$(rights)
wanted=
for ((i = 0; i < ${#BUILD_ROLES[@]}; i++)); do
  line=${BUILD_ROLES[i]}$'\t'${BUILD_CONDITIONS[i]}$'\t'${BUILD_TITLES[i]}$'\t'
  wanted+=$line$'\n'
  has_line "$granted" "$line" || grant "${BUILD_ROLES[i]}" "${BUILD_CONDITIONS[i]}" "${BUILD_TITLES[i]}"
done

if [[ $prepare_only == true ]]; then
  echo 'The project is prepared.'
  if ((${#TEAM_ACCOUNTS[@]} > 0)); then
    echo "Once the cluster exists, run these commands to let the teams' jobs act as their service accounts:"
    act_as | while read -r address member; do
      say gcloud iam service-accounts add-iam-policy-binding "$address" --project="$PROJECT" \
        --member="$member" --role="$IDENTITY" --condition=None
    done
    while read -r address member <&3; do
      # A new account may still be unknown. Then nobody may act as it.
      present=$(actors "$address" 2>/dev/null) || continue
      name_others "$address" "$member" "$present"
    done 3< <(act_as)
  fi
  if [[ -n $(stale) ]]; then
    echo 'Once this folder is built, run these commands to revoke the roles that the build no longer needs:'
    revoke say
  fi
  exit 0
fi

submit cloudbuild/provision.yaml

# The teams' Kubernetes service accounts can be members of a binding only once the
# project has a cluster with Workload Identity.
while read -r address member <&3; do
  present=$(actors "$address")
  has_line "$present" "$member" ||
    attempt gcloud iam service-accounts add-iam-policy-binding "$address" --project="$PROJECT" --member="$member" --role="$IDENTITY" --condition=None
  name_others "$address" "$member" "$present"
done 3< <(act_as)

revoke >/dev/null
echo "The platform $NAME is built. README.md says how to see that it works, and USING.md how to submit jobs."
