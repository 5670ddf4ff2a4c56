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

# The release and the configuration are applied together, so that the controller never
# starts with the configuration of the release. The controller reads its configuration
# only when it starts. The digest in the pod template restarts the controller if the
# configuration has changed, and only then.
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

# While Kueue is down, a webhook that sees every namespace blocks its requests in all of
# them, including kube-system. The component limits only webhooks that have a
# namespaceSelector in the release.
template='{{range .webhooks}}{{if not .namespaceSelector}}{{.name}}|{{range .rules}}{{range .apiGroups}}{{.}},{{end}}{{end}}{{"\n"}}{{end}}{{end}}'
broad=$(kubectl create --dry-run=client --validate=false -k "$work" -o "go-template=$template" |
  awk -F'|' 'NF && $2 !~ /^(kueue\.x-k8s\.io,)+$/ { print $1 }')
if [[ -n $broad ]]; then
  printf 'These webhooks of the release %s see every namespace:\n%s\nSet versions.kueue in the blueprint to a version that limits them, and compile again.\n' \
    "$MANIFEST" "$broad" >&2
  exit 1
fi
kubectl apply --server-side --force-conflicts --field-manager=kueue-release -k "$work"
kubectl -n "$NAMESPACE" rollout status deployment/kueue-controller-manager --timeout=600s

# The controller is ready before the API server has its certificate. A dry run sends
# the flavors through the webhooks without changing them.
tries=60
until problem=$(kubectl apply --server-side --force-conflicts --field-manager=batchwright \
  --dry-run=server -f kubernetes/resource-flavors.yaml 2>&1); do
  tries=$((tries - 1))
  if ((tries == 0)); then
    printf '%s\nThe webhooks of Kueue do not answer. Check the pods of namespace %s, then submit this build again.\n' \
      "$problem" "$NAMESPACE" >&2
    exit 1
  fi
  sleep 5
done
