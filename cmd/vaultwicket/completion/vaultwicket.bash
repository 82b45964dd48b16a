# Completion of vaultwicket for bash 3.2 and later.
#   source <(vaultwicket completion bash)
# for all shells to come:
#   vaultwicket completion bash > ~/.local/share/bash-completion/completions/vaultwicket
_vaultwicket() {
	local line directive word description prefix i cur
	local -a words
	# bash parts words at ":" and "=" too, which commands and parameters contain:
	# take the line up to the cursor, parted at blanks only.
	words=()
	word=
	local text="${COMP_LINE:0:COMP_POINT}" c quote= escaped= any=
	for ((i = 0; i < ${#text}; i++)); do
		c="${text:i:1}"
		if [ -n "$escaped" ]; then
			word+="$c" escaped=
		elif [ "$c" = "\\" ] && [ "$quote" != "'" ]; then
			escaped=1
		elif [ -n "$quote" ]; then
			if [ "$c" = "$quote" ]; then quote=; else word+="$c"; fi
		elif [ "$c" = "'" ] || [ "$c" = '"' ]; then
			quote="$c" any=1
		elif [ "$c" = " " ] || [ "$c" = $'\t' ]; then
			if [ -n "$word$any" ]; then words+=("$word"); fi
			word= any=
		else
			word+="$c"
		fi
	done
	words+=("$word")
	cur="${COMP_WORDS[COMP_CWORD]}"
	case "$cur" in ":" | "=") cur= ;; esac
	# What bash has already taken as words of their own stays in front. Its last word still
	# has the quotes and backslashes.
	cur="${cur//\\/}"
	cur="${cur#[\"\']}"
	prefix="${word%"$cur"}"
	COMPREPLY=()
	while IFS= read -r line; do
		case "$line" in
		:[0-9]*) directive="${line#:}" ;;
		*)
			line="${line%%$'\t'*}"
			if [ -n "$quote" ]; then
				COMPREPLY+=("${line#"$prefix"}")
			else
				COMPREPLY+=("$(printf '%q' "${line#"$prefix"}")")
			fi
			;;
		esac
	done < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
	if [ $((directive & 4)) -eq 0 ] && [ ${#COMPREPLY[@]} -eq 0 ]; then
		compopt -o default 2>/dev/null
	fi
	if [ $((directive & 2)) -ne 0 ]; then
		compopt -o nospace 2>/dev/null
	fi
}
complete -F _vaultwicket vaultwicket
