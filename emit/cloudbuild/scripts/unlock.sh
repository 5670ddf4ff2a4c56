#!/usr/bin/env bash
# Removes the lock on the Terraform state if a build has left it. A build leaves its
# lock if it is cancelled or runs out of time while Terraform runs. No other build of
# the platform runs at this point. All other locks stay, and Terraform waits for their
# release.
set -euo pipefail

lock=$STATE/default.tflock
if ! generation=$(gcloud storage objects describe "$lock" --format='value(generation)' 2>/dev/null); then
  echo 'The Terraform state is not locked.'
  exit 0
fi
holder=$(gcloud storage cat "$lock")
who=unknown
if [[ $holder =~ \"Who\":\ *\"([^\"]*)\" ]]; then
  who=${BASH_REMATCH[1]}
fi
# The generation selects this version of the lock file. A lock that somebody takes later
# is another version, and stays.
remove=(gcloud storage rm "$lock#$generation")

# A build left the lock if both are true: the owner is root@CONTAINER-ID, because
# Terraform writes its user and its host name; and the lock was created during a build
# that has since ended without success.
build=
if [[ $who =~ ^root@[0-9a-f]{12}$ && $holder =~ \"Created\":\ *\"([0-9-]{10}T[0-9:]{8})[.0-9]*Z\" ]]; then
  build=$(gcloud builds list --project="$PROJECT" --region="$BUILD_REGION" \
    --filter="tags=batchwright AND tags=$NAME" --format='value(startTime,finishTime,status,id)' |
    awk -v created="${BASH_REMATCH[1]}" 'NF == 4 && $3 != "SUCCESS" &&
      substr($1, 1, 19) <= created && created <= substr($2, 1, 19) { id = $4 } END { print id }')
fi
if [[ -n $build ]]; then
  echo "Build $build has left the Terraform state locked ($who). Removing the lock."
  "${remove[@]}"
  exit 0
fi
printf 'The Terraform state is locked by %s. No failed build of this platform has left this lock:\n%s\n' "$who" "$holder"
printf 'If nobody works on the state any more, remove the lock with this command, then submit this build again:\n '
printf ' %q' "${remove[@]}"
printf '\n'
