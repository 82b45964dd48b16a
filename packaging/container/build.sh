#!/bin/sh
# Builds the container image for Linux on amd64 and arm64 with buildah, without a daemon,
# and the same bytes for the same commit.
#
#	packaging/container/build.sh VERSION OUT     writes OUT/ARCH.tar, OCI archives
#	packaging/container/build.sh --push VERSION  pushes one image for both processors
#
# It prints the digests. packaging/stage.sh has to have run, or is run.
set -eu
cd "$(dirname "$0")/../.."
push=
[ "$1" != --push ] || { push=yes; shift; }
version=$1 out=${2:-}
image=$(sed -n 's/.*"identifier": "\(.*\):[^:"]*",/\1/p' packaging/server.json)
revision=$(git rev-parse HEAD)
seconds=$(git log -1 --format=%ct)
release=github.com/vaultwicket/vaultwicket/internal/release
flags="-s -w -buildid= -X $release.commit=$revision -X $release.commitTime=$(git log -1 --format=%cI)"
[ -f packaging/stage/THIRD-PARTY-LICENCES.txt ] || sh packaging/stage.sh "$version" "$seconds"

# Layers are files: neither a daemon nor mounts are needed.
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp LICENSE packaging/stage/THIRD-PARTY-LICENCES.txt "$work"
mkdir "$work/empty"
list=vaultwicket-build-$$
[ -z "$push" ] || buildah manifest create "$list" >&2
for arch in amd64 arm64; do
	# An image has no files of time zones.
	CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -trimpath -buildvcs=false -tags timetzdata -ldflags "$flags" -o "$work/$arch" ./cmd/vaultwicket
	buildah build --quiet --format oci --platform "linux/$arch" --timestamp "$seconds" --build-arg VERSION="$version" --build-arg REVISION="$revision" --build-arg PROGRAM="$arch" \
		--tag "$list-$arch" --file packaging/container/Containerfile "$work" >/dev/null
	[ -z "$push" ] || buildah manifest add "$list" "containers-storage:localhost/$list-$arch" >&2
	if [ -n "$out" ]; then
		mkdir -p "$out"
		rm -f "$out/$arch.tar"
		buildah push --quiet --digestfile "$work/digest" "localhost/$list-$arch" "oci-archive:$out/$arch.tar:$image:$version"
		echo "$arch $(cat "$work/digest")"
	fi
done
if [ -n "$push" ]; then
	buildah manifest push --all --digestfile "$work/digest" "$list" "docker://$image:$version" >&2
	echo "image=$image"
	echo "digest=$(cat "$work/digest")"
	buildah rmi "$list" >/dev/null
fi
buildah rmi "$list-amd64" "$list-arm64" >/dev/null
