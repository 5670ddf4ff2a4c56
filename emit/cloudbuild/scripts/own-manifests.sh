#!/usr/bin/env bash
# Applies the administrator's own manifests, and deletes the objects of an earlier folder that
# no manifest has any more. A field that somebody else manages is a conflict, which stops the
# build.
set -euo pipefail

# INCLUDE own-objects.bash
wanted=
if [[ -e $FOLDER/kustomization.yaml ]]; then
  # An object whose kind is in the same folder needs the kind first.
  tries=6
  until kubectl apply --server-side --field-manager=batchwright-own -k "$FOLDER"; do
    tries=$((tries - 1))
    if ((tries == 0)); then
      exit 1
    fi
    sleep 10
  done
  wanted=$(kubectl get -k "$FOLDER" -o 'jsonpath={..metadata.uid}')
fi
live=$(own_objects)
awk 'NR == FNR { for (i = 1; i <= NF; i++) wanted[$i]; next } NF && !($1 in wanted)' \
  <(printf '%s\n' "$wanted") - <<<"$live" | delete_own
