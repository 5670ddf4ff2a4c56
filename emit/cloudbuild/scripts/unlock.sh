#!/usr/bin/env bash
# Removes the lock that a build has left on the Terraform state: one that was
# cancelled, or ran out of time, during Terraform. No other build of the platform
# runs by now. The lock of a person stays, and Terraform waits for it.
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
# Terraform names its user and its machine. In a build these are root and the ID
# of a container.
if [[ $who =~ ^root@[0-9a-f]{12}$ ]]; then
  echo "A build that has ended left the Terraform state locked ($who): removing the lock."
  "${remove[@]}"
  exit 0
fi
printf 'The Terraform state is locked by %s:\n%s\nIf nobody works on it any more, remove the lock and run this again:\n ' "$who" "$holder"
printf ' %q' "${remove[@]}"
printf '\n'
