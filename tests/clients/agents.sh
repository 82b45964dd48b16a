# The programs of npm that are no more than asked to connect to two servers, notes
# over stdio and web over HTTP. This is read by run.sh, whose names it uses.

# agent installs the program $1 of the package $2 and has it connect. What it keeps
# goes to a home of its own.
agent() {
	if ! bin=$(fetch "$2") || ! version=$(as_agent "$bin/$1" --version 2>/dev/null); then
		row "$1" skipped skipped "it cannot be installed"
		return
	fi
	serve_http
	"settings_$1"
	what="lists its servers as connected"
	[ "$1" = mcporter ] && what="calls the tool"
	row "$1 $(echo "$version" | tail -n 1 | sed 's/ .*//')" "$("reaches_$1" notes)" "$("reaches_$1" web)" "$what"
}

# as_agent runs a program where it can find and keep nothing of the person.
as_agent() {
	(mkdir -p "$work/home" && cd "$work/home" &&
		HOME=$work/home XDG_CONFIG_HOME=$work/home/.config XDG_DATA_HOME=$work/home/.data XDG_STATE_HOME=$work/home/.state XDG_CACHE_HOME=$work/home/.cache \
			NO_COLOR=1 GEMINI_CLI_TRUST_WORKSPACE=true timeout 60 "$@" </dev/null)
}

# serve_http starts the server over HTTP, once.
serve_http() {
	[ -z "$url" ] || return 0
	mkdir -p "$work/home/Notes" && echo one >"$work/home/Notes/Note.md"
	HOME=$work/home XDG_STATE_HOME=$work/home/.state XDG_CACHE_HOME=$work/home/.cache "$vaultwicket" serve --config=none --backend=embedded --vault="$work/home/Notes" --http=127.0.0.1:0 --token-file="$work/token" 2>"$work/served" &
	servers="$servers $!"
	until url=$(grep -o 'http:[^ ]*/mcp' "$work/served"); do
		kill -0 "$!" 2>/dev/null || { cat "$work/served" >&2; exit 1; }
		sleep 0.1
	done
	token=$(cat "$work/token")
}

# server is the command of the server over stdio as a list in JSON without its brackets.
server() {
	printf '"%s", "serve", "--config=none", "--backend=embedded", "--vault=%s"' "$vaultwicket" "$work/home/Notes"
}

# mcp_servers prints settings in the form that most agree on; $1 is what stands
# before the address.
mcp_servers() {
	printf '{"mcpServers": {"notes": {"command": %s, "args": [%s]}, "web": {%s: "%s", "headers": {"Authorization": "Bearer %s"}}}}\n' \
		"$(server | cut -d, -f1)" "$(server | cut -d, -f2-)" "$1" "$url" "$token"
}

settings_claude() {
	as_agent "$bin/claude" mcp add --scope user notes -- "$vaultwicket" serve --config=none --backend=embedded --vault="$work/home/Notes" >/dev/null 2>&1
	as_agent "$bin/claude" mcp add --scope user --transport http web "$url" --header "Authorization: Bearer $token" >/dev/null 2>&1
}

settings_gemini() { mkdir -p "$work/home/.gemini" && mcp_servers '"type": "http", "url"' >"$work/home/.gemini/settings.json"; }

settings_qwen() { mkdir -p "$work/home/.qwen" && mcp_servers '"httpUrl"' >"$work/home/.qwen/settings.json"; }

settings_opencode() {
	mkdir -p "$work/home/.config/opencode"
	printf '{"mcp": {"notes": {"type": "local", "command": [%s], "enabled": true}, "web": {"type": "remote", "url": "%s", "headers": {"Authorization": "Bearer %s"}, "enabled": true}}}\n' \
		"$(server)" "$url" "$token" >"$work/home/.config/opencode/opencode.json"
}

settings_mcporter() { mcp_servers '"url"' >"$work/home/mcporter.json"; }

reaches_claude() { lists "$1" "$bin/claude"; }
reaches_gemini() { lists "$1" "$bin/gemini"; }
reaches_qwen() { lists "$1" "$bin/qwen"; }
reaches_opencode() { lists "$1" "$bin/opencode"; }

# lists asks a program for its servers and looks whether it reached the server $1.
lists() {
	as_agent "$2" mcp list >"$work/listed" 2>&1
	if sed 's/\x1b\[[0-9;]*m//g' "$work/listed" | grep -E "(^|[^a-z])$1[: ]" | grep -Eiq '(^|[^s])connected'; then
		echo ok
	else
		cat "$work/listed" >&2
		echo FAIL
	fi
}

reaches_mcporter() {
	as_agent "$bin/mcporter" --config "$work/home/mcporter.json" call "$1.obsidianCli" command=random:read >"$work/called" 2>&1
	if grep -q '"ok": true' "$work/called"; then
		echo ok
	else
		cat "$work/called" >&2
		echo FAIL
	fi
}
