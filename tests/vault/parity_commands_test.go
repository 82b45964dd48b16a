package vault

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"vaultwicket/tests/rig"
)

// TestEveryReadingCommandIsPlaced holds the two lists to the table of commands:
// one that is new is put into one of them.
func TestEveryReadingCommandIsPlaced(t *testing.T) {
	out, err := exec.Command(rig.Binary, "commands", "--all", "--config=none").Output()
	if err != nil {
		t.Fatal(err)
	}
	var reading []string
	for line := range strings.Lines(string(out)) {
		// The tier, the effect, the name.
		if fields := strings.Fields(line); len(fields) > 2 && fields[1] == "read" {
			reading = append(reading, fields[2])
		}
	}
	placed := strings.Fields(rig.FolderReads + " " + rig.AppReads + " " + rig.OwnReads + " " + rig.GatewayReads)
	slices.Sort(reading)
	slices.Sort(placed)
	if !slices.Equal(reading, placed) {
		t.Errorf("the table has the reading commands\n%q\nand the lists\n%q", reading, placed)
	}
}

// TestHelpShowsWhatAFolderAnswers reads the help of the embedded program: it
// names what it answers and nothing that needs the app, and says so of the rest.
func TestHelpShowsWhatAFolderAnswers(t *testing.T) {
	folder := t.TempDir()
	program := startWorker(t, folder)
	shown := map[string]bool{}
	_, list, found := strings.Cut(program.ask("help"), "\nCommands:\n")
	if !found {
		t.Fatal("the help has no list of commands")
	}
	for line := range strings.Lines(list) {
		if strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "   ") {
			shown[strings.Fields(line)[0]] = true
		}
	}
	for _, name := range strings.Fields(rig.FolderReads + " " + rig.OwnReads) {
		if !shown[name] {
			t.Errorf("the help does not show %s", name)
		}
		if block := program.ask("help " + name); !strings.HasPrefix(block, "  "+name+" ") {
			t.Errorf("help %s: %q", name, block)
		}
	}
	for _, name := range strings.Fields(rig.AppReads) {
		want := "Error: \"" + name + "\" needs the Obsidian app.\n"
		if got := program.ask(name); got != want || shown[name] {
			t.Errorf("%s: %q, want %q; shown in the help: %v", name, got, want, shown[name])
		}
	}
}
