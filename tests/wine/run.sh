#!/usr/bin/env bash
# Tests that ask the file system, and the program itself, on Windows as Wine has it.
# Without Wine or a compiler for Windows they are skipped, with the reason.
#
#	tests/wine/run.sh [PACKAGE …]
#
# WINE_SECONDS is how long they may take together.
set -euo pipefail
cd "$(dirname "$0")/../.."

wine=$(command -v wine64 || command -v /usr/lib/wine/wine64 || command -v wine || :)
compiler=$(command -v x86_64-w64-mingw32-gcc || :)
[ -n "$wine" ] || { echo "skipped: no Wine (Debian: apt-get install wine64)"; exit 0; }
[ -n "$compiler" ] || { echo "skipped: no compiler for Windows (Debian: apt-get install gcc-mingw-w64-x86-64)"; exit 0; }

packages=("$@")
[ $# -gt 0 ] || packages=(
	./gateway/names ./gateway/registry ./policy/access ./policy/ignore
	./cmd/internal/vault/disk ./cmd/internal/vault/knowledge/index ./cmd/internal/vault/lookup ./cmd/internal/vault/note
)

work=$(mktemp -d "${TMPDIR:-/tmp}/wine.XXXXXX")
export WINEPREFIX=$work/prefix WINEARCH=win64 WINEDEBUG=-all WINEDLLOVERRIDES="bcryptprimitives=n;mscoree,mshtml="
trap 'wineserver -k 2>/dev/null || /usr/lib/wine/wineserver64 -k 2>/dev/null || :; rm -rf "$work"' EXIT
timeout 120 "$wine" wineboot -i >/dev/null 2>&1
"$compiler" -shared -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" tests/wine/prng.c -ladvapi32

# Wine 8 answers the call by which Go deletes with "not implemented" (0xC0000002),
# which no Windows does; Go falls back for other answers only.
at=$(go env GOROOT)/src/internal/syscall/windows/at_windows.go
sed 's/^\tcase STATUS_INVALID_INFO_CLASS,/\tcase NTStatus(0xC0000002), STATUS_INVALID_INFO_CLASS,/' "$at" >"$work/at_windows.go"
cmp -s "$at" "$work/at_windows.go" && { echo "Go deletes in another way than this script knows"; exit 1; }
printf '{"Replace":{"%s":"%s"}}' "$at" "$work/at_windows.go" >"$work/overlay.json"

# What Wine 8 does not have; a bare call of the system has shown each.
limits=(
	# A rename changes no case: MoveFile A.md to a.md succeeds, and the folder lists A.md.
	TestChanges TestAnotherSpellingIsANewName
	# CreateSymbolicLink succeeds and makes nothing.
	TestATrashThatIsALinkIsRefused TestOnlyRegularFilesThatAreInsideAreOpened TestEditRefusesReadOnlyNotesAndLinks TestIgnored
	TestEveryPlaceHasTheSameErrors TestAFileThatIsReplacedAfterItsListingIsRefused TestAnEntryIsReadWhereItsFolderHasGone
	TestAChangeBesideExchangesOfItsFolder TestAChangeDoesNotFollowAFolderThatBecameALink TestSameFolder
)
# What does not hold on any Windows: modes of files, and a device name that is no path.
limits+=(TestAFileComesBackFromTheTrashAsItWas TestAFileThatMayNotBeReadHasAStamp TestAFileThatCannotBeReadSpoilsNothing TestMakeRefusesNewNamesThatDoNotTravel TestAPrivateFolderIsMade)
skip=$(IFS='|'; echo "${limits[*]}")

mkdir "$work/bin"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$wine" >"$work/bin/wine"
chmod +x "$work/bin/wine"
run() {
	GOOS=windows GOARCH=amd64 timeout "${WINE_SECONDS:-900}" go test -short -overlay "$work/overlay.json" -exec "$work/bin/wine" -skip "^($skip)$" "$@"
}
run "${packages[@]}"
# Of the program itself, what it makes of the spellings of a name.
[ $# -gt 0 ] || run -run 'Short|Spelling|OneJournal' ./cmd/internal/vault
