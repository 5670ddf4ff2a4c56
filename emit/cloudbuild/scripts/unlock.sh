#!/usr/bin/env bash
# Removes the lock that a build has left on the Terraform state: one that was
# cancelled, or ran out of time, during Terraform. No other build of the platform
# runs by now. Any other lock stays, and Terraform waits for it.
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
# The bucket keeps versions: with its generation, this lock is removed and no
# later one.
remove=(gcloud storage rm "$lock#$generation")

# A build's lock has two marks. Its owner, for which Terraform takes its user and
# its machine, is root and the ID of a container. And it was made, to the second,
# while a build ran that has ended since without success.
build=
if [[ $who =~ ^root@[0-9a-f]{12}$ && $holder =~ \"Created\":\ *\"([0-9-]{10}T[0-9:]{8})[.0-9]*Z\" ]]; then
  build=$(gcloud builds list --project="$PROJECT" --region="$BUILD_REGION" \
    --filter="tags=batchwright AND tags=$NAME" --format='value(startTime,finishTime,status,id)' |
    awk -v created="${BASH_REMATCH[1]}" 'NF == 4 && $3 != "SUCCESS" &&
      substr($1, 1, 19) <= created && created <= substr($2, 1, 19) { id = $4 } END { print id }')
fi
if [[ -n $build ]]; then
  echo "Build $build has left the Terraform state locked ($who): removing the lock."
  "${remove[@]}"
  exit 0
fi
printf 'The Terraform state is locked by %s, and not by a build of this platform that has failed:\n%s\n' "$who" "$holder"
printf 'If nobody works on it any more, remove the lock and run this again:\n '
printf ' %q' "${remove[@]}"
printf '\n'
