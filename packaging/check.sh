#!/bin/bash
# Builds every package twice, in two folders, compares them, installs them in empty roots
# and runs what is in them. It needs root, Go, git, npm and the package registries, and
# takes about ten minutes with empty caches. Nothing is published and nothing outside of
# a temporary folder is written.
#
#	packaging/check.sh [FOLDER]
#
# FOLDER keeps the packages of the first build. GORELEASER and ACTIONLINT are installed
# programs; without them they are built. At the end there is a table of what was made.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD
goreleaser_version=v2.15.0
actionlint_version=v1.7.12
mcpb_version=2.1.2
cyclonedx="@cyclonedx/cyclonedx-library@10.3.0 ajv@8 ajv-formats@3 ajv-formats-draft2019@1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
keep=${1:-$work/kept}
mkdir -p "$keep"
keep=$(cd "$keep" && pwd)
say() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }
die() { echo "check.sh: $*" >&2; exit 1; }
hello='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"check","version":"1"}}}'

# The checkout may be of another user than root.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'

say "tools"
missing=
for pair in rpm:rpm lintian:lintian buildah:buildah mandoc:mandoc shellcheck:shellcheck zstd:zstd systemd-analyze:systemd; do
	command -v "${pair%%:*}" >/dev/null || missing="$missing ${pair##*:}"
done
# shellcheck disable=SC2086 # a list of names
[ -z "$missing" ] || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing >/dev/null; }
goreleaser=${GORELEASER:-} actionlint=${ACTIONLINT:-}
[ -n "$goreleaser" ] || { GOBIN=$work/bin go install "github.com/goreleaser/goreleaser/v2@$goreleaser_version"; goreleaser=$work/bin/goreleaser; }
[ -n "$actionlint" ] || { GOBIN=$work/bin go install "github.com/rhysd/actionlint/cmd/actionlint@$actionlint_version"; actionlint=$work/bin/actionlint; }
mkdir "$work/npm"
echo '{"private": true}' >"$work/npm/package.json"
# shellcheck disable=SC2086 # several packages
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work/npm" "@anthropic-ai/mcpb@$mcpb_version" $cyclonedx >/dev/null 2>&1
mcpb=$work/npm/node_modules/.bin/mcpb

say "files: workflows, scripts, goreleaser"
"$actionlint" .github/workflows/*.yml
shellcheck --severity=warning packaging/*.sh packaging/container/*.sh
"$goreleaser" check --quiet --config packaging/goreleaser.yaml
"$mcpb" validate packaging/mcpb/manifest.json

say "two builds of all packages"
revision=$(git rev-parse HEAD)
version=$(sed -n 's/^const Version = "\(.*\)"/\1/p' internal/release/version.go)
for build in one "two/elsewhere"; do
	git clone -q "$here" "$work/$build"
	(
		cd "$work/$build"
		git checkout -q "$revision" # whatever is committed meanwhile
		git tag -f "v$version" >/dev/null
		"$goreleaser" release --config packaging/goreleaser.yaml --clean --skip=publish,sign,announce >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
		packaging/stage/bin/pack npm --dist dist --stage packaging/stage --version "$version" --out dist/npm
		for folder in dist/npm/*/; do (cd "$folder" && npm pack --silent --pack-destination .. >/dev/null 2>&1); done
		packaging/stage/bin/pack server-json --version "$version" --mcpb "packaging/stage/vaultwicket_$version.mcpb" --out dist/server.json
		packaging/container/build.sh "$version" dist/image >dist/image.txt
		(cd dist && sha256sum checksums.txt npm/*.tgz server.json && cat image.txt homebrew/Casks/*.rb scoop/*.json aur/*.pkgbuild) >"$work/sums-$(basename "$build")"
	)
done
cmp "$work/sums-one" "$work/sums-elsewhere" || die "the two builds differ"
echo "identical: $(wc -l <"$work/one/dist/checksums.txt") files of checksums.txt, $(find "$work/one/dist/npm" -name '*.tgz' | wc -l) of npm, 2 images, cask, Scoop, PKGBUILD"
cd "$work/one/dist"
(sha256sum --quiet --check --ignore-missing checksums.txt)

NODE_PATH=$work/npm/node_modules node "$here/packaging/validate-sbom.cjs" ./*.cdx.json
echo "lists of modules: $(find . -maxdepth 1 -name '*.cdx.json' | wc -l) fit CycloneDX 1.6"

# as_new runs a command as a user without settings.
mkdir "$work/home"
as_new() { env HOME="$work/home" XDG_CONFIG_HOME="$work/home" XDG_STATE_HOME="$work/state" "$@"; }

# starts runs a program of an empty root and has it answer as a server.
starts() {
	local is
	chroot "$1" "$2" version --json | grep -q "\"commit\": \"$revision\"" || die "$2 in $1 does not name its commit"
	is=$(chroot "$1" "$2" version | head -1)
	[ "$is" = "vaultwicket $version" ] || die "$2 in $1 says $is"
	mkdir -p "$1/vault" "$1/state"
	echo "$hello" | XDG_STATE_HOME=/state chroot "$1" "$2" serve --config none --backend embedded --vault /vault | grep -q '"serverInfo"' || die "$2 in $1 does not serve"
}

say "deb, rpm, apk, Arch and tar.gz in empty roots"
case $(uname -m) in x86_64) debs=amd64 rpms=x86_64 ;; *) debs=arm64 rpms=aarch64 ;; esac
for kind in deb rpm apk arch tar; do mkdir -p "$work/root/$kind/proc"; mount --bind /proc "$work/root/$kind/proc"; done
trap 'umount "$work"/root/*/proc 2>/dev/null || :; rm -rf --one-file-system "$work"' EXIT
mkdir -p "$work/root/deb/var/lib/dpkg/info" "$work/root/deb/var/lib/dpkg/updates"
touch "$work/root/deb/var/lib/dpkg/status"
dpkg --root="$work/root/deb" --force-architecture -i ./*_"$debs".deb >/dev/null
rpm --root "$work/root/rpm" --initdb
rpm --root "$work/root/rpm" --nodeps --nosignature -i ./*."$rpms".rpm
tar -C "$work/root/apk" --warning=no-unknown-keyword -xzf ./*_"$rpms".apk
tar -C "$work/root/arch" -I zstd -xf ./*-"$rpms".pkg.tar.zst
mkdir -p "$work/root/tar/opt"
tar -C "$work/root/tar/opt" -xzf ./vaultwicket_*_linux_"$debs".tar.gz
for kind in deb rpm apk arch; do starts "$work/root/$kind" /usr/bin/vaultwicket; done
starts "$work/root/tar" /opt/vaultwicket
for file in man/man1/vaultwicket.1.gz man/man5/vaultwicket-settings.5.gz bash-completion/completions/vaultwicket fish/vendor_completions.d/vaultwicket.fish doc/vaultwicket/THIRD-PARTY-LICENCES.txt; do
	for kind in deb rpm apk arch; do [ -s "$work/root/$kind/usr/share/$file" ] || die "$kind has no $file"; done
done
# The package of the AUR is made as makepkg does, of the archive above.
mkdir -p "$work/aur"
(
	export srcdir=$work/root/tar/opt pkgdir=$work/aur
	# shellcheck disable=SC1090
	. "./aur/vaultwicket-bin.pkgbuild"
	package
)
[ -x "$work/aur/usr/bin/vaultwicket" ] && [ -s "$work/aur/usr/share/man/man1/vaultwicket.1" ] && [ -s "$work/aur/usr/share/zsh/site-functions/_vaultwicket" ] || die "the package of the AUR lacks files"
bash -n "$work/root/deb/usr/share/bash-completion/completions/vaultwicket"
lintian --no-tag-display-limit --fail-on error --suppress-tags unknown-field,initial-upload-closes-no-bugs ./*_"$debs".deb
dpkg --root="$work/root/deb" -r vaultwicket >/dev/null
rpm --root "$work/root/rpm" -e vaultwicket
[ ! -e "$work/root/deb/usr/bin/vaultwicket" ] && [ ! -e "$work/root/rpm/usr/bin/vaultwicket" ] || die "removing leaves the program"

say "units of systemd"
mkdir -p "$work/run" "$work/units/usr/bin"
cp "$here"/packaging/systemd/* "$work/units"
cp vaultwicket_linux_"$debs"*/vaultwicket "$work/units/usr/bin"
sed -i "s,^ExecStart=/usr/bin/,ExecStart=$work/units/usr/bin/," "$work/units/vaultwicket.service"
XDG_RUNTIME_DIR=$work/run systemd-analyze verify --user --man=no "$work/units/vaultwicket.service" "$work/units/vaultwicket.socket"

say "npm: installed without scripts"
mkdir "$work/project"
echo '{"private": true}' >"$work/project/package.json"
platform=$(node -p 'process.platform + "-" + process.arch')
npm install --loglevel=error --no-audit --no-fund --ignore-scripts --offline --omit=optional --prefix "$work/project" "$PWD/npm/vaultwicket-$version.tgz" "$PWD/npm/vaultwicket-$platform-$version.tgz" >/dev/null
launcher=$work/project/node_modules/.bin/vaultwicket
[ "$("$launcher" version | head -1)" = "vaultwicket $version" ] || die "the launcher says $("$launcher" version)"
[ "$(echo "$hello" | as_new "$launcher" serve --config none --vault "$work/run" | wc -l)" = 1 ] || die "the launcher adds lines"
"$launcher" no-such-command 2>/dev/null && die "the launcher hides a failure" || [ $? = 2 ]

say "MCP bundle"
bundle=$work/one/packaging/stage/vaultwicket_$version.mcpb
(cd "$work" && "$mcpb" unpack "$bundle" "$work/bundle" >/dev/null && "$mcpb" validate "$work/bundle/manifest.json" >/dev/null)
echo "$hello" | as_new VAULTWICKET_TIER=v0 VAULTWICKET_ALLOW_MUTATIONS=false "$work/bundle/server/vaultwicket-linux" serve --vault "$work/run" | grep -q '"serverInfo"' || die "the program of the bundle does not serve"
[ "$(od -An -tx1 -N4 "$work/bundle/server/vaultwicket" | tr -d ' ')" = cafebabe ] || die "the program for Macs is not universal"

say "image: read-only root, no network, user 65532"
"$here/packaging/container/try.sh" "image/$debs.tar" run --vault /vault random:read | grep -q '^# Plan$' || die "the image does not read"
echo "$hello" | "$here/packaging/container/try.sh" "image/$debs.tar" | grep -q '"serverInfo"' || die "the image does not serve"
"$here/packaging/container/try.sh" "image/$debs.tar" vault /vault --status | grep '^sandbox'

say "made"
cp ./*.deb ./*.rpm ./*.apk ./*.zst ./*.tar.gz ./*.zip ./*.cdx.json checksums.txt server.json npm/*.tgz "$bundle" "$keep"
cp image/amd64.tar "$keep/image-amd64.tar"
cp image/arm64.tar "$keep/image-arm64.tar"
(cd "$keep" && for file in *; do printf '| %s | %s | `%s` |\n' "$file" "$(stat -c %s "$file")" "$(sha256sum "$file" | cut -c1-64)"; done)
cat image.txt
