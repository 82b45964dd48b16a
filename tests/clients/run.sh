#!/bin/sh
# Has real MCP clients talk to a vaultwicket that is built here. What cannot be
# installed is skipped, and said to be. Nothing of the main module needs this.
#
#	tests/clients/run.sh
#
# CODEX names an installed codex; without it the one of npm is fetched.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

(cd "$here/../.." && go build -o "$work/vaultwicket" ./cmd/vaultwicket) || exit 1

if (cd "$here/gosdk" && go mod download >/dev/null 2>&1); then
	echo "== go-sdk $(cd "$here/gosdk" && go list -m -f '{{.Version}}' github.com/modelcontextprotocol/go-sdk)"
	(cd "$here/gosdk" && VAULTWICKET="$work/vaultwicket" go test -count=1 ./...) || failed=1
else
	echo "skipped: go-sdk cannot be downloaded"
fi

codex=${CODEX:-}
if [ -z "$codex" ] && command -v npm >/dev/null 2>&1; then
	if npm install --silent --no-audit --no-fund --prefix "$work/npm" @openai/codex >/dev/null 2>&1; then
		codex=$work/npm/node_modules/.bin/codex
	fi
fi
if [ -z "$codex" ] || ! "$codex" --version >/dev/null 2>&1; then
	echo "skipped: codex cannot be installed"
elif ! command -v node >/dev/null 2>&1; then
	echo "skipped: codex, because there is no node"
else
	echo "== $("$codex" --version)"
	node "$here/codex.mjs" "$codex" "$work/vaultwicket" || failed=1
fi
exit $failed
