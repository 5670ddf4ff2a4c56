#!/bin/sh
# Switches off the cluster's deletion protection. Terraform reads the protection from
# its state, not from the configuration. This step must therefore apply the new value
# before Terraform destroys the cluster. It applies only the cluster, so that Terraform
# creates no other resource that is missing.
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
