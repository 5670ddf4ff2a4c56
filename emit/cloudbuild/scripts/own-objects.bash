# own_objects prints the objects with the label of the administrator's own manifests: UID, kind
# as "kubectl delete" reads it, name, and the namespace, if there is one. It omits objects that
# controllers derive, and to which they copy the labels. Definitions of kinds come last, because
# their objects go with them.
own_objects() {
  local kinds
  kinds=$(kubectl api-resources --verbs=list,delete -o name)
  kinds=$(awk '!/^(endpoints|endpointslices|events)(\.|$)/ { printf "%s%s", sep, $1; sep = "," }' <<<"$kinds")
  kubectl get "$kinds" --all-namespaces -l "$OWN" \
    -o go-template='{{range .items}}{{if not .metadata.ownerReferences}}{{.metadata.uid}} {{.kind}} {{.apiVersion}} {{.metadata.name}} {{with .metadata.namespace}}{{.}}{{end}}{{"\n"}}{{end}}{{end}}' |
    awk 'NF && !seen[$1]++ {
        n = split($3, v, "/")
        line = $1 " " $2 "." v[n] "." (n == 2 ? v[1] : "") " " $4 " " $5
        if ($2 == "CustomResourceDefinition") last = last line "\n"; else print line
      }
      END { printf "%s", last }'
}

# delete_own deletes the objects that it reads, and does not wait until they are gone.
delete_own() {
  local kind name namespace
  while read -r _ kind name namespace; do
    kubectl delete "$kind" "$name" ${namespace:+-n "$namespace"} --ignore-not-found --wait=false </dev/null
  done
}
