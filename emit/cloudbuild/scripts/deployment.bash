# deployment_state prints the state of the deployment, or nothing without one.
deployment_state() {
  gcloud infra-manager deployments list --project="$PROJECT" --location="$BUILD_REGION" \
    --format='value(name.basename(),state)' | awk -v name="${DEPLOYMENT##*/}" '$1 == name { print $2 }'
}

# settle waits until Infrastructure Manager no longer works on the deployment,
# and sets state. It sets busy if it had to wait.
settle() {
  local tries=200
  busy=false
  state=$(deployment_state)
  while [[ $state == CREATING || $state == UPDATING || $state == DELETING ]]; do
    busy=true
    tries=$((tries - 1))
    if ((tries == 0)); then
      printf 'The deployment is still %s.\n' "$state" >&2
      exit 1
    fi
    sleep 60
    state=$(deployment_state)
  done
}

