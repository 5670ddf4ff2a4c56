# Nothing starts any more, and what runs is stopped. The mark tells these queues
# from those that an administrator has stopped, should the platform be built
# again. Of a platform that was only half built Kueue may be missing, and then
# no queue admits anything. Kueue takes its finalizers off as jobs end.
ready=$(kubectl -n "$KUEUE" get deployment kueue-controller-manager --ignore-not-found \
  -o 'jsonpath={.status.availableReplicas}')
if ((${ready:-0} > 0)); then
  kubectl get clusterqueues.kueue.x-k8s.io -l "$PLATFORM" \
    -o 'jsonpath={range .items[?(@.spec.stopPolicy=="None")]}{.metadata.name}{"\n"}{end}' |
    xargs -r -n 200 -P 8 kubectl patch clusterqueues.kueue.x-k8s.io --type=merge \
      -p '{"metadata":{"annotations":{"batchwright/drained":"true"}},"spec":{"stopPolicy":"HoldAndDrain"}}'
else
  echo 'Kueue does not run: its queues are not stopped.'
fi

