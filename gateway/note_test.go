package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vaultwicket/gateway/notes"
)

// What the app would take for a name is found out first; the call then runs
// with the path, and with no other.
func TestANameIsResolvedBeforeTheCallIsJudged(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, located, answer string
		command               string
		params                []string
		called                string
		want                  Result
		code                  string
	}{
		{
			name: "a read", located: `path\tDeep/Plan.md\nname\tPlan\n`, answer: `text\n`, command: "read", params: []string{"file", "Plan"},
			called: "vault=Work read path=Deep/Plan.md", want: Result{Stdout: "text\n", Path: "Deep/Plan.md"},
		},
		{
			name: "a change", located: `path\tDeep/Plan.md\n`, answer: `Appended to: Deep/Plan.md\n`, command: "append", params: []string{"file", "Plan", "content", "x"},
			called: "vault=Work append content=x path=Deep/Plan.md", want: Result{Stdout: "Appended to: Deep/Plan.md\n", Path: "Deep/Plan.md"},
		},
		{
			name: "no such note", located: `Error: File "Plan" not found.\n`, command: "delete", params: []string{"file", "Plan"},
			want: Result{Stdout: "Error: File \"Plan\" not found.\n"}, code: "not_found",
		},
		{
			name: "an answer without a path", located: `name\tPlan\n`, command: "read", params: []string{"file", "Plan"},
			code: "cli_error",
		},
		{
			name: "a path that no call may have", located: `path\t../Plan.md\n`, command: "read", params: []string{"file", "Plan"},
			code: "cli_error",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, func(c *Config) { c.Vault.Folder = "" })
			f.app(versionLine, "vault=Work file file=Plan => "+strings.ReplaceAll(test.located, `\t`, "\t"), test.called+" => "+test.answer)
			got := f.gateway.Do(context.Background(), Request{Command: test.command, Params: params(test.params...)})
			if code(got) != test.code || got.Stdout != test.want.Stdout || got.Path != test.want.Path || got.Command != test.command {
				t.Errorf("got %+v (%v), want %+v", got, got.Error, test.want)
			}
			want := []string{"vault=Work version", "vault=Work file file=Plan"}
			if test.called != "" {
				want = append(want, test.called)
			}
			if app, own := f.called(); !slices.Equal(app, want) || len(own) > 0 {
				t.Errorf("called %q and %q, want %q", app, own, want)
			}
		})
	}
}

// The app hides whether a note ends with a line break; the size of the file
// does not.
func TestTheHashIsThatOfTheNotesBytes(t *testing.T) {
	t.Parallel()
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:8])
	}
	for _, test := range []struct{ name, onDisk, printed, want string }{
		{"no line break at the end", "text", `text\n`, hash("text")},
		{"one", "text\n", `text\n`, hash("text\n")},
		{"none, and not empty", "a\n\nb", `a\n\nb\n`, hash("a\n\nb")},
		{"changed since", "another text", `text\n`, ""},
	} {
		for _, command := range []Request{{Command: "read", Params: params("path", "A.md")}, {Command: "daily:read"}} {
			f := newFixture(t, nil).app(versionLine, `vault=Work daily:path => A.md\n`, "vault=Work read path=A.md => "+test.printed)
			if err := os.WriteFile(filepath.Join(f.vault, "A.md"), []byte(test.onDisk), 0o600); err != nil {
				t.Fatal(err)
			}
			got := f.gateway.Do(context.Background(), command)
			if !got.OK || got.Hash != test.want || got.Path != "A.md" {
				t.Errorf("%s: %s gave %+v, want the hash %q", test.name, command.Command, got, test.want)
			}
		}
	}
}

func TestNoHashWithoutTheNotesFile(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "x.md")
	if err := os.WriteFile(outside, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	vault := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(vault, "link.md")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ folder, path string }{
		{"", "A.md"}, {filepath.Join(vault, "gone"), "A.md"}, {vault, "A.md"}, {vault, "link.md"}, {vault, "../x.md"},
	} {
		if got := notes.HashOfPrinted(test.folder, test.path, "text\n"); got != "" {
			t.Errorf("%q in %q has the hash %q", test.path, test.folder, got)
		}
	}
}
