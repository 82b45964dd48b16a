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

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// hidesPrivate is a gateway on the app alone, with a folder that may not be seen.
func hidesPrivate(t *testing.T) func(*Config) {
	rules := require.Value(access.New(map[string]access.Level{"/": access.Delete, "Private": access.None}))(t)
	return func(c *Config) {
		c.Backend = App
		c.Policy.Access = rules
	}
}

// Which note is the daily one the program that has the rules says, and the app is not asked for a
// hidden one.
func TestAHiddenDailyNoteIsMissing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, hidesPrivate(t)).app().embedded(`--facts vault=Work daily:path => Private/a.md\n`,
		`--facts vault=Work read path=Private/a.md => exit 1 not_found Error: File "Private/a.md" not found.\n`)
	got := f.gateway.Do(context.Background(), Request{Command: "daily:read"})
	assert.Equal(t, code(got), "not_found", "got %+v, %+v", got, got.Error)
	assert.Equal(t, got.Path, "Private/a.md", "got %+v, %+v", got, got.Error)
	assert.Equal(t, got.Backend, "obsidian", "got %+v, %+v", got, got.Error)
	app, own := f.called()
	assert.Equal(t, len(app), 0, "called %q and %q", app, own)
	assert.EqualSlices(t, own, []string{"--facts vault=Work daily:path", "--facts vault=Work read path=Private/a.md"}, "called %q and %q", app, own)
	plan := f.gateway.DryRun(context.Background(), Request{Command: "daily:read"})
	assert.That(t, plan.OK, "the dry run says %+v", plan.Error)
}

func TestAHintNamesWhatWouldHelp(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*Config)
		hint   string
	}{
		{"the app alone", func(*Config) {}, "set backend to auto"},
		{"the app alone, without a folder", func(c *Config) { c.Vault.Folder = "" }, "set vault to the folder"},
		{"auto without a folder", func(c *Config) { c.Backend, c.Vault.Folder = Auto, "" }, "set vault to the folder"},
	} {
		f := newFixture(t, func(c *Config) { hidesPrivate(t)(c); test.change(c) })
		got := f.gateway.Do(context.Background(), Request{Command: "backlinks", Params: params("path", "A.md")})
		if code(got) != "access_denied" || !strings.Contains(got.Error.Hint, test.hint) ||
			test.hint != "set backend to auto" && strings.Contains(got.Error.Hint, "set backend") {
			t.Errorf("%s: %+v", test.name, got.Error)
		}
	}
}

func TestANewNoteIsComparedWithTheFolderForNewNotes(t *testing.T) {
	t.Parallel()
	plan := []string{
		`--plan --facts vault=Work create name=Note => {"path":"Note.md","files":[{"path":"Note.md"}]}\n`,
		`--write --begin --change ID --facts vault=Work create path=Note.md => {"path":"Note.md","files":[{"path":"Note.md"}]}\n`,
		`--write --end --change ID --facts vault=Work create path=Note.md => {"state":"applied","after":"bb"}\n`,
	}
	f := newFixture(t, nil).embedded(plan...).app(versionLine, "vault=Work file file=Note => path\tOld/Note.md\\n",
		`vault=Work file path=Note.md => Error: File "Note.md" not found.\n`, `vault=Work create path=Note.md => Created: Note.md\n`)
	got := f.gateway.Do(context.Background(), Request{Command: "create", Params: params("name", "Note")})
	assert.That(t, got.OK, "got %+v, %+v", got, got.Error)
	assert.Equal(t, got.Path, "Note.md", "got %+v, %+v", got, got.Error)
	taken := newFixture(t, nil).embedded(`--plan --facts vault=Work create name=Note => exit 1 already_exists Error: File "Note.md" already exists.\n`)
	got = taken.gateway.Do(context.Background(), Request{Command: "create", Params: params("name", "Note")})
	assert.Equal(t, code(got), "already_exists", "%+v", got.Error)
	app, _ := taken.called()
	assert.That(t, len(app) == 0, "the app was asked %q", app)
	// Without the folder it is not known where the app would make it.
	blind := newFixture(t, func(c *Config) { c.Vault.Folder = "" }).app(versionLine, "vault=Work file file=Note => path\tOld/Note.md\\n")
	got = blind.gateway.Do(context.Background(), Request{Command: "create", Params: params("name", "Note")})
	assert.Equal(t, code(got), "ambiguous")
	assert.Contains(t, got.Error.Hint, "path=")
	assert.That(t, !strings.Contains(got.Error.Hint, "overwrite"), "got %+v", got.Error)
}

// An ignore file hides notes from everybody, and the app does not know it. Which
// notes it hides is not told.
func TestWithAnIgnoreFileTheAppIsNotAsked(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) { c.Backend = App })
	writeNote(t, f.vault, access.IgnoreFile, "Private/\n", 0)
	for _, request := range []Request{
		{Command: "read", Params: params("path", "A.md")}, {Command: "read", Params: params("file", "A")},
		{Command: "daily:read"}, {Command: "create", Params: params("name", "A")},
	} {
		got := f.gateway.Do(context.Background(), request)
		assert.Equal(t, code(got), policy.CodeAccess, "%s %v", request.Command, request.Params)
		assert.Contains(t, got.Error.Hint, "set backend to auto", "%s %v", request.Command, request.Params)
	}
	app, own := f.called()
	assert.That(t, len(app)+len(own) <= 0, "called %q and %q", app, own)
}

func TestAPinnedVaultIsTheOneThatTheAppMeans(t *testing.T) {
	t.Parallel()
	pin := func(c *Config) { c.Vault.Pinned = true }
	f := newFixture(t, pin)
	f.app(versionLine, "vault=Work vault info=path => "+f.vault+`\n`, "vault=Work tags => #a\\n")
	for range 2 {
		got := f.gateway.Do(context.Background(), Request{Command: "tags"})
		require.That(t, got.OK, "%+v", got.Error)
	}
	app, _ := f.called()
	assert.EqualSlices(t, withoutProbe(app), []string{"vault=Work vault info=path", "vault=Work tags", "vault=Work tags"}, "asked %q", app)

	other := newFixture(t, pin).app(versionLine, "vault=Work vault info=path => /somewhere/else\\n", "vault=Work tags => #secret\\n")
	for range 2 {
		got := other.gateway.Do(context.Background(), Request{Command: "tags"})
		assert.Equal(t, code(got), "vault_not_found")
		assert.That(t, !strings.Contains(got.Stdout, "secret"), "got %+v", got)
		assert.Contains(t, got.Error.Message, "/somewhere/else")
	}
	app, _ = other.called()
	assert.That(t, !slices.Contains(app, "vault=Work tags"), "asked %q", app)
}

func withoutProbe(calls []string) []string {
	return slices.DeleteFunc(calls, func(c string) bool { return strings.HasSuffix(c, " version") || c == "version" })
}

// What the app would take for a name is found out first; the call then runs
// with the path, and with no other.
func TestANameIsResolvedBeforeTheCallIsJudged(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, located, answer, command string
		params                         []string
		called                         string
		want                           Result
		code                           string
	}{
		{
			name: "a read", located: `path\tDeep/Plan.md\nname\tPlan\n`, answer: `text\n`, command: "read", params: []string{"file", "Plan"},
			called: "vault=Work read path=Deep/Plan.md", want: Result{Stdout: "text\n", Path: "Deep/Plan.md"},
		},
		{
			name: "a change", located: `path\tDeep/Plan.md\n`, answer: `Appended to: Deep/Plan.md\n`, command: "append",
			params: []string{"file", "Plan", "content", "x"},
			called: "vault=Work append content=x path=Deep/Plan.md", want: Result{Stdout: "Appended to: Deep/Plan.md\n", Path: "Deep/Plan.md"},
		},
		{
			name: "no such note", located: `Error: File "Plan" not found.\n`, command: "delete", params: []string{"file", "Plan"},
			want: Result{Stdout: "Error: File \"Plan\" not found.\n"}, code: "not_found",
		},
		{name: "an answer without a path", located: `name\tPlan\n`, command: "read", params: []string{"file", "Plan"}, code: "cli_error"},
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
			want := []string{"vault=Work version"}
			if test.command != "read" { // which is journaled in the folder
				want = append(want, "vault=Work vault info=path")
			}
			want = append(want, "vault=Work file file=Plan")
			if test.called != "" {
				want = append(want, test.called)
			}
			app, own := f.called()
			assert.EqualSlices(t, app, want, "called %q and %q", app, own)
			assert.Equal(t, len(own), 0, "called %q and %q", app, own)
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
			require.NoError(t, os.WriteFile(filepath.Join(f.vault, "A.md"), []byte(test.onDisk), 0o600))
			got := f.gateway.Do(context.Background(), command)
			assert.That(t, got.OK, "%s: %s gave %+v, want the hash %q", test.name, command.Command, got, test.want)
			assert.Equal(t, got.Hash, test.want, "%s: %s gave %+v, want the hash %q", test.name, command.Command, got, test.want)
			assert.Equal(t, got.Path, "A.md", "%s: %s gave %+v, want the hash %q", test.name, command.Command, got, test.want)
		}
	}
}

func TestNoHashWithoutTheNotesFile(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "x.md")
	require.NoError(t, os.WriteFile(outside, []byte("text"), 0o600))
	vault := t.TempDir()
	require.NoError(t, os.Symlink(outside, filepath.Join(vault, "link.md")))
	for _, test := range []struct{ folder, path string }{
		{"", "A.md"}, {filepath.Join(vault, "gone"), "A.md"}, {vault, "A.md"}, {vault, "link.md"}, {vault, "../x.md"},
	} {
		got := HashOfPrinted(test.folder, test.path, "text\n")
		assert.That(t, got == "", "%q in %q has the hash %q", test.path, test.folder, got)
	}
}
