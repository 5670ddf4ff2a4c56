#!/bin/sh
# Switches off the cluster's deletion protection. Terraform uses the value in its state
# and not the value in the configuration, so that this step must apply the value before
# Terraform destroys the cluster. It applies only the cluster, so that Terraform builds
# no other resource that is missing.
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
  # Terraform marks a cluster as tainted if its creation failed, and would replace it.
  # The deletion protection forbids the replacement, so the mark must go.
  shown=$(terraform state show -no-color "$address")
  case $shown in
  "# $address: (tainted)"*) terraform untaint -lock-timeout=300s "$address" ;;
  esac
  terraform apply -input=false -auto-approve -lock-timeout=300s -target="$address" -var=deletion_protection=false
done
