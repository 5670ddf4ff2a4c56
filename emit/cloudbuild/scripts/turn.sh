#!/usr/bin/env bash
# Lets the builds of a platform run one after the other, the oldest first. After this
# step no older build runs, and the later steps of this build can repair what an
# interrupted build has left. A build without a start time has not started yet, and
# waits for its turn later.
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
    printf 'Build %s of this platform still runs. Wait until it has ended and submit this build again, or cancel it:\n  gcloud builds cancel %s --project=%s --region=%s\n' \
      "$first" "$first" "$PROJECT" "$BUILD_REGION" >&2
    exit 1
  fi
  echo "Waiting for build $first of this platform."
  sleep 30
done
