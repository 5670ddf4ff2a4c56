#!/usr/bin/env bash
# Copies the images and manifests that the platform needs to the places from which it
# takes them. Run the script again after each change of a version: it keeps copies that
# exist.
set -euo pipefail

NAME='shared-vpc'
PROJECT='my-project'
MIRROR='us-docker.pkg.dev/net-host/mirror'
FOLDER='gs://net-host-mirror/manifests'
IMAGES=(
  'gcr.io/google.com/cloudsdktool/google-cloud-cli:573.0.0'
  'hashicorp/terraform:1.13.5@sha256:6bbb82d575aa7bd4f0a2c6e3a0838ab9590426c08a71d7a2783643f01004d356'
  'registry.k8s.io/kueue/kueue:v0.19.2'
  'registry.k8s.io/jobset/jobset:v0.12.0'
  'us-docker.pkg.dev/gce-ai-infra/gpudirect-gib/nccl-plugin-gib:v1.1.2'
  'gke.gcr.io/pause:3.8@sha256:880e63f94b145e46f1b1082bb71b85e21f16b99b180b9996407d61240ceb9830'
)
WHOLE_NAMES=(
  'gcr.io/google.com/cloudsdktool/google-cloud-cli:573.0.0'
  'docker.io/hashicorp/terraform:1.13.5@sha256:6bbb82d575aa7bd4f0a2c6e3a0838ab9590426c08a71d7a2783643f01004d356'
  'registry.k8s.io/kueue/kueue:v0.19.2'
  'registry.k8s.io/jobset/jobset:v0.12.0'
  'us-docker.pkg.dev/gce-ai-infra/gpudirect-gib/nccl-plugin-gib:v1.1.2'
  'gke.gcr.io/pause:3.8@sha256:880e63f94b145e46f1b1082bb71b85e21f16b99b180b9996407d61240ceb9830'
)
MANIFESTS=(
  'https://github.com/kubernetes-sigs/kueue/releases/download/v0.19.2/manifests.yaml'
  'https://github.com/kubernetes-sigs/jobset/releases/download/v0.12.0/manifests.yaml'
)
FILES=(
  'kueue-0.19.2.yaml'
  'jobset-0.12.0.yaml'
)
DIGESTS=(
  '88881eb50734eb920b67486ebc2aa978ed325e1b12d99b22fc51a6d7e9e4d370'
  'a41aaf12dd0b7b0a3d626b8d6107f32c3dc889d7e7830adc46b8cdb77a8963bb'
)

usage() {
  cat <<END
Usage: mirror.sh [--list]

Copies the images and manifests that the platform $NAME installs. You need crane
(https://github.com/google/go-containerregistry) for images, signed in to the mirror,
and the gcloud CLI for manifests. Run it where the public registries can be reached.

Options:
  --list      print each original and its copy, and copy nothing
  -h, --help  show this text
END
}

# copy_image copies an image with all its platforms, unless the copy exists. A tag whose
# digest is pinned has both: the copy is made by digest, so that it is exactly the pinned
# image.
copy_image() { # original, copy
  if crane digest "$2" >/dev/null 2>&1; then
    echo "exists: $2"
    return
  fi
  # A copy by digest alone has no tag, and a registry may delete it.
  crane copy "$1" "${2%@*}"
  crane digest "$2" >/dev/null
  echo "copied: $2"
}

# copy_manifest copies a manifest, and compares its SHA-256 first.
copy_manifest() { # URL, copy, SHA-256 or nothing
  local work
  work=$(mktemp)
  curl --fail --location --output "$work" "$1"
  if [[ -n $3 ]] && ! sha256sum --check <<<"$3  $work" >/dev/null; then
    rm -f "$work"
    printf '%s does not have the SHA-256 %s. It was not copied.\n' "$1" "$3" >&2
    exit 1
  fi
  gcloud storage cp "$work" "$2" --project="$PROJECT"
  rm -f "$work"
  echo "copied: $2"
}

list=false
case ${1-} in
'') ;;
--list) list=true ;;
-h | --help)
  usage
  exit 0
  ;;
*)
  usage >&2
  exit 2
  ;;
esac

for ((i = 0; i < ${#IMAGES[@]}; i++)); do
  if [[ $list == true ]]; then
    echo "${IMAGES[i]} $MIRROR/${WHOLE_NAMES[i]}"
  else
    copy_image "${IMAGES[i]}" "$MIRROR/${WHOLE_NAMES[i]}"
  fi
done
for ((i = 0; i < ${#MANIFESTS[@]}; i++)); do
  if [[ $list == true ]]; then
    echo "${MANIFESTS[i]} $FOLDER/${FILES[i]}"
  else
    copy_manifest "${MANIFESTS[i]}" "$FOLDER/${FILES[i]}" "${DIGESTS[i]}"
  fi
done
