#!/bin/sh
# What can be checked of packages in seconds, after the tests: workflows, scripts, known
# vulnerabilities, and the site of the documents. What cannot be installed in time is
# skipped, and said to be: a slow registry is no fault of a change.
#
#	packaging/quick.sh
set -u
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# installs puts a Go program into the work folder, if that takes less than a minute.
installs() {
	GOBIN=$work timeout 60 go install "$1" >/dev/null 2>&1 || { echo "skipped, not installed in time: $1"; return 1; }
}

if installs github.com/rhysd/actionlint/cmd/actionlint@v1.7.12; then
	"$work/actionlint" -shellcheck= .github/workflows/*.yml && echo "workflows: fine" || failed=1
fi
if command -v shellcheck >/dev/null; then
	shellcheck --severity=warning packaging/*.sh packaging/container/*.sh docs/site/*.sh && echo "scripts: fine" || failed=1
fi
if installs golang.org/x/vuln/cmd/govulncheck@v1.9.0; then
	GOVULNCHECK=$work/govulncheck packaging/vulnerabilities.sh || failed=1
fi
if command -v npm >/dev/null && command -v node >/dev/null; then
	if [ -x docs/site/node_modules/.bin/eleventy ] || (cd docs/site && timeout 60 npm ci --silent --no-audit --no-fund --ignore-scripts >/dev/null 2>&1); then
		docs/site/build.sh || failed=1
	else
		echo "skipped, not installed in time: the generator of the site"
	fi
fi
exit $failed
