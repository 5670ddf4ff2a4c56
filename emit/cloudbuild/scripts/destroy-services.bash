echo 'The APIs. They depend on each other, so the command needs --force. It also disables'
echo 'all other APIs that depend on them. Run it only if the project does not need them:'
say gcloud services disable "${APIS[@]}" --project="$PROJECT" --force
