# holding prints what keeps the namespaces of a selector from ending, as Kubernetes says it: the
# kinds of objects that are left, and finalizers. A finalizer stays if the controller that
# would remove it does not run.
holding() { # selector
  kubectl get namespaces -l "$1" -o go-template='{{range .items}}{{$name := .metadata.name}}{{range .status.conditions}}{{if eq .status "True"}}{{$name}}: {{.message}}{{"\n"}}{{end}}{{end}}{{end}}'
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
