#!/usr/bin/env bash
# Lets the builds of a platform run one after the other, the oldest first. What
# an older build has left half done is then nobody's work any more, and the later
# steps of this build can repair it. A build that has not started has no start time,
# and waits for its own turn.
set -euo pipefail

tries=100
while true; do
  first=$(gcloud builds list --project="$PROJECT" --region="$BUILD_REGION" --ongoing \
    --filter="tags=batchwright AND tags=$NAME" --format='value(startTime,id)' |
    awk 'NF == 2 { if (!oldest || $1 < oldest) { oldest = $1; id = $2 } } END { print id }')
  if [[ -z $first || $first == "$BUILD" ]]; then
    break
  fi
  tries=$((tries - 1))
  if ((tries == 0)); then
    printf 'Build %s of this platform still runs. Run this again when it has ended, or stop it:\n  gcloud builds cancel %s --project=%s --region=%s\n' \
      "$first" "$first" "$PROJECT" "$BUILD_REGION" >&2
    exit 1
  fi
  echo "Waiting for build $first of this platform."
  sleep 30
done
