package completion

import (
	"embed"
	"slices"
)

//go:embed scripts
var scripts embed.FS

// Shells are those for which there is a script.
var Shells = []string{"bash", "zsh", "fish", "powershell"}

// Script returns what a shell loads to complete the commands of vaultwicket, and how the
// user has it loaded; ok is false for an unknown shell.
func Script(shell string) (text string, ok bool) {
	if !slices.Contains(Shells, shell) {
		return "", false
	}
	script, err := scripts.ReadFile("scripts/vaultwicket." + shell)
	return string(script), err == nil
}
