#!/usr/bin/env bash
# Installs Kueue with the platform's configuration and waits until the API
# server reaches its webhooks.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# MANIFEST

cp kubernetes/system/kueue-configuration.yaml "$work/configuration.yaml"
cp -R "kubernetes/$WEBHOOKS" "$work/webhooks"
digest=$(sha256sum <"$work/configuration.yaml")

# Release and configuration go in together, so that the controller never starts
# with the release's own. It reads its configuration only when it starts: the
# digest in the pod template restarts it when the configuration has changed, and
# only then.
cat >"$work/kustomization.yaml" <<END
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- release.yaml
components:
- webhooks
patches:
- path: configuration.yaml
- patch: |
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: kueue-controller-manager
      namespace: $NAMESPACE
    spec:
      template:
        metadata:
          annotations:
            batchwright/configuration: ${digest%% *}
END

# A webhook that sees every namespace stops the whole cluster while Kueue is
# down. The component narrows those that the release narrows itself.
template='{{range .webhooks}}{{if not .namespaceSelector}}{{.name}}|{{range .rules}}{{range .apiGroups}}{{.}},{{end}}{{end}}{{"\n"}}{{end}}{{end}}'
broad=$(kubectl create --dry-run=client --validate=false -k "$work" -o "go-template=$template" |
  awk -F'|' 'NF && $2 !~ /^(kueue\.x-k8s\.io,)+$/ { print $1 }')
if [[ -n $broad ]]; then
  printf 'These webhooks of the release %s see every namespace:\n%s\nInstall a version of Kueue that narrows them.\n' \
    "$MANIFEST" "$broad" >&2
  exit 1
fi
kubectl apply --server-side --force-conflicts --field-manager=kueue-release -k "$work"
kubectl -n "$NAMESPACE" rollout status deployment/kueue-controller-manager --timeout=600s

# The controller is up before its certificate has reached the API server. The
# flavors are checked by the webhooks, and not kept.
tries=60
until problem=$(kubectl apply --server-side --force-conflicts --field-manager=batchwright \
  --dry-run=server -f kubernetes/resource-flavors.yaml 2>&1); do
  tries=$((tries - 1))
  if ((tries == 0)); then
    printf '%s\nThe webhooks of Kueue do not answer.\n' "$problem" >&2
    exit 1
  fi
  sleep 5
done
