#compdef vaultwicket
# Completion of vaultwicket for zsh.
#   source <(vaultwicket completion zsh)
# for all shells to come, with a folder that is in $fpath:
#   vaultwicket completion zsh > ~/.zsh/completions/_vaultwicket
_vaultwicket() {
	local line directive word
	local -a plain open
	while IFS= read -r line; do
		if [[ $line == :<-> ]]; then
			directive=${line#:}
			continue
		fi
		word=${line%%$'\t'*}
		# _describe takes what follows a colon for the description.
		word=${word//\\/\\\\}
		word=${word//:/\\:}
		if [[ $line == *$'\t'* ]]; then
			word="$word:${line#*$'\t'}"
		fi
		if [[ ${line%%$'\t'*} == *= ]]; then
			open+=("$word")
		else
			plain+=("$word")
		fi
	done < <("${(Q)words[1]}" __complete "${(Q)words[2,CURRENT-1][@]}" "${(Q)PREFIX}" 2>/dev/null)
	if (( ${#open} )); then
		_describe -V 'parameter' open -S ''
	fi
	if (( ${#plain} )); then
		_describe -V 'vaultwicket' plain
	fi
	if (( ! (directive & 4) )); then
		_files
	fi
}
if [[ ${funcstack[1]} == _vaultwicket ]]; then
	_vaultwicket "$@"
else
	compdef _vaultwicket vaultwicket
fi
