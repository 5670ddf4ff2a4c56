#!/usr/bin/env bash
# Compares the cluster, which others own, with the description in the blueprint, and with
# the objects of this folder. Reports all differences at once, before anything changes. An
# empty variable means that nothing is expected. POOLS, LIMITS and FRAMEWORKS are lists.
set -euo pipefail

problems=
report() { # message
  problems+="- $1"$'\n'
}

# finish ends the step, with all problems if there are any.
finish() {
  if [[ -n $problems ]]; then
    printf 'The cluster %s does not fit the platform:\n%s' "$CLUSTER" "$problems" >&2
    exit 1
  fi
  exit 0
}

# older reports whether a version is older than another one. It compares the parts that
# the other one has.
older() { # version, other version
  awk -v version="$1" -v other="$2" 'BEGIN {
    split(version, has, /[.-]/)
    n = split(other, wants, /[.-]/)
    for (i = 1; i <= n; i++) if (has[i] + 0 != wants[i] + 0) exit has[i] + 0 > wants[i] + 0
    exit 1
  }'
}

describe=(gcloud container clusters describe "$CLUSTER" --project="$PROJECT" --location="$LOCATION")
fields=currentMasterVersion,autopilot.enabled,workloadIdentityConfig.workloadPool
fields+=,networkConfig.datapathProvider,networkConfig.enableMultiNetworking
fields+=,authenticatorGroupsConfig.securityGroup,monitoringConfig.managedPrometheusConfig.enabled
fields+=,controlPlaneEndpointsConfig.dnsEndpointConfig.allowExternalTraffic
fields+=,network.basename\(\),subnetwork.basename\(\)
if ! found=$("${describe[@]}" --format="csv[no-heading,separator='|']($fields)" 2>&1); then
  report "cluster $CLUSTER in $LOCATION of project $PROJECT cannot be read: $found"
  finish
fi
IFS='|' read -r its_version autopilot pool datapath networking its_group its_prometheus its_dns its_network its_subnet <<<"$found"
if [[ ${autopilot,,} == true ]]; then
  report "it is an Autopilot cluster, which has no node pools of others: use a Standard cluster"
  finish
fi
if older "$its_version" "$VERSION"; then
  report "its version is $its_version, but the blueprint says cluster: existing: version: \"$VERSION\""
fi
[[ $pool == "$PROJECT.svc.id.goog" ]] || report 'it has no Workload Identity Federation, so jobs would have no identities'
if [[ $DATAPLANE_V2 == true && $datapath != ADVANCED_DATAPATH ]]; then
  report 'it does not use Dataplane V2, so nothing enforces network policies: write has: dataplaneV2: false, if that is intended'
fi
if [[ $MULTI_NETWORKING == true && ${networking,,} != true ]]; then
  report 'it has no multi-networking, which the blueprint says it has'
fi
if [[ -n $SECURITY_GROUP && $its_group != "$SECURITY_GROUP" ]]; then
  report "its security group is \"$its_group\", but the blueprint says $SECURITY_GROUP"
fi
if [[ $PROMETHEUS == true && ${its_prometheus,,} != true ]]; then
  report 'it has no managed collection of metrics: write has: managedPrometheus: false, if that is intended'
fi
if [[ $ENDPOINT == --dns-endpoint && ${its_dns,,} != true ]]; then
  report 'its DNS endpoint is closed: write has: dnsEndpoint: false, and build in a private worker pool'
fi
if [[ -n $NETWORK && $its_network/$its_subnet != "$NETWORK/$SUBNET" ]]; then
  report "it is in network $its_network, subnet $its_subnet, but the blueprint says network $NETWORK, subnet $SUBNET"
fi

read -ra wanted <<<"$LIMITS"
if ((${#wanted[@]} > 0)); then
  its_limits=$("${describe[@]}" --flatten='autoscaling.resourceLimits[]' \
    --format="csv[no-heading,separator='|'](autoscaling.resourceLimits.resourceType,autoscaling.resourceLimits.maximum)")
  for limit in "${wanted[@]}"; do
    most=$(awk -F'|' -v type="${limit%%:*}" '$1 == type { print $2 }' <<<"$its_limits")
    if ((${most:-0} < ${limit##*:})); then
      report "its auto-provisioning limit for ${limit%%:*} is ${most:-0}, but the blueprint says ${limit##*:}"
    fi
  done
fi

# A pool of the platform has the platform's label.
read -ra wanted <<<"$POOLS"
if ((${#wanted[@]} > 0)); then
  its_pools=$(gcloud container node-pools list --cluster="$CLUSTER" --project="$PROJECT" --location="$LOCATION" \
    --format="csv[no-heading,separator='|'](name,config.resourceLabels.platform)")
  for pool in "${wanted[@]}"; do
    if [[ $'\n'$its_pools == *$'\n'"$pool|"* && $'\n'$its_pools$'\n' != *$'\n'"$pool|$NAME"$'\n'* ]]; then
      report "it has a node pool $pool, which belongs to others: rename the capacity"
    fi
  done
fi

if [[ $OBJECTS != true ]]; then # a GitOps tool applies the objects
  finish
fi
if ! problem=$(gcloud container clusters get-credentials "$CLUSTER" --project="$PROJECT" --location="$LOCATION" "$ENDPOINT" 2>&1); then
  report "its control plane cannot be reached: $problem"
  finish
fi
if ! kubectl auth can-i '*' '*' --all-namespaces >/dev/null 2>&1; then
  # The cluster may know the account of this build by its number instead of its address.
  user=$(kubectl auth whoami -o 'jsonpath={.status.userInfo.username}' 2>/dev/null) || user=
  report "this build may not change its objects. The owner of the cluster runs: kubectl create clusterrolebinding $NAME-build --clusterrole=cluster-admin --user=${user:-$EMAIL}"
  finish
fi

# release prints the version in the tag of a controller's image, nothing if there is no
# such controller.
release() { # namespace, Deployment
  local image
  image=$(kubectl -n "$1" get deployment "$2" --ignore-not-found \
    -o 'jsonpath={.spec.template.spec.containers[?(@.name=="manager")].image}') || return
  image=${image%@*}
  printf '%s' "${image##*:v}"
}

# managers prints the field managers of a controller's Deployment.
managers() { # namespace, Deployment
  kubectl -n "$1" get deployment "$2" -o 'jsonpath={.metadata.managedFields[*].manager}'
}

# INCLUDE kueue-settings.bash
foreign= # namespaces of controllers that others run and the blueprint does not name
running_kueue=$(release "$KUEUE" kueue-controller-manager)
if [[ -n $KUEUE_VERSION ]]; then
  if [[ -z $running_kueue ]]; then
    report "Kueue does not run in namespace $KUEUE: install it, or remove cluster: existing: kueue"
  elif [[ $running_kueue == [0-9]* ]] && older "$running_kueue" "$KUEUE_VERSION"; then
    report "Kueue is version $running_kueue, but the blueprint says cluster: existing: kueue: version: \"$KUEUE_VERSION\""
  fi
  if [[ -n $running_kueue ]]; then
    if managed=$(settings '{{range .integrations.frameworks}}{{.}}{{"\n"}}{{end}}' 2>&1); then
      for framework in $FRAMEWORKS; do
        [[ $'\n'$managed$'\n' == *$'\n'"$framework"$'\n'* ]] ||
          report "Kueue does not manage jobs of kind $framework: its owner adds it to integrations.frameworks"
      done
    else
      report "the configuration of Kueue cannot be read: $managed"
    fi
  fi
elif [[ -n $running_kueue && " $(managers "$KUEUE" kueue-controller-manager) " != *' kueue-release '* ]]; then
  report "others run Kueue $running_kueue in it: write cluster: existing: kueue: version: \"$running_kueue\""
  foreign+=" $KUEUE "
fi
running_jobset=$(release "$JOBSET" jobset-controller-manager)
if [[ -n $JOBSET_VERSION ]]; then
  running_jobset=${running_jobset:-$(release "$JOBSET" jobset-controller)}
  if [[ -z $running_jobset ]]; then
    report "JobSet does not run in namespace $JOBSET: install it, or remove cluster: existing: jobset"
  elif [[ $running_jobset == [0-9]* ]] && older "$running_jobset" "$JOBSET_VERSION"; then
    report "JobSet is version $running_jobset, but the blueprint says cluster: existing: jobset: version: \"$JOBSET_VERSION\""
  fi
elif [[ -n $running_jobset && " $(managers "$JOBSET" jobset-controller-manager) " != *' jobset-release '* ]]; then
  report "others run JobSet $running_jobset in it: write cluster: existing: jobset: version: \"$running_jobset\""
  foreign+=" $JOBSET "
fi

# The owner of an object can hand it over with a label. A tool that applies objects, such as
# Argo CD, marks them. Kinds that the cluster does not know yet have no objects.
# shellcheck disable=SC2016 # the variables belong to the template
template='{{define "tool"}}
  {{- if index . "argocd.argoproj.io/tracking-id"}}Argo_CD{{else if index . "meta.helm.sh/release-name"}}Helm
  {{- else if eq (print (index . "configmanagement.gke.io/managed")) "enabled"}}Config_Sync
  {{- else if index . "kustomize.toolkit.fluxcd.io/name"}}Flux{{else}}-{{end}}{{end}}
  {{- define "argo"}}{{range .}}{{if eq .manager "argocd-controller"}}Argo_CD{{end}}{{end}}{{end}}
  {{- define "object"}}{{.kind}} {{with .metadata.namespace}}{{.}}{{else}}-{{end}} {{.metadata.name}}
  {{- " "}}{{with .metadata.annotations}}{{template "tool" .}}{{else}}-{{end}}
  {{- " "}}{{with .metadata.labels}}{{template "tool" .}}{{else}}-{{end}}
  {{- if .metadata.labels}}{{if index .metadata.labels "app.kubernetes.io/instance"}}{{template "argo" .metadata.managedFields}}{{end}}{{end}}
  {{- with .metadata.labels}} {{index . "app.kubernetes.io/part-of"}}{{end}}{{"\n"}}{{end}}
  {{- if eq .kind "List"}}{{range .items}}{{template "object" .}}{{end}}{{else}}{{template "object" .}}{{end}}'
errors=$(mktemp)
for manifests in kubernetes dashboards; do
  [[ -e $manifests/kustomization.yaml ]] || continue
  live=$(kubectl get -k "$manifests" --ignore-not-found -o "go-template=$template" 2>"$errors") || true
  unexpected=$(awk '!/no matches for kind|ensure CRDs are installed first/' "$errors")
  [[ -z $unexpected ]] || report "the objects of $manifests/ cannot be compared: $unexpected"
  while read -r kind namespace object mark label owner; do
    if [[ -z $kind || $foreign == *" $namespace "* ]]; then
      continue
    fi
    tool=${mark#-}
    tool=${tool:-${label#-}}
    tool=${tool/#*Argo_CD*/Argo_CD} # once for each of its entries in the managed fields
    if [[ -n $tool && $kind != Namespace ]]; then
      report "$kind $object is applied by ${tool//_/ }, which would undo the platform's changes or delete it. batchwright diff --live FILE --handover DIR writes how its owner hands it over"
      continue
    fi
    if [[ $owner == "$NAME" ]]; then
      continue
    fi
    where=() keep=()
    [[ $namespace == - ]] || where=(-n "$namespace")
    [[ $kind != Namespace ]] || keep=("$EXISTING=true")
    report "$kind $object exists and belongs to others. Rename it in the blueprint, or let its owner hand it over: kubectl label ${where[*]:+${where[*]} }$kind $object app.kubernetes.io/part-of=$NAME${keep[*]:+ ${keep[*]}} --overwrite"
  done <<<"$live"
done
finish
