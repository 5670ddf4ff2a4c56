# PLAN
# losses has a line for each reason why a node pool loses nodes by Terraform's plan: the
# capacity, the pool, the reason, and the zone that it leaves, or the number of nodes that
# stay in each zone. kubectl reads the plan as if it were an object.
# shellcheck disable=SC2016 # the variables belong to the template
# TEMPLATE
plan='{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"plan"},'${plan#\{}
losses=$(kubectl create --dry-run=client --validate=false -f - -o "go-template=$lost" <<<"$plan")
losses=${losses//_/-}
# NAMES
if [[ $losses$'\n' == *' protected'$'\n'* ]]; then
  echo 'This build would delete the cluster, and its deletion protection is on. Set cluster.deletionProtection to false and build; then make this change.' >&2
  exit 1
fi

# shrink gives fewer nodes to the pools that get fewer. Terraform changes a reservation
# before the pool that uses it, and Compute Engine does not make a reservation smaller than
# its use.
shrink() {
  local pool why nodes
  while read -r _ pool why nodes; do
    if [[ $why == fewer ]]; then
      gcloud container clusters resize "$CLUSTER" --project="$PROJECT" --location="$REGION" --node-pool="$pool" \
        --num-nodes="$nodes" --quiet
    fi
  done <<<"$losses"
}
