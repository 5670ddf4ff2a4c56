#!/usr/bin/env bash
# Builds the image IMAGE from the Dockerfile in the source of the build, and pushes it
# into REPOSITORY. Jobs name an image by its tag, so a tag never moves: the build stops
# if the repository already has the image.
set -euo pipefail

if ! [[ $IMAGE =~ ^[a-z0-9][a-z0-9._/-]*:[A-Za-z0-9_][A-Za-z0-9._-]*$ && $IMAGE != *:latest ]]; then
  printf 'The name of the image is "%s": submit the build with --substitutions=_IMAGE=NAME:TAG, and a tag other than latest.\n' \
    "$IMAGE" >&2
  exit 1
fi
if [[ ! -f Dockerfile ]]; then
  echo 'The directory that was submitted has no Dockerfile.' >&2
  exit 1
fi
full=$REPOSITORY/$IMAGE
# Without the answer of the repository the build must not push: the command's failure ends
# the script. Each line has the image without a tag, a tab, and its tags.
images=$(gcloud artifacts docker images list "$REPOSITORY" --include-tags --format='value(package,tags)')
tags=$(awk -F '\t' -v image="${full%:*}" '$1 == image { gsub(/[;,]/, " ", $2); print " " $2 " " }' <<<"$images")
if [[ $tags == *" ${full##*:} "* ]]; then
  printf 'The repository already has %s: choose another tag.\n' "$full" >&2
  exit 1
fi
docker build --tag "$full" .
docker push "$full"
printf 'The blueprint can name the image:\n  image: "%s"\n' \
  "$(docker inspect --format='{{index .RepoDigests 0}}' "$full")"
