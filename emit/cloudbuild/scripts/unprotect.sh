#!/bin/sh
# Switches the cluster's deletion protection off. Terraform heeds the value in
# its state, not the one in the configuration, so it has to be applied before
# the destroy; to the cluster alone, so that nothing missing is built.
set -euf

state=$(terraform state pull)
if [ -z "$state" ]; then
  echo 'Nothing has been built.'
  exit 0
fi
addresses=$(terraform state list)
for address in $addresses; do
  case $address in
  google_container_cluster.*) ;;
  *) continue ;;
  esac
  # A cluster whose creation failed is marked for replacement, which the
  # protection forbids.
  shown=$(terraform state show -no-color "$address")
  case $shown in
  "# $address: (tainted)"*) terraform untaint -lock-timeout=300s "$address" ;;
  esac
  terraform apply -input=false -auto-approve -lock-timeout=300s -target="$address" -var=deletion_protection=false
done
