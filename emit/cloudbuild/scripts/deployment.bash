# deployment_state prints the state of the deployment, or nothing if there is no
# deployment.
deployment_state() {
  gcloud infra-manager deployments list --project="$PROJECT" --location="$BUILD_REGION" \
    --format='value(name.basename(),state)' | awk -v name="${DEPLOYMENT##*/}" '$1 == name { print $2 }'
}

# settle waits until Infrastructure Manager no longer works on the deployment, and
# sets state to the deployment's state. It sets busy to true if it had to wait.
settle() {
  local tries=200
  busy=false
  state=$(deployment_state)
  while [[ $state == CREATING || $state == UPDATING || $state == DELETING ]]; do
    busy=true
    tries=$((tries - 1))
    if ((tries == 0)); then
      printf 'The deployment is still %s. Submit this build again when Infrastructure Manager has finished.\n' "$state" >&2
      exit 1
    fi
    sleep 60
    state=$(deployment_state)
  done
}

