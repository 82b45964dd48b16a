package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

var sampleCompleter = completer{
	Commands: []candidate{{"run", "run a command"}, {"dry-run", "preview a command"}, {"config", "settings"}},
	Flags: func(command string) []terminal.Flag {
		if command != "run" && command != "config" {
			return nil
		}
		return []terminal.Flag{{Name: "tier", Value: "VALUE", Usage: "highest tier"},
			{Name: "timeout", Value: "VALUE", Usage: "time limit"}, {Name: "json", Usage: "print JSON"}}
	},
	Words: map[string][]string{"config": {"show", "check"}},
	Choices: func(flag string) []string {
		if flag == "tier" {
			return []string{"v0", "v1"}
		}
		return nil
	},
	Paths: func(line []string, prefix string) []string {
		if !slices.Equal(line[:3], []string{"run", "--tier", "v1"}) {
			return nil
		}
		return []string{"Home.md", "In/A note.md", "In/Deep/B.md"}
	},
}

func TestComplete(t *testing.T) {
	for _, c := range []struct {
		line string // the last word is the one that is completed
		want string
		open bool
	}{
		{"", "run dry-run config", false},
		{"d", "dry-run", false},
		{"x", "", false},
		{"run --t", "--tier --timeout", false},
		{"run --tier ", "v0 v1", false},
		{"run --tier v", "v0 v1", false},
		{"run --tier=v", "--tier=v0 --tier=v1", false},
		{"run --tier=x", "", false},
		{"config ", "show check", false},
		{"config --tier v0 c", "check", false},
		{"config show ", "", false},
		{"run random:", "random:read", false},
		{"run --json --tier v1 random:rea", "random:read", false},
		{"explain random:rea", "random:read", false},
		{"explain random:read ", "", false},
		{"run property:set typ", "type=", true},
		{"run property:set type=te", "type=text", false},
		{"run property:set type=text ty", "", false},
		{"run daily:append inl", "inline", false},
		{"run read nope=", "", false},
		{"run nope ", "", false},
		{"run --tier v1 read path=In/", "path=In/A note.md|path=In/Deep/B.md", false},
		{"run --tier v1 read file=B", "file=B", false},
		{"run --tier v1 files folder=I", "folder=In|folder=In/Deep", false},
	} {
		got := sampleCompleter.Complete(strings.Split(c.line, " "))
		var words []string
		for _, one := range got.List {
			words = append(words, one.Word)
		}
		sep := " "
		if strings.Contains(c.want, "|") {
			sep = "|"
		}
		assert.Equal(t, strings.Join(words, sep), c.want, "%q: %q, open %v; want %q, open %v", c.line, words, got.Open, c.want, c.open)
		assert.Equal(t, got.Open, c.open, "%q: %q, open %v; want %q, open %v", c.line, words, got.Open, c.want, c.open)
	}
}

func TestFilesAreLeftToTheShell(t *testing.T) {
	for line, want := range map[string]bool{"run --timeout ": true, "run --tier ": false, "vault ": true, "config ": false} {
		assert.Equal(t, sampleCompleter.Complete(strings.Split(line, " ")).Files, want, "%q: files", line)
	}
}

func TestPrint(t *testing.T) {
	var out strings.Builder
	c := candidates{List: []candidate{{"a\x1b[31m\nb", "first\tone"}, {"b", ""}}, Open: true}
	err := c.Print(&out)
	require.NoError(t, err)
	assert.Equal(t, out.String(), "a[31mb\tfirstone\nb\n:6\n")
}

func TestEveryShellHasAScript(t *testing.T) {
	for _, shell := range shells {
		if text, ok := completionScript(shell); !ok || !strings.Contains(text, "__complete") || !strings.Contains(text, "vaultwicket completion "+shell) {
			t.Errorf("%s: %v, %.80q", shell, ok, text)
		}
	}
	for _, other := range []string{"", "tcsh", "../candidate.go"} {
		_, ok := completionScript(other)
		assert.That(t, !ok, "%q has a script", other)
	}
}
