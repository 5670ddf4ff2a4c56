#!/usr/bin/env bash
# Compares the subnets, which others own, with what the platform needs, and reports all
# differences at once. SUBNETS lists the subnets, each with its network and the longest
# prefix that is long enough. RANGES lists the secondary ranges of the first subnet in
# the same way, without a network. AGENT_PROJECT is the project whose GKE agent creates the
# cluster in a network of another project, or empty.
set -euo pipefail

problems=
report() { # message
  problems+="- $1"$'\n'
}

# has_room reports whether a range has a prefix of at most the given length.
has_room() { # range, longest prefix
  ((${1##*/} <= $2))
}

# may_use reports whether this build may use a subnet.
may_use() { # subnet
  local reply
  reply=$(curl --fail --silent --show-error --config - --header 'Content-Type: application/json' \
    --data '{"permissions":["compute.subnetworks.use"]}' \
    "https://compute.googleapis.com/compute/v1/projects/$NETWORK_PROJECT/regions/$REGION/subnetworks/$1/testIamPermissions" \
    <<<"header = \"Authorization: Bearer $token\"") && [[ $reply == *'"compute.subnetworks.use"'* ]]
}

describe() { # subnet, arguments
  gcloud compute networks subnets describe "$1" --project="$NETWORK_PROJECT" --region="$REGION" "${@:2}"
}

token=$(gcloud auth print-access-token)
read -ra needed_subnets <<<"$SUBNETS"
for needed in "${needed_subnets[@]}"; do
  IFS=: read -r subnet network prefix <<<"$needed"
  if ! found=$(describe "$subnet" --format='csv[no-heading,separator=" "](network.basename(),ipCidrRange,privateIpGoogleAccess)' 2>&1); then
    report "subnet $subnet of project $NETWORK_PROJECT cannot be read: $found"
    continue
  fi
  read -r its_network its_range private <<<"$found"
  [[ $its_network == "$network" ]] || report "subnet $subnet is in network $its_network, not in $network"
  has_room "$its_range" "$prefix" || report "subnet $subnet has the range $its_range, but needs at least a /$prefix"
  may_use "$subnet" || report "this build may not use subnet $subnet: it needs roles/compute.networkUser"
  # Only the first subnet carries requests to Google APIs.
  if [[ $needed == "${needed_subnets[0]}" && ${private,,} != true ]]; then
    report "subnet $subnet has no Private Google Access"
  fi
done

IFS=: read -r subnet _ <<<"${needed_subnets[0]}"
if secondary=$(describe "$subnet" --flatten='secondaryIpRanges[]' \
  --format='csv[no-heading,separator=" "](secondaryIpRanges.rangeName,secondaryIpRanges.ipCidrRange)' 2>/dev/null); then
  read -ra needed_ranges <<<"$RANGES"
  for needed in "${needed_ranges[@]}"; do
    IFS=: read -r name prefix <<<"$needed"
    its_range=$(awk -v name="$name" '$1 == name { print $2 }' <<<"$secondary")
    if [[ -z $its_range ]]; then
      report "subnet $subnet has no secondary range $name"
    elif ! has_room "$its_range" "$prefix"; then
      report "the secondary range $name is $its_range, but needs at least a /$prefix"
    fi
  done
fi

# The build cannot read the rights of GKE's agent, but GKE lists the subnets that the agent
# may use. It lists none if the agent may not act in the project of the network.
if [[ -n $AGENT_PROJECT ]]; then
  if ! usable=$(gcloud container subnets list-usable --project="$AGENT_PROJECT" --network-project="$NETWORK_PROJECT" \
    --format='value(subnetwork)' 2>&1); then
    printf "GKE does not say whether its agent may use the subnet: %s\n" "$usable"
  elif [[ $usable$'\n' != *"/regions/$REGION/subnetworks/$subnet"$'\n'* ]]; then
    report "GKE's agent in project $AGENT_PROJECT may not use subnet $subnet: it needs roles/compute.networkUser on the subnet, and roles/container.hostServiceAgentUser on project $NETWORK_PROJECT"
  fi
fi

if [[ -n $problems ]]; then
  printf 'The network does not fit the platform:\n%sGive network-team/README.md to the owners of project %s. A new right takes effect after some minutes.\n' \
    "$problems" "$NETWORK_PROJECT" >&2
  exit 1
fi
