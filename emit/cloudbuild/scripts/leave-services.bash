echo "These APIs stay enabled, because the cluster and others in the project need them: ${APIS[*]}"
