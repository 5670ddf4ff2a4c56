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
