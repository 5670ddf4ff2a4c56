#!/usr/bin/env bash
# Stops a build whose substitutions differ from the values for which its folder was
# compiled. Such a build would use one value in some resources, and the other value in
# others. Each variable has the field of the blueprint, the accepted values, and the
# value that the build was given. A version may begin with a v.
set -euo pipefail

status=0
for name in "${!SETTING_@}"; do
  IFS='|' read -r field compiled given <<<"${!name}"
  read -ra accepted <<<"$compiled"
  plain=$given
  if [[ $name == *_VERSION ]]; then
    plain=${given#v}
  fi
  # Without an accepted value, only the empty one is right.
  wanted=''
  for value in "${accepted[@]:-}"; do
    if [[ $plain == "$value" ]]; then
      continue 2
    fi
    wanted+="${wanted:+ or }\"$value\""
  done
  printf '%s is "%s", but this folder was compiled for %s: change %s in the blueprint and compile again.\n' \
    "${name#SETTING}" "$given" "${wanted/#\"\"/none}" "$field" >&2
  status=1
done
exit "$status"
