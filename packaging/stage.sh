#!/bin/sh
# Makes what packages contain with the program: completions, manual pages, the licences of
# modules and the changelog of Debian. goreleaser runs it first, and later packaging/stage/bin/pack.
#
#	packaging/stage.sh VERSION SECONDS
#
# SECONDS is the time of the commit. Everything goes to packaging/stage, the same bytes
# each time.
set -eu
version=$1 seconds=$2
cd "$(dirname "$0")/.."
stage=packaging/stage
rm -rf "$stage"
mkdir -p "$stage/completions" "$stage/debian" "$stage/bin"

# These programs run here, whatever system packages are for.
unset GOOS GOARCH
CGO_ENABLED=0 go build -trimpath -buildvcs=false -o "$stage/bin/" ./cmd/vaultwicket ./packaging/pack
program=$stage/bin/vaultwicket pack=$stage/bin/pack
is=$("$program" version | sed -n 's/^vaultwicket //p;q')
case $version in
"$is" | "$is"-*) ;;
*) echo "stage.sh: the tag says $version and the program $is" >&2; exit 1 ;;
esac

"$program" completion bash >"$stage/completions/vaultwicket.bash"
"$program" completion zsh >"$stage/completions/_vaultwicket"
"$program" completion fish >"$stage/completions/vaultwicket.fish"
"$program" completion powershell >"$stage/completions/vaultwicket.ps1"

"$program" man --write "$stage/man"
cp -R "$stage/man" "$stage/man-gz" # as packages of Linux have them
gzip -9n "$stage"/man-gz/man*/*

go list -m -f '{{.Path}}	{{.Version}}	{{.Dir}}' all | "$pack" licences >"$stage/THIRD-PARTY-LICENCES.txt"
"$pack" debian-changelog --version "$version" --seconds "$seconds" | gzip -9n >"$stage/debian/changelog.gz"
rm "$program"
