#!/bin/sh
# Has vaultwicket install itself into real clients, and take itself out again: found by
# "install --list", installed, started by the client itself, and removed so that its files
# are the same bytes as before. What npm cannot install is skipped, and said to be.
#
#	tests/clients/install.sh [CLIENT...]
#
# The clients are claude-code codex gemini qwen copilot opencode cline-cli. At the end there
# is a line for each:
#
#	client version | found | installed | started | removed
#
# CLIENTS_NPM is a folder that keeps what npm installs.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
installs=${CLIENTS_NPM:-$work/npm}
vaultwicket=$work/vaultwicket
failed=0
. "$here/fetch.sh"

# alone runs a program where it can find and keep nothing of the person.
alone() {
	(cd "$home" && HOME=$home XDG_CONFIG_HOME=$home/.config XDG_DATA_HOME=$home/.local/share XDG_STATE_HOME=$home/.local/state XDG_CACHE_HOME=$home/.cache \
		PATH="$bin:$PATH" NO_COLOR=1 GEMINI_CLI_TRUST_WORKSPACE=true timeout 60 "$@" </dev/null)
}

# settings are where a client keeps its servers, and the text of a person who has another
# server there: with remarks where the format takes them, and in an order of their own.
settings() {
	case $1 in
	claude-code) file=.claude.json text='{"numStartups": 3, "mcpServers": {"other": {"type": "stdio", "command": "true", "args": []}}}' ;;
	codex) file=.codex/config.toml text='# mine
model = "gpt-5"   # the one that I like

[mcp_servers.other]
command = "true"' ;;
	gemini | qwen) file=.$1/settings.json text='{
  // mine
  "ui": {"hideTips": true},
  "mcpServers": {
    "other": {"command": "true"}
  }
}' ;;
	copilot) file=.copilot/mcp-config.json text='{"mcpServers": {"other": {"type": "local", "command": "true", "args": [], "tools": ["*"]}}}' ;;
	opencode) file=.config/opencode/opencode.json text='{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {"other": {"type": "local", "command": ["true"], "enabled": false}} // mine
}' ;;
	cline-cli) file=.cline/data/settings/cline_mcp_settings.json text='{"mcpServers": {"other": {"command": "true", "args": [], "disabled": true}}}' ;;
	esac
	mkdir -p "$home/$(dirname "$file")" && printf '%s\n' "$text" >"$home/$file"
}

# starts asks a client for its servers, and whether it has reached ours.
starts() {
	case $1 in
	cline-cli) alone "$program" config mcp ;;
	*) alone "$program" mcp list ;; # of codex and copilot this says that the entry is read, and no more
	esac >"$work/listed" 2>&1
	sed 's/\x1b\[[0-9;]*m//g' "$work/listed" | grep -E 'vaultwicket' >"$work/line"
	if grep -Eiq '(^|[^s])connected' "$work/line"; then
		echo connected
	elif [ -s "$work/line" ]; then
		echo listed
	else
		cat "$work/listed" >&2
		echo FAIL
	fi
}

# try has one client go through all of it. $1 is the name that install knows, $2 its
# program, $3 the package of npm.
try() {
	home=$work/home-$1
	mkdir -p "$home/Notes" && echo one >"$home/Notes/Note.md"
	if ! bin=$(fetch "$3") || ! program=$bin/$2 || ! version=$(alone "$program" --version 2>/dev/null); then
		row "$1 | skipped | skipped | skipped | it cannot be installed"
		return
	fi
	settings "$1"
	starts "$1" >/dev/null 2>&1 # a client may bring its settings into another form when it starts
	cp "$home/$file" "$work/before"
	found=FAIL installed=FAIL started=FAIL removed=FAIL
	alone "$vaultwicket" install --list --json >"$work/list" 2>&1
	alone "$vaultwicket" install --list | grep -q "^$1 " && found=yes
	if alone "$vaultwicket" install "$1" --vault "$home/Notes" --yes >"$work/said" 2>&1; then
		installed=yes
		alone "$vaultwicket" uninstall "$1" --yes >>"$work/said" 2>&1 && cmp -s "$home/$file" "$work/before" && removed=same-bytes
		alone "$vaultwicket" install "$1" --vault "$home/Notes" --yes >>"$work/said" 2>&1 && started=$(starts "$1")
		alone "$vaultwicket" uninstall "$1" --yes >>"$work/said" 2>&1 && ! grep -q vaultwicket "$home/$file" || removed=FAIL
	fi
	[ "$installed$removed" = yessame-bytes ] || { cat "$work/said"; diff "$work/before" "$home/$file"; } >&2
	row "$1 $(echo "$version" | grep -o '[0-9][0-9.]*[0-9]' | head -n 1) | $found | $installed | $started | $removed"
}

row() {
	echo "$1" | tee -a "$work/matrix"
	case "$1" in *FAIL*) failed=1 ;; esac
}

(cd "$here/../.." && go build -o "$vaultwicket" ./cmd/vaultwicket) || exit 1
for client in ${*:-claude-code codex gemini qwen copilot opencode cline-cli}; do
	case $client in
	claude-code) try claude-code claude @anthropic-ai/claude-code ;;
	codex) try codex codex @openai/codex ;;
	gemini) try gemini gemini @google/gemini-cli ;;
	qwen) try qwen qwen @qwen-code/qwen-code ;;
	copilot) try copilot copilot @github/copilot ;;
	opencode) try opencode opencode opencode-ai ;;
	cline-cli) try cline-cli cline cline ;;
	*) echo "unknown client $client" >&2 && exit 2 ;;
	esac
done
echo "== client version | found | installed | started | removed"
cat "$work/matrix"
exit $failed
