#!/bin/sh
# Looks for known vulnerabilities in the code that the program calls, on every system that
# there are packages for. Where the database cannot be reached this says so and passes,
# unless REQUIRE_DATABASE is set: a check of known vulnerabilities needs the news.
#
#	packaging/vulnerabilities.sh
#
# VULNERABILITY_DB is the address of another database, GOVULNCHECK an installed checker.
set -eu
cd "$(dirname "$0")/.."
version=v1.9.0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
checker=${GOVULNCHECK:-}
if [ -z "$checker" ]; then
	GOBIN=$work go install "golang.org/x/vuln/cmd/govulncheck@$version"
	checker=$work/govulncheck
fi
for system in linux darwin windows; do
	status=0
	# One more look at the same modules costs little: the code of each system differs.
	GOOS=$system CGO_ENABLED=0 timeout 120 "$checker" ${VULNERABILITY_DB:+-db "$VULNERABILITY_DB"} ./cmd/vaultwicket >"$work/said" 2>&1 || status=$?
	case $status in
	0) echo "no known vulnerability on $system" ;;
	3) cat "$work/said"; exit 1 ;;
	*)
		if [ -z "${REQUIRE_DATABASE:-}" ] && grep -q 'fetching vulnerabilities' "$work/said"; then
			echo "vulnerabilities: not checked, the database cannot be reached"
			exit 0
		fi
		cat "$work/said"
		exit 1
		;;
	esac
done
