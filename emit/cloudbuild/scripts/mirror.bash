
# The nodes pull the images of the release from the mirror. Each copy has the whole name
# of its original.
cat >"$work/kustomization.yaml" <<END
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- release.yaml
images:
- name: $IMAGE
  newName: $MIRROR/$IMAGE
END
kubectl kustomize "$work" >"$work/mirrored.yaml"
public=$(awk -v mirror="$MIRROR/" 'NF > 1 && $(NF - 1) == "image:" && index($NF, mirror) != 1 { print $NF }' "$work/mirrored.yaml")
if [[ -n $public ]]; then
  printf 'The mirror has no place for these images of the release, so nothing was applied:\n%s\n' "$public" >&2
  exit 1
fi
mv "$work/mirrored.yaml" "$work/release.yaml"
