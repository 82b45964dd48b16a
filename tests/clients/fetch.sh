# How programs of npm are installed, for run.sh and install.sh, whose names this uses.

# fetch installs the package $1 of npm in a folder of its own, which it prints.
fetch() {
	folder=$installs/$(echo "$1" | tr '@/' '__')
	command -v npm >/dev/null 2>&1 && command -v node >/dev/null 2>&1 || return 1
	if [ ! -d "$folder/node_modules" ]; then
		mkdir -p "$folder" && echo '{"private": true}' >"$folder/package.json"
		timeout 60 npm install --silent --no-audit --no-fund --prefix "$folder" "$1" >/dev/null 2>&1 || return 1
	fi
	echo "$folder/node_modules/.bin"
}
