curl --fail --silent --show-error --location --retry 5 --output "$work/release.yaml" "$MANIFEST"

# The step compares the digest, so that a changed release file never reaches the
# cluster.
received=$(sha256sum <"$work/release.yaml")
printf 'SHA-256 of %s: %s\n' "$MANIFEST" "${received%% *}"
if [[ -n $MANIFEST_SHA256 && ${received%% *} != "$MANIFEST_SHA256" ]]; then
  printf 'The SHA-256 must be %s, so nothing was applied. If the new digest is right, set versions.sha256 in the blueprint and compile again.\n' \
    "$MANIFEST_SHA256" >&2
  exit 1
fi
