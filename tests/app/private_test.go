package app

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// TestPrivateNotesOfTheApp: the app does not know which notes narrow access to themselves, so it is
// asked for other notes by their paths alone while there are such notes.
func TestPrivateNotesOfTheApp(t *testing.T) {
	t.Parallel()
	a := newAppVault(t, map[string]string{"A.md": "# A\n[[P]]\n", "P.md": "# P\nzqx\n", "R.md": "read only\n", "2026-11-21.md": "today\n"})
	a.serve(howNamed[0].settings)
	ask := func(code, backend string, words ...string) {
		t.Helper()
		got := a.do(words[0], words[1:]...)
		if harness.CodeOf(got) != code || got.Backend != backend || code == "" && !got.OK ||
			code == "" && strings.Contains(got.Stdout, "P.md") || strings.Contains(got.Stdout, "zqx") {
			t.Errorf("%q: %q from %q, want %q from %q: %+v", words, harness.CodeOf(got), got.Backend, code, backend, got)
		}
	}
	if got := a.do("read", "path", "P.md"); !got.OK || got.Backend != "obsidian" || !strings.Contains(got.Stdout, "zqx") {
		t.Fatalf("%+v", got)
	}
	a.put("P.md", "---\nprivate: true\n---\n# P\nzqx\n")
	a.put("R.md", "---\nagent: r\n---\nread only\n")
	ask("", "obsidian", "read", "path", "A.md")
	ask("", "obsidian", "read", "file", "A")
	ask("not_found", "obsidian", "read", "path", "P.md")
	ask("not_found", "obsidian", "read", "path", "Q.md")
	ask("not_found", "obsidian", "read", "file", "P")
	ask("not_found", "obsidian", "outline", "path", "P.md")
	ask("", "obsidian", "read", "path", "R.md")
	ask("access_denied", "obsidian", "append", "path", "R.md", "content", "x")
	ask("access_denied", "obsidian", "property:set", "path", "R.md", "name", "agent", "value", "rwd")
	ask("access_denied", "", "search", "query", "zqx")
	ask("access_denied", "", "backlinks", "path", "A.md")
	ask("", "obsidian", "append", "path", "A.md", "content", "more")
	ask("", "obsidian", "append", "file", "A", "content", "more")
	ask("", "obsidian", "daily:read")
	daily := a.do("daily:read").Path
	open := a.get(daily)
	a.put(daily, "---\nprivate: true\n---\nzqx\n")
	ask("not_found", "obsidian", "daily:read")
	a.put(daily, open)
	assert.Equal(t, a.get("R.md"), "---\nagent: r\n---\nread only\n", "R.md")
	a.put("P.md", "# P\nopen\n")
	a.put("R.md", "open\n")
	got := a.do("files")
	assert.That(t, got.OK, "%+v", got)
	assert.Equal(t, got.Backend, "obsidian", "%+v", got)
	assert.Contains(t, got.Stdout, "P.md", "%+v", got)
}

// TestPrivateNotesWhereTheFolderIsNotKnown: the app is asked for the folder of its vault before the first call
// about notes, and without a folder such calls are refused. The list of the app has no vault.
func TestPrivateNotesWhereTheFolderIsNotKnown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		settings, code string
		fault          []appFault
		asked          int // for the folder
	}{
		"the app's choice": {"", "not_found", nil, 1},
		"a name":           {"[[vaults]]\nname = \"My Notes\"\n", "not_found", nil, 1},
		"no folder": {"", "access_denied",
			[]appFault{{Command: "vault", Kind: "says", Text: "/nowhere/at/all\n"},
				{Command: "vault", Kind: "says", Text: "Notes\n"}}, 2},
		"private notes off":    {"private-property = []\nprivate-tags = []\n", "", nil, 0},
		"private notes shadow": {"shadow = [\"private\"]\n", "", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAppVault(t, map[string]string{"A.md": "# A\n", "P.md": "---\nprivate: true\n---\nzqx\n"})
			a.tell(false, test.fault...)
			a.serve(test.settings + "# %q\n")
			for i, path := range []string{"P.md", "A.md"} {
				code := test.code
				if i == 1 && code == "not_found" {
					code = ""
				}
				got := a.do("read", "path", path)
				if harness.CodeOf(got) != code || strings.Contains(got.Stdout, "zqx") != (code == "" && i == 0) ||
					code == "access_denied" && !strings.Contains(got.Error.Hint, "private-property") {
					t.Errorf("%s: %+v", path, got)
				}
			}
			asked := 0
			for _, call := range a.called() {
				if call == "vault info=path" {
					asked++
				}
			}
			assert.That(t, asked == test.asked, "the app got %q", a.called())
		})
	}
}

// TestAnAppOfWindowsBesideLinux: inside of WSL the app for Windows names the folder of its vault by a path of Windows.
// It is found, also where the settings have the folder; elsewhere the hint says what to set.
func TestAnAppOfWindowsBesideLinux(t *testing.T) {
	t.Parallel()
	wsl := []string{"WSL_DISTRO_NAME=Debian"}
	for name, test := range map[string]struct {
		env            []string
		settings, code string
		share          string // before the folder, with its slashes turned
	}{
		"the app's choice":     {wsl, "", "", `\\wsl.localhost\Debian`},
		"a name":               {wsl, "[[vaults]]\nname = \"My Notes\"\n", "", `\\wsl$\Debian`},
		"a name with a folder": {wsl, "[[vaults]]\nname = \"My Notes\"\nfolder = %q\n", "", `\\wsl$\Debian`},
		"another distribution": {wsl, "", "access_denied", `\\wsl$\Ubuntu`},
		"a drive":              {wsl, "", "access_denied", `Q:`},
		"no Windows":           {nil, "", "access_denied", `Q:`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAppVault(t, map[string]string{".obsidian/app.json": "{}", "A.md": "# A\n", "P.md": "---\nprivate: true\n---\nzqx\n"})
			named := appFault{Command: "vault", Kind: "says", Text: test.share + strings.ReplaceAll(a.dir, "/", `\`) + "\n"}
			a.env = test.env
			faults := []appFault{named}
			if test.code != "" { // it is asked again at the next call
				faults = append(faults, named)
			}
			a.tell(false, faults...)
			a.serve(test.settings + "# %q\n")
			hidden, seen := a.do("read", "path", "P.md"), a.do("read", "path", "A.md")
			want := test.code
			if want == "" {
				want = "not_found"
			}
			assert.Equal(t, harness.CodeOf(hidden), want, "a private note: %+v", hidden.Error)
			require.Equal(t, harness.CodeOf(seen), test.code, "another note: %+v", seen.Error)
			if test.code != "" {
				assert.Contains(t, seen.Error.Hint, "set name and folder of the vault in [[vaults]]", "the hint")
			}
		})
	}
}

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
	if got := a.do("create", "path", "A.md", "content", shown+"\nmore", "overwrite", "true"); !got.OK ||
		got.Backend != "embedded" || a.get("A.md") != "# A\nkey "+token+"\nmore" {
		t.Errorf("%+v, %+v: %q", got, got.Error, a.get("A.md"))
	}
	if got := a.do("append", "path", "B.md", "content", shown); harness.CodeOf(got) != "bad_value" || a.get("B.md") != "none\n" {
		t.Errorf("%+v, %+v: %q", got, got.Error, a.get("B.md"))
	}
}
