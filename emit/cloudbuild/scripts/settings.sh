#!/usr/bin/env bash
# Stops a build that was given other values than those its folder was compiled
# for: half of what it would build followed from the one, half from the other.
set -euo pipefail

status=0
for name in "${!SETTING_@}"; do
  IFS='|' read -r field compiled given <<<"${!name}"
  if [[ $given != "$compiled" ]]; then
    printf '%s is "%s", and this folder was compiled for "%s": change %s in the blueprint and compile again.\n' \
      "${name#SETTING}" "$given" "$compiled" "$field" >&2
    status=1
  fi
done
exit "$status"
