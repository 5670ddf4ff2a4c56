# Without a running cluster no job runs.
status=$(gcloud container clusters list --project="$PROJECT" --location="$REGION" \
  --filter="name=\"$CLUSTER\"" --format='value(status)')
case $status in
RUNNING | RECONCILING | DEGRADED) ;;
*)
  echo "No cluster $CLUSTER runs: nothing to do."
  exit 0
  ;;
esac
gcloud container clusters get-credentials "$CLUSTER" --project="$PROJECT" --location="$REGION" "$ENDPOINT"
