  echo "Before the first build, ask the owner of cluster $CLUSTER to give the build its rights in the cluster:"
  say kubectl create clusterrolebinding "$NAME-build" --clusterrole=cluster-admin --user="$EMAIL"
