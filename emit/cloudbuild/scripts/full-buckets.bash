# The build deletes no bucket that holds objects. Without the right to list a bucket, only the
# build finds that out.
full=()
for bucket in "${TEAM_BUCKETS[@]}"; do
  if read -r _ < <(gcloud storage ls --all-versions "gs://$bucket/**" 2>/dev/null); then
    full+=("gs://$bucket")
  fi
done
if ((${#full[@]} > 0)); then
  echo 'These buckets hold objects. The build would delete everything else, and then fail at them.'
  echo 'README.md says how to empty or keep a bucket:'
  printf '  %s\n' "${full[@]}"
fi
