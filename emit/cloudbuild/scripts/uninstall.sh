#!/usr/bin/env bash
# Uninstalls a controller that the platform has installed, unless others use it: with its
# CRDs, Kubernetes would delete their objects. USERS lists the kinds of these objects.
set -euo pipefail

# INCLUDE running.bash
installed=$(kubectl -n "$NAMESPACE" get deployments --ignore-not-found -o 'jsonpath={.items[*].metadata.managedFields[*].manager}')
if [[ " $installed " != *" $MANAGER "* ]]; then
  echo "The platform has not installed a controller in namespace $NAMESPACE: nothing to do."
  exit 0
fi
found=
for kind in $USERS; do
  if [[ -n $(kubectl get customresourcedefinitions "$kind" --ignore-not-found -o name) ]]; then
    found+=$(kubectl get "$kind" --all-namespaces -o name)
  fi
done
if [[ -n $found ]]; then
  printf 'Others use the controller in namespace %s, so it stays:\n%s\n' "$NAMESPACE" "$found"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# MANIFEST

kubectl delete --ignore-not-found --timeout=900s -f "$work/release.yaml"
