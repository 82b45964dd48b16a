package vault

import (
	"slices"
	"strings"
	"testing"

	"vaultwicket/allowlist"
	"vaultwicket/tests/rig"
)

// TestHelpShowsWhatAFolderAnswers compares the help of the embedded program with the
// table of commands: it shows what a folder answers and nothing else, and a command that
// needs the app says so.
func TestHelpShowsWhatAFolderAnswers(t *testing.T) {
	program := startWorker(t, t.TempDir())
	_, list, found := strings.Cut(program.ask("help"), "\nCommands:\n")
	if !found {
		t.Fatal("the help has no list of commands")
	}
	var shown, want []string
	for line := range strings.Lines(list) {
		if strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "   ") {
			shown = append(shown, strings.Fields(line)[0])
		}
	}
	for _, command := range rig.FolderCommands() {
		want = append(want, command.Name)
		if block := program.ask("help " + command.Name); !strings.HasPrefix(block, "  "+command.Name+" ") {
			t.Errorf("help %s: %q", command.Name, block)
		}
	}
	slices.Sort(shown)
	slices.Sort(want)
	if !slices.Equal(shown, want) {
		t.Errorf("the help shows\n%q\nand a folder answers\n%q", shown, want)
	}
	for command := range allowlist.Commands() {
		want := "Error: \"" + command.Name + "\" needs the Obsidian app.\n"
		if got := program.ask(command.Name); command.NeedsApp && command.Name != "random" && got != want {
			t.Errorf("%s: %q, want %q", command.Name, got, want)
		}
	}
}
