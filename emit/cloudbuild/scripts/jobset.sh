#!/usr/bin/env bash
# Installs JobSet and waits until the API server reaches its webhook.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
curl --fail --silent --show-error --location --retry 5 --output "$work/release.yaml" "$MANIFEST"

# Who can change the release must not be able to change the cluster.
received=$(sha256sum <"$work/release.yaml")
printf 'SHA-256 of %s: %s\n' "$MANIFEST" "${received%% *}"
if [[ -n $MANIFEST_SHA256 && ${received%% *} != "$MANIFEST_SHA256" ]]; then
  printf 'It must be %s: nothing was applied. Set versions.sha256 in the blueprint if this one is right.\n' \
    "$MANIFEST_SHA256" >&2
  exit 1
fi

kubectl apply --server-side --force-conflicts --field-manager=jobset-release -f "$work/release.yaml"
kubectl -n "$NAMESPACE" rollout status deployment/jobset-controller-manager --timeout=600s

# The controller is up before its certificate has reached the API server. This
# JobSet is checked by the webhook, and not kept.
probe='
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: probe
  namespace: default
spec:
  replicatedJobs:
  - name: probe
    template:
      spec:
        template:
          spec:
            restartPolicy: Never
            containers:
            - name: probe
              image: probe
'
tries=60
until problem=$(kubectl create --dry-run=server -f - <<<"$probe" 2>&1); do
  tries=$((tries - 1))
  if ((tries == 0)); then
    printf '%s\nThe webhook of JobSet does not answer.\n' "$problem" >&2
    exit 1
  fi
  sleep 5
done
