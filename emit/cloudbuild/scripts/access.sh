#!/usr/bin/env bash
# Waits until the rights that create-platform.sh has given this build's service
# account have arrived everywhere, which takes minutes after the first grant.
# The right to read the project's policy was granted last.
set -euo pipefail

tries=60
until problem=$(gcloud projects get-iam-policy "$PROJECT" 2>&1); do
  tries=$((tries - 1))
  if ((tries == 0)); then
    printf '%s\nThe build lacks its rights on project %s: run create-platform.sh again.\n' "$problem" "$PROJECT" >&2
    exit 1
  fi
  sleep 10
done
