#!/usr/bin/env bash
# Waits until the service account of this build has its rights. create-platform.sh
# grants them, and Google Cloud needs minutes to apply a grant everywhere. The first
# call needs the right that a new account gets last. The second call checks each
# permission that a later change of the platform may have added. COMMAND is the
# command that grants the rights.
set -euo pipefail

# lacking_permissions prints the permissions that the account lacks.
lacking_permissions() {
  local token body reply permission
  token=$(gcloud auth print-access-token) || return
  printf -v body '"%s",' "${wanted[@]}"
  reply=$(curl --fail --silent --show-error --config - --header 'Content-Type: application/json' \
    --data "{\"permissions\":[${body%,}]}" \
    "https://cloudresourcemanager.googleapis.com/v3/projects/$PROJECT:testIamPermissions" \
    <<<"header = \"Authorization: Bearer $token\"") || return
  for permission in "${wanted[@]}"; do
    [[ $reply == *"\"$permission\""* ]] || printf '%s ' "$permission"
  done
}

tries=60
read -ra wanted <<<"$PERMISSIONS"
until problem=$(gcloud projects get-iam-policy "$PROJECT" 2>&1) && problem=$(lacking_permissions 2>&1) && [[ -z $problem ]]; do
  tries=$((tries - 1))
  if ((tries == 0)); then
    printf '%s\nThe build still lacks rights on project %s. Run %s again.\n' "$problem" "$PROJECT" "$COMMAND" >&2
    exit 1
  fi
  sleep 10
done
