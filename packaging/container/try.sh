#!/bin/sh
# Starts an image as its manual says, without a container engine: a read-only root file
# system, the user 65532, no network, no way to new privileges, and a read-only vault.
#
#	packaging/container/try.sh ARCHIVE [ARGUMENT...]  < input
#
# It needs root, buildah and unshare. The vault is a folder with one note.
set -eu
archive=$1
shift
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
container=$(buildah from --quiet "oci-archive:$archive")
work=$(mktemp -d)
trap 'buildah rm "$container" >/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
root=$(buildah mount "$container")
config() { buildah inspect --format "{{$1}}" "$container"; }
[ "$(config .OCIv1.Config.User)" = 65532:65532 ] || { echo "try.sh: the user is $(config .OCIv1.Config.User)" >&2; exit 1; }
mkdir "$work/vault"
printf '# Plan\n\n- [ ] milk\n' >"$work/vault/Plan.md"
chmod 755 "$work" "$work/vault"
config 'range .OCIv1.Config.Env}}{{.}}{{"\n"}}{{end' >"$work/env"
[ $# -gt 0 ] || set -- serve --vault /vault
cat >"$work/inside" <<'INSIDE'
set -eu
root=$1 vault=$2 env=$3
shift 3
mkdir -p "$root/proc" "$root/dev" # as an engine does
: >"$root/dev/null"
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --bind /dev/null "$root/dev/null"
mount -o remount,bind,ro "$root"
mount --bind "$vault" "$root/vault"
mount -o remount,bind,ro "$root/vault"
for folder in state cache; do
	mount -t tmpfs -o mode=0700,uid=65532,gid=65532 tmpfs "$root/$folder"
done
# shellcheck disable=SC2046 # the variables have no spaces
exec env -i $(cat "$env") setpriv --no-new-privs chroot --userspec=65532:65532 "$root" /vaultwicket "$@"
INSIDE
unshare --mount --net --pid --fork --kill-child sh "$work/inside" "$root" "$work/vault" "$work/env" "$@"
