#!/bin/sh
# Runs the tests of the local page in a browser: Debian's Chromium, driven by chromedp, and Firefox,
# driven by WebDriver BiDi, with axe-core for accessibility. Nothing of the main module needs this.
#
#	tests/ui/run.sh prepare        installs what is missing, as far as that is possible
#	tests/ui/run.sh pictures FOLDER  writes pictures of all views in both themes, at three widths
#	tests/ui/run.sh [FLAG...]      runs the tests with these flags of go test
#
# What cannot be installed costs tests, which are then skipped by name, and not the run.
# UI_TOOLS is a folder that keeps axe-core.
set -u
cd "$(dirname "$0")" || exit 1
tools=${UI_TOOLS:-${TMPDIR:-/tmp}/vaultwicket-ui-tools}
axe=$tools/package/axe.min.js

prepare() {
	mkdir -p "$tools"
	if ! command -v chromium >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		timeout 60 apt-get update -qq
		timeout 240 apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=120 chromium
	fi
	if ! command -v firefox-esr >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		timeout 240 apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=120 firefox-esr
	fi
	if [ ! -f "$axe" ] && command -v npm >/dev/null; then
		(cd "$tools" && timeout 60 npm pack --silent axe-core@4.14.1 && tar xzf axe-core-*.tgz package/axe.min.js)
	fi
	timeout 120 go mod download
}

if [ "${1-}" = prepare ]; then
	prepare >/dev/null 2>&1
	exit 0
fi
if [ "${1-}" = pictures ]; then
	exec go test -count=1 -run "TestPictures|TestABusyDayIsAccessible|TestTheOwner|TestALinkOfAClient|TestApproveBehindALink" -pictures "${2:?names no folder}" .
fi
command -v chromium >/dev/null || echo "no Chromium is installed: the tests of the local page are skipped"
command -v firefox-esr >/dev/null || command -v firefox >/dev/null || echo "no Firefox is installed: its tests of the local page are skipped"
if ! timeout 120 go mod download >/dev/null 2>&1; then
	echo "the modules of the tests of the local page cannot be downloaded: they are skipped"
	exit 0
fi
[ -f "$axe" ] || axe=
go vet . && AXE=$axe go test "$@" .
