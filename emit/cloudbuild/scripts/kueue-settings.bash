# settings prints what a template finds in the configuration of Kueue. kubectl reads the
# configuration like any object, which needs a name.
settings() { # template
  {
    kubectl -n "$KUEUE" get configmap kueue-manager-config -o 'jsonpath={.data.controller_manager_config\.yaml}' || return
    printf '\nmetadata: {name: kueue}\n'
  } | kubectl annotate --local -f - batchwright/read=true -o "go-template=$1"
}
