curl --fail --silent --show-error --location --retry 5 --output "$work/release.yaml" "$MANIFEST"

# Who can change the release must not be able to change the cluster.
received=$(sha256sum <"$work/release.yaml")
printf 'SHA-256 of %s: %s\n' "$MANIFEST" "${received%% *}"
if [[ -n $MANIFEST_SHA256 && ${received%% *} != "$MANIFEST_SHA256" ]]; then
  printf 'It must be %s: nothing was applied. Set versions.sha256 in the blueprint if this one is right.\n' \
    "$MANIFEST_SHA256" >&2
  exit 1
fi
