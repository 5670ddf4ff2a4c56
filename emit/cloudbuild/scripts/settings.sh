#!/usr/bin/env bash
# Stops a build whose substitutions differ from the values for which its folder was
# compiled. Such a build would use one value in some resources, and the other value in
# others.
set -euo pipefail

status=0
for name in "${!SETTING_@}"; do
  IFS='|' read -r field compiled given <<<"${!name}"
  if [[ $given != "$compiled" ]]; then
    printf '%s is "%s", but this folder was compiled for "%s": change %s in the blueprint and compile again.\n' \
      "${name#SETTING}" "$given" "$compiled" "$field" >&2
    status=1
  fi
done
exit "$status"
