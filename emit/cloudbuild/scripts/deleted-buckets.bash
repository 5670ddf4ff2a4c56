echo 'The build deletes these buckets with all objects, if it has not deleted them before:'
printf '  gs://%s\n' "${DELETED_BUCKETS[@]}"
