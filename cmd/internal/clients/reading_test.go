package clients

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

const (
	readsMixed = "mcp__vaultwicket__obsidianCli"
	readsOnly  = "mcp__vaultwicket__obsidianRead"
)

// rulesOf are the rules of a client in the file of its settings, as text.
func rulesOf(t *testing.T, s *Session) string {
	t.Helper()
	c := mustFind(t, s.Client)
	text := read(t, s.Installer.System.path(strings.ReplaceAll(c.reads.file, "NAME", s.Name)))
	if text == nil {
		return ""
	}
	var rules []string
	for _, rule := range []string{readsMixed, readsOnly, "readOnlyHint = true"} {
		if strings.Contains(*text, rule) {
			rules = append(rules, rule)
		}
	}
	return strings.Join(rules, " ")
}

// TestTheRuleForReading: it is written where the client needs it, after it was shown and, for Claude Code, asked about;
// it follows the entry, and goes with it.
func TestTheRuleForReading(t *testing.T) {
	for _, test := range []struct{ client, reads, edits string }{
		{"claude-code", readsMixed, readsOnly},
		{"qwen", readsMixed, readsOnly},
		{"gemini", "readOnlyHint = true", "readOnlyHint = true"},
	} {
		s, out := session(t)
		s.Client = test.client
		home := s.Installer.System.Getenv("HOME")
		before := allFiles(t, home, s.Installer.Backups)
		var questions []string
		s.Confirm = func(context.Context) (bool, bool) { return true, true }
		s.Ask = func(_ context.Context, question string) (bool, bool) {
			questions = append(questions, question)
			return true, true
		}
		require.NoError(t, s.Run(context.Background()))
		isAsked := slices.ContainsFunc(questions, func(q string) bool { return strings.Contains(q, "without asking each time") })
		assert.Equal(t, isAsked, test.client == "claude-code", "%s: asked about the rule alone, of %q", test.client, questions)
		assert.Equal(t, rulesOf(t, s), test.reads, "%s: the rules of an entry that reads", test.client)
		assert.Contains(t, out.String(), "+", "%s: the change shows", test.client)
		assert.Contains(t, out.String(), "only reads without a question of its own", "%s: what the rule does is missing in", test.client)
		assert.That(t, !strings.Contains(out.String(), "To read without a terminal"), "%s: what is done is still to do:\n%s", test.client, out)

		questions = nil
		require.NoError(t, s.Run(context.Background()))
		assert.Equal(t, len(questions), 0, "%s: questions of the same again: %q", test.client, questions)

		s.Edit = true
		s.Yes = true
		require.NoError(t, s.Run(context.Background()))
		assert.Equal(t, rulesOf(t, s), test.edits, "%s: the rules of an entry with changes", test.client)

		s.Remove = true
		require.NoError(t, s.Run(context.Background()))
		assert.Equal(t, rulesOf(t, s), "", "%s: the rules after uninstall", test.client)
		after := allFiles(t, home, s.Installer.Backups)
		assert.Equal(t, strings.Join(after, "\n"), strings.Join(before, "\n"), "%s: the files after uninstall", test.client)
		records, _ := filepath.Glob(filepath.Join(s.Installer.Backups, "*", "*"+recordEnding))
		assert.Equal(t, len(records), 0, "%s: records of rules after uninstall: %q", test.client, records)
	}
}

// allFiles are the files below a folder with what is in them, without those below another one.
func allFiles(t *testing.T, folder, without string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(name string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == without:
			return filepath.SkipDir
		case entry.Type().IsRegular():
			all = append(all, name+"\n"+*read(t, name))
		}
		return nil
	})
	require.NoError(t, err)
	return all
}

// A rule that the user has written stays, and so do all others; without a question there is no rule for Claude Code.
func TestRulesOfTheUserStay(t *testing.T) {
	for _, client := range []string{"claude-code", "qwen"} {
		s, _ := session(t)
		s.Client = client
		s.Yes = true
		file := s.Installer.System.path(mustFind(t, client).reads.file)
		mine := "{\n  \"permissions\": {\n    \"allow\": [\"Bash(ls:*)\", \"" + readsMixed + "\"],\n    \"deny\": []\n  }\n}\n"
		write(t, file, &mine)
		require.NoError(t, s.Run(context.Background()))
		s.Edit = true
		require.NoError(t, s.Run(context.Background()))
		assert.Contains(t, *read(t, file), "\"Bash(ls:*)\", \""+readsMixed+"\"", "%s: the user's own", client)
		s.Remove = true
		require.NoError(t, s.Run(context.Background()))
		assert.Equal(t, *read(t, file), mine, "%s: the file after uninstall", client)
	}
	for _, test := range []struct {
		client           string
		headless, given  bool
		confirms, asking bool
		want             string
	}{
		{"claude-code", false, false, true, false, ""}, // --yes: nobody is asked
		{"claude-code", false, false, false, true, ""}, // asked, and declined
		{"claude-code", true, true, true, false, readsMixed},
		{"qwen", false, true, true, true, ""},
		{"gemini", false, true, true, true, ""},
		{"gemini", false, false, true, false, "readOnlyHint = true"},
	} {
		s, out := session(t)
		s.Client = test.client
		s.Yes = !test.asking
		s.Headless = test.headless
		s.HeadlessGiven = test.given
		s.Confirm = func(context.Context) (bool, bool) { return true, true }
		s.Ask = func(context.Context, string) (bool, bool) { return test.confirms, true }
		require.NoError(t, s.Run(context.Background()))
		assert.Equal(t, rulesOf(t, s), test.want, "%+v: the rules", test)
		isSaid := strings.Contains(out.String(), "To read without a terminal")
		assert.Equal(t, isSaid, test.want == "", "%+v: what is left to do is said", test)
	}
}

// What is not told apart from the work of others is left alone: a file of another, a project, a server over HTTP.
func TestNoRuleWhereItIsNotKnown(t *testing.T) {
	s, _ := session(t)
	s.Client = "gemini"
	s.Yes = true
	file := s.Installer.System.path("~/.gemini/policies/vaultwicket.toml")
	mine := "[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 1\n"
	write(t, file, &mine)
	require.NoError(t, s.Run(context.Background()))
	assert.Equal(t, *read(t, file), mine, "the file of the user after install")
	s.Remove = true
	require.NoError(t, s.Run(context.Background()))
	assert.Equal(t, *read(t, file), mine, "the file of the user after uninstall")

	for _, client := range []string{"claude-code", "qwen", "gemini"} {
		s, _ = session(t)
		s.Client = client
		s.Yes = true
		s.Headless = true
		s.HeadlessGiven = true
		s.Scope = string(Project)
		require.NoError(t, s.Run(context.Background()))
		assert.Equal(t, rulesOf(t, s), "", "%s: the rules of a project", client)
		s.Scope = string(User)
		require.NoError(t, s.Run(context.Background()))
		s.Remove = true
		require.NoError(t, s.Run(context.Background()))
		s.Remove = false
		s.URL = "http://127.0.0.1:8765/mcp"
		require.NoError(t, s.Run(context.Background()))
		assert.Equal(t, rulesOf(t, s), "", "%s: the rules of a server over HTTP", client)
	}
}

// A rule whose entry somebody else has removed is taken back, and one of another server stays.
func TestARuleWithoutItsEntry(t *testing.T) {
	for _, client := range []string{"claude-code", "qwen", "gemini"} {
		s, _ := session(t)
		s.Client = client
		s.Yes = true
		s.Headless = true
		s.HeadlessGiven = true
		require.NoError(t, s.Run(context.Background()))
		s.Name = "vaultwicket-work"
		require.NoError(t, s.Run(context.Background()))
		s.Name = "vaultwicket"
		c := mustFind(t, client)
		file := s.Installer.System.File(c, User)
		text := strings.Replace(*read(t, file), `"vaultwicket":`, `"other":`, 1)
		text = strings.Replace(text, "/usr/bin/vaultwicket", "/usr/bin/true", 1)
		write(t, file, &text)
		s.Remove = true
		require.NoError(t, s.Run(context.Background()))
		if client != "gemini" {
			assert.That(t, !strings.Contains(rulesOf(t, s), readsMixed), "%s: the rule is still there: %s", client, rulesOf(t, s))
			rules := *read(t, s.Installer.System.path(c.reads.file))
			assert.Contains(t, rules, "mcp__vaultwicket-work__obsidianCli", "%s: the rule of the other server", client)
			continue
		}
		assert.Equal(t, rulesOf(t, s), "", "%s: the rules", client)
		s.Name = "vaultwicket-work"
		assert.Equal(t, rulesOf(t, s), "readOnlyHint = true", "%s: the rules of the other server", client)
	}
}

// A file of settings that cannot be read stops all of it.
func TestAMalformedFileOfRules(t *testing.T) {
	s, _ := session(t)
	s.Client = "claude-code"
	s.Yes = true
	s.Headless = true
	s.HeadlessGiven = true
	broken := "{\"permissions\": {\"allow\": \"all\"}}"
	write(t, s.Installer.System.path(claudeFolder+"/settings.json"), &broken)
	err := s.Run(context.Background())
	require.That(t, err != nil, "a list that is none was edited")
	assert.Contains(t, err.Error(), "a list is needed here", "the error")
	got := read(t, s.Installer.System.File(mustFind(t, "claude-code"), User))
	assert.That(t, got == nil, "the entry was written: %s", show(got))
}
