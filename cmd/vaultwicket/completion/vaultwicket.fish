# Completion of vaultwicket for fish.
#   vaultwicket completion fish | source
# for all shells to come:
#   vaultwicket completion fish > ~/.config/fish/completions/vaultwicket.fish
function __vaultwicket_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    # A quote that is still open belongs to the shell.
    set last (string replace -r '^["\']' '' -- $last)
    for line in ($words[1] __complete $words[2..-1] "$last" 2>/dev/null)
        switch $line
            case ':*'
            case '*'
                echo $line
        end
    end
end
complete -c vaultwicket -e
complete -c vaultwicket -f -a '(__vaultwicket_complete)'
