#!/usr/bin/env bash
# Tests on Windows, as Wine has it. Without Wine or a compiler for Windows they are
# skipped, with the reason.
#
#	tests/wine/run.sh [--quick | PACKAGE …]
#
# Without arguments it tests every package that can be tested there, with --quick those
# in which Windows differs most. The packages below tests start the program in the ways
# of Unix and are not among them; instead the program is built and used. Each part says
# what it took. A part that fails does not keep the others from being run; the script
# fails at its end, and names it.
#
# WINE_SECONDS is how long a part may take, and a package of the part with all packages
# (default: 3600). LONG_TESTS=1 has the two servers append ten times as often.
set -euo pipefail
cd "$(dirname "$0")/../.."
umask 077 # Wine keeps rights to files as modes: what is made in a private folder is private

seconds=${WINE_SECONDS:-3600}
wine=$(command -v wine64 || command -v /usr/lib/wine/wine64 || command -v wine || :)
server=$(command -v /usr/lib/wine/wineserver64 || command -v wineserver || :)
compiler=$(command -v x86_64-w64-mingw32-gcc || :)
[ -n "$wine" ] || { echo "skipped: no Wine (Debian: apt-get install wine64)"; exit 0; }
[ -n "$compiler" ] || { echo "skipped: no compiler for Windows (Debian: apt-get install gcc-mingw-w64-x86-64)"; exit 0; }

work=$(mktemp -d "${TMPDIR:-/tmp}/wine.XXXXXX")
export WINEPREFIX=$work/prefix WINEARCH=win64 WINEDEBUG=-all WINEDLLOVERRIDES="bcryptprimitives=n;mscoree,mshtml="
trap '"$server" -k 2>/dev/null || :; rm -rf "$work"' EXIT
mkdir "$WINEPREFIX"
"$server" -p 2>/dev/null || : # otherwise it ends between two programs, and starts again
timeout "$seconds" "$wine" wineboot -i >/dev/null 2>&1 || { echo "Wine did not start in $seconds s"; exit 1; }
"$compiler" -shared -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" tests/wine/prng.c -ladvapi32

# Wine 8 answers the call by which Go deletes with "not implemented" (0xC0000002),
# which no Windows does; Go falls back for other answers only.
at=$(go env GOROOT)/src/internal/syscall/windows/at_windows.go
sed 's/^\tcase STATUS_INVALID_INFO_CLASS,/\tcase NTStatus(0xC0000002), STATUS_INVALID_INFO_CLASS,/' "$at" >"$work/at_windows.go"
cmp -s "$at" "$work/at_windows.go" && { echo "Go deletes in another way than this script knows"; exit 1; }
printf '{"Replace":{"%s":"%s"}}' "$at" "$work/at_windows.go" >"$work/overlay.json"

# What Wine 8 does not have; a bare call of the system has shown each. What is so on any
# Windows is skipped by the tests themselves, with the reason.
limits=(
	# A rename changes no case: MoveFile A.md to a.md succeeds, and the folder lists A.md.
	TestChanges TestAnotherSpellingIsANewName TestMoveAndRename/only_the_case_changes TestSweepFindsWhatEveryKilledWriterLeft
	# CreateSymbolicLink succeeds and makes nothing.
	TestATrashThatIsALinkIsRefused TestAnUnusableIgnoreFileHidesEverything TestOnlyRegularFilesThatAreInsideAreOpened TestALinkIsNotReplaced TestIgnored
	TestEveryPlaceHasTheSameErrors TestAFileThatIsReplacedAfterItsListingIsRefused TestAnEntryIsReadWhereItsFolderHasGone
	TestAChangeBesideExchangesOfItsFolder TestAChangeDoesNotFollowAFolderThatBecameALink TestSameFolder TestSweep
	TestInitNeverWritesOverAFile TestAVaultIsFoundBehindALink
	TestPatternsThatCannotBeUsed/a_link TestPatternsThatCannotBeUsed/a_link_to_nowhere TestNothingIsChangedWithoutAnAuditLine/a_link_in_its_place
	TestManagedAccessWhereverTheRootIs/Link TestManagedAccessWhereverTheRootIs/Link#01
	"TestEveryFaultIsFound/[0-9]*_ignore-not-file" "TestEveryFaultIsFound/[0-9]*_links-outside" TestAReportToSendHasNoNames
	# A file that is deleted while a program that shares it has it open keeps its name: nothing else can have that name.
	TestASwapRefusesWhatAnotherProgramChanged/now_a_folder
	# A pipe has no end before a process without a window has: after CloseHandle of its
	# output ReadFile waits. With a window it does not.
	TestFaultsOfTheWorker/it_closes_its_output,_worker
	# There is no Go in Wine, which this test asks for the types of the source.
	TestForgeriesDoNotCompile
)
skip=
for limit in "${limits[@]}"; do skip="$skip|^${limit//\//\$/^}\$"; done

# The program is given a file for its output: the services of Wine, which the first
# program starts, would keep a pipe open.
mkdir "$work/bin" "$work/out"
cat >"$work/bin/wine" <<EOF
#!/bin/sh
out=\$(mktemp "$work/out/XXXXXX")
"$wine" "\$@" >"\$out" 2>&1
status=\$?
cat "\$out"
rm "\$out"
exit \$status
EOF
chmod +x "$work/bin/wine"
run() {
	GOOS=windows GOARCH=amd64 go test -short -timeout "${seconds}s" -overlay "$work/overlay.json" -exec "$work/bin/wine" -skip "${skip#|}" "$@"
}

# use builds the program and uses it as a person and as a client do.
use() {
	GOOS=windows GOARCH=amd64 go build -overlay "$work/overlay.json" -o "$work/vaultwicket.exe" ./cmd/vaultwicket
	local vault=$WINEPREFIX/drive_c/vault
	mkdir "$vault"
	printf '# A\r\nline\r\n' >"$vault/a.md"
	(
		cd "$work"
		"$wine" vaultwicket.exe demo >demo.txt
		grep -q mutations_off demo.txt
		for folder in 'C:\vault' 'c:/VAULT' '\\?\C:\vault'; do
			"$wine" vaultwicket.exe run --tier=v1 --vault="$folder" read path=a.md | grep -q line
		done
		printf 'one\ntwo' | "$wine" vaultwicket.exe run --tier=v2 --allow-mutations --vault='C:\vault' append path=a.md content=- >/dev/null
		printf '# A\r\nline\r\none\r\ntwo' | cmp - "$vault/a.md"
		for path in 'C:\vault\a.md' '\\?\C:\vault\a.md' '\\server\share\a.md' 'C:a.md' 'a.md::$DATA'; do
			if "$wine" vaultwicket.exe run --tier=v1 --vault='C:\vault' read path="$path" >/dev/null 2>&1; then
				echo "path=$path is read"
				exit 1
			fi
		done
		# Settings that others can write are not used, and doctor says so.
		printf 'tier = "v1"\n' >"$WINEPREFIX/drive_c/config.toml"
		"$wine" vaultwicket.exe run --config='C:\config.toml' --vault='C:\vault' read path=a.md | grep -q line
		chmod o+w "$WINEPREFIX/drive_c/config.toml"
		if "$wine" vaultwicket.exe run --config='C:\config.toml' --vault='C:\vault' read path=a.md >/dev/null 2>refused.txt; then
			echo "settings that others can write are used"
			exit 1
		fi
		grep -q 'can be written by "Everyone"' refused.txt
		VAULTWICKET_CONFIG='C:\config.toml' "$wine" vaultwicket.exe doctor >doctor.txt 2>/dev/null || :
		grep -q settings-invalid doctor.txt
		grep -q 'icacls "C:' doctor.txt
		{
			printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
			printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/initialized"}' '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"obsidianCli","arguments":{"command":"daily:path"}}}'
			sleep 2
		} | timeout "$seconds" "$wine" vaultwicket.exe serve --vault='C:\vault' >answers.txt
		grep -q '"id":2.*"ok":true' answers.txt
	)
	echo "ok  	the program"
}

# used is what is tested with the built program on Windows alone. Wine does not rename as POSIX does, so this
# is the case of drives that do not either; what Windows does where it does is in the tests of disk/system.
used() {
	PROGRAM_UNDER_TEST="Z:${work//\//\\}\\vaultwicket.exe" run -run '^(TestTwoServersAppendToANoteThatIsRead|TestNamesThatWindowsReserves|TestPathsThatAreLong)$' ./tests/changes
}

# part runs a command, says what it took, and remembers whether it failed.
failed=()
part() {
	local name=$1 started=$SECONDS status=0
	shift
	set +e # a condition would disable it inside the command, too
	(
		set -e
		"$@"
	)
	status=$?
	set -e
	[ "$status" = 0 ] || failed+=("$name")
	echo "$([ "$status" = 0 ] && echo "part ok    " || echo "PART FAILED") $name: $((SECONDS - started)) s"
}

# A program that was not built cannot be used, so the second part says that it failed as well.
use_built() {
	part "the program" use
	part "two servers, names and paths" used
}

case ${1:-all} in
all)
	use_built
	part "all packages" run -p=3 ./tiers ./allowlist/... ./policy/... ./exec/... ./gateway/... ./internal/... ./cmd/...
	;;
--quick)
	use_built
	part "nine packages" run ./exec/process ./internal/ownerfiles ./gateway/admission ./internal/filenames ./internal/appvaults \
		./internal/access ./cmd/internal/settings ./internal/vault/index ./internal/vault/edit
	part "finding the app" run -run 'Search|WellKnown|Suitable|TheWayTo|OthersCan' ./exec
	part "rights to settings of clients" run -run 'AccessList|Backups' ./cmd/internal/clients
	part "the parent" run -run 'Parent' ./cmd/internal/serving
	part "spellings" run -run 'Short|Spelling|OneJournal' ./internal/vault/call
	;;
*) part "$*" run "$@" ;;
esac

echo "all parts took $SECONDS s"
if [ "${#failed[@]}" -gt 0 ]; then
	printf 'failed: %s\n' "${failed[@]}"
	exit 1
fi
