#!/usr/bin/env bash
# Deletes the objects of the administrator's own manifests, and waits until they are gone. If
# no cluster runs, the step does nothing.
set -euo pipefail

# INCLUDE running.bash
# INCLUDE own-objects.bash
tries=60
own_objects | delete_own
until left=$(own_objects) && [[ -z $left ]]; do
  tries=$((tries - 1))
  if ((tries == 0)); then
    printf 'These objects of your own manifests are not deleted yet. Correct the cause, then run destroy-platform.sh again:\n%s\n' "$left" >&2
    exit 1
  fi
  sleep 10
done
