# The patch stops the running jobs, and no other job starts. If the platform is built
# again, the annotation shows which queues to start: an administrator may have stopped
# others. If the platform was built only in part, Kueue may be missing, and then no
# queue admits workloads. Kueue must keep running, because it removes its finalizers
# from the jobs.
ready=$(kubectl -n "$KUEUE" get deployment kueue-controller-manager --ignore-not-found \
  -o 'jsonpath={.status.availableReplicas}')
if ((${ready:-0} > 0)); then
  kubectl get clusterqueues.kueue.x-k8s.io -l "$PLATFORM" \
    -o 'jsonpath={range .items[?(@.spec.stopPolicy=="None")]}{.metadata.name}{"\n"}{end}' |
    xargs -r -n 200 -P 8 kubectl patch clusterqueues.kueue.x-k8s.io --type=merge \
      -p '{"metadata":{"annotations":{"batchwright/drained":"true"}},"spec":{"stopPolicy":"HoldAndDrain"}}'
else
  echo 'Kueue does not run, so its queues admit no workloads and are not stopped.'
fi

