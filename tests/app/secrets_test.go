package app

import (
	"strings"
	"testing"

	"vaultwicket/tests/rig"
)

// TestSecretsOfTheApp has the app print notes with secrets: the gateway redacts them, and a text
// with their marks is written by the embedded program, which knows what they are of.
func TestSecretsOfTheApp(t *testing.T) {
	t.Parallel()
	const token = "ghp_R8dk2Lx0PqW3mZt7YbN5cVj1HsA9fGe4UoT6"
	a := newAppVault(t, map[string]string{"A.md": "# A\nkey " + token + "\n", "B.md": "none\n"})
	a.serve(howNamed[0].settings)
	got := a.do("read", "path", "A.md")
	if !got.OK || got.Backend != "obsidian" || strings.Contains(got.Stdout, token[4:12]) || !strings.Contains(got.Stdout, "key ‹secret:github-pat:") {
		t.Fatalf("%+v, %+v", got, got.Error)
	}
	shown := strings.TrimSuffix(got.Stdout, "\n")
	if got := a.do("create", "path", "A.md", "content", shown+"\nmore", "overwrite", "true"); !got.OK || got.Backend != "embedded" || a.get("A.md") != "# A\nkey "+token+"\nmore" {
		t.Errorf("%+v, %+v: %q", got, got.Error, a.get("A.md"))
	}
	if got := a.do("append", "path", "B.md", "content", shown); rig.CodeOf(got) != "bad_value" || a.get("B.md") != "none\n" {
		t.Errorf("%+v, %+v: %q", got, got.Error, a.get("B.md"))
	}
}
