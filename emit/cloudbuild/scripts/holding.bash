# holding prints what keeps the namespaces of a selector from ending, as Kubernetes says it: the
# kinds of objects that are left, and finalizers. A finalizer stays if the controller that
# would remove it does not run.
holding() { # selector
  kubectl get namespaces -l "$1" -o go-template='{{range .items}}{{$name := .metadata.name}}{{range .status.conditions}}{{if eq .status "True"}}{{$name}}: {{.message}}{{"\n"}}{{end}}{{end}}{{end}}'
}

# refusing prints the webhooks whose controller does not run and that may not be skipped. The API
# server refuses every change that they would see, and so the removal of a finalizer.
refusing() {
  local kind webhook namespace service pods
  kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations -o go-template='{{range .items}}{{$of := printf "%s %s" .kind .metadata.name}}{{range .webhooks}}{{if eq .failurePolicy "Fail"}}{{with .clientConfig.service}}{{$of}} {{.namespace}} {{.name}}{{"\n"}}{{end}}{{end}}{{end}}{{end}}' |
    awk '!seen[$0]++' |
    while read -r kind webhook namespace service; do
      pods=$(kubectl -n "$namespace" get endpointslices -l "kubernetes.io/service-name=$service" \
        -o 'jsonpath={.items[*].endpoints[?(@.conditions.ready==true)].addresses}')
      if [[ -z $pods ]]; then
        printf '%s %s refuses changes, because no pod of Service %s/%s runs: start its controller, or delete the webhooks\n' \
          "$kind" "$webhook" "$namespace" "$service"
      fi
    done
}

# tell prints what the step waits for, if that has changed.
told=
tell() { # texts
  local text all=
  for text; do
    all+=${text:+$text$'\n'}
  done
  if [[ -n $all && $all != "$told" ]]; then
    printf 'Waiting for these to end:\n%s' "$all"
    told=$all
  fi
}
