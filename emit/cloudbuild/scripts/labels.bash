# Other labels of these two resources stay. Remove a label that the blueprint no longer
# has with --remove-labels.
echo "- labels of the repository and the bucket"
attempt gcloud artifacts repositories update "$REPOSITORY" --project="$PROJECT" --location="$BUILD_REGION" \
  --update-labels="$LABELS"
attempt gcloud storage buckets update "gs://$BUCKET" --update-labels="$LABELS"

