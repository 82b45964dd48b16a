package gateway

import (
	"context"
	"slices"
	"strings"
	"testing"

	"vaultwicket/policy"
	"vaultwicket/policy/access"
)

// hidesPrivate is a gateway on the app alone, with a folder that may not be seen.
func hidesPrivate(t *testing.T) func(*Config) {
	rules, err := access.New(map[string]access.Level{"/": access.Delete, "Private": access.None})
	if err != nil {
		t.Fatal(err)
	}
	return func(c *Config) {
		c.Backend = App
		c.Policy.Access = rules
	}
}

// With rules that hide notes, a name is resolved by the program that holds the
// rules, and the app is asked for the path alone.
func TestUnderRulesANameIsResolvedByTheEmbeddedCLI(t *testing.T) {
	t.Parallel()
	const locate = "--facts vault=Work file file=Plan"
	for _, test := range []struct {
		name          string
		request       Request
		app, embedded []string
		want          Result
		code          string
		calledApp     []string
		calledOwn     []string
	}{
		{
			name: "a read by name", request: Request{Command: "read", Params: params("file", "Plan")},
			app: []string{versionLine, `vault=Work read path=Deep/Plan.md => text\n`}, embedded: []string{locate + " => path\tDeep/Plan.md\\n"},
			want:      Result{Stdout: "text\n", Path: "Deep/Plan.md", Backend: "obsidian"},
			calledApp: []string{"vault=Work version", "vault=Work read path=Deep/Plan.md"}, calledOwn: []string{locate},
		},
		{
			name: "a name that no visible note has", request: Request{Command: "read", Params: params("file", "Plan")},
			embedded: []string{locate + ` => exit 1 not_found Error: File "Plan" not found.\n`},
			want:     Result{Stdout: "Error: File \"Plan\" not found.\n", Backend: "obsidian"}, code: "not_found", calledOwn: []string{locate},
		},
		{
			name: "a change by name", request: Request{Command: "append", Params: params("file", "Plan", "content", "x")},
			app: []string{versionLine, `vault=Work append content=x path=Deep/Plan.md => Appended to: Deep/Plan.md\n`},
			embedded: []string{
				locate + " => path\tDeep/Plan.md\\n",
				`--write --begin --change ID --facts vault=Work append content=x path=Deep/Plan.md => {"path":"Deep/Plan.md","files":[{"path":"Deep/Plan.md"}]}\n`,
				`--write --end --change ID --facts vault=Work append content=x path=Deep/Plan.md => {"state":"applied","before":"aa","after":"bb"}\n`,
			},
			want:      Result{Stdout: "Appended to: Deep/Plan.md\n", Path: "Deep/Plan.md", Backend: "obsidian"},
			calledApp: []string{"vault=Work version", "vault=Work append content=x path=Deep/Plan.md"},
			calledOwn: []string{locate, "--write --begin --change ID --facts vault=Work append content=x path=Deep/Plan.md", "--write --end --change ID --facts vault=Work append content=x path=Deep/Plan.md"},
		},
		{
			name: "the daily note", request: Request{Command: "daily:read"},
			app: []string{versionLine, `vault=Work read path=Daily/a.md => text\n`}, embedded: []string{`--facts vault=Work daily:path => Daily/a.md\n`, `--facts vault=Work read path=Daily/a.md => text\n`},
			want:      Result{Stdout: "text\n", Path: "Daily/a.md", Backend: "obsidian"},
			calledApp: []string{"vault=Work version", "vault=Work read path=Daily/a.md"},
			calledOwn: []string{"--facts vault=Work daily:path", "--facts vault=Work read path=Daily/a.md"},
		},
		{
			name: "a daily note that is hidden", request: Request{Command: "daily:read"},
			embedded: []string{`--facts vault=Work daily:path => Private/a.md\n`, `--facts vault=Work read path=Private/a.md => exit 1 not_found Error: File "Private/a.md" not found.\n`},
			want:     Result{Stdout: "Error: File \"Private/a.md\" not found.\n", Path: "Private/a.md", Backend: "obsidian"}, code: "not_found",
			calledOwn: []string{"--facts vault=Work daily:path", "--facts vault=Work read path=Private/a.md"},
		},
		{
			name: "a new note by its name", request: Request{Command: "create", Params: params("name", "Plan")},
			app: []string{versionLine, `vault=Work file path=In/Plan.md => Error: File "In/Plan.md" not found.\n`, `vault=Work create path=In/Plan.md => Created: In/Plan.md\n`},
			embedded: []string{
				`--plan --facts vault=Work create name=Plan => {"path":"In/Plan.md","files":[{"path":"In/Plan.md"}]}\n`,
				`--write --begin --change ID --facts vault=Work create path=In/Plan.md => {"path":"In/Plan.md","files":[{"path":"In/Plan.md"}]}\n`,
				`--write --end --change ID --facts vault=Work create path=In/Plan.md => {"state":"applied","after":"bb"}\n`,
			},
			want:      Result{Stdout: "Created: In/Plan.md\n", Path: "In/Plan.md", Backend: "obsidian"},
			calledApp: []string{"vault=Work version", "vault=Work file path=In/Plan.md", "vault=Work create path=In/Plan.md"},
			calledOwn: []string{"--plan --facts vault=Work create name=Plan", "--write --begin --change ID --facts vault=Work create path=In/Plan.md", "--write --end --change ID --facts vault=Work create path=In/Plan.md"},
		},
		{
			name: "what reaches other notes is refused", request: Request{Command: "backlinks", Params: params("file", "Plan")},
			code: "access_denied",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, hidesPrivate(t)).app(test.app...).embedded(test.embedded...)
			got := f.gateway.Do(context.Background(), test.request)
			if code(got) != test.code || got.Stdout != test.want.Stdout || got.Path != test.want.Path || got.Backend != test.want.Backend {
				t.Errorf("got %+v (%v), want %+v", got, got.Error, test.want)
			}
			if app, own := f.called(); !slices.Equal(app, test.calledApp) || !slices.Equal(own, test.calledOwn) {
				t.Errorf("called %q and %q, want %q and %q", app, own, test.calledApp, test.calledOwn)
			}
			if got := f.gateway.DryRun(context.Background(), test.request); test.code != "access_denied" && !got.OK {
				t.Errorf("the dry run says %+v", got.Error)
			}
		})
	}
}

// A hint names a setting that would help, and none that is set already.
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
		if code(got) != "access_denied" || !strings.Contains(got.Error.Hint, test.hint) || test.hint != "set backend to auto" && strings.Contains(got.Error.Hint, "set backend") {
			t.Errorf("%s: %+v", test.name, got.Error)
		}
	}
}

// A note of the same name in another folder is no obstacle.
func TestANewNoteIsComparedWithTheFolderForNewNotes(t *testing.T) {
	t.Parallel()
	plan := []string{
		`--plan --facts vault=Work create name=Note => {"path":"Note.md","files":[{"path":"Note.md"}]}\n`,
		`--write --begin --change ID --facts vault=Work create path=Note.md => {"path":"Note.md","files":[{"path":"Note.md"}]}\n`,
		`--write --end --change ID --facts vault=Work create path=Note.md => {"state":"applied","after":"bb"}\n`,
	}
	f := newFixture(t, nil).embedded(plan...).app(versionLine, "vault=Work file file=Note => path\tOld/Note.md\\n",
		`vault=Work file path=Note.md => Error: File "Note.md" not found.\n`, `vault=Work create path=Note.md => Created: Note.md\n`)
	if got := f.gateway.Do(context.Background(), Request{Command: "create", Params: params("name", "Note")}); !got.OK || got.Path != "Note.md" {
		t.Errorf("got %+v, %+v", got, got.Error)
	}
	taken := newFixture(t, nil).embedded(`--plan --facts vault=Work create name=Note => exit 1 already_exists Error: File "Note.md" already exists.\n`)
	if got := taken.gateway.Do(context.Background(), Request{Command: "create", Params: params("name", "Note")}); code(got) != "already_exists" {
		t.Errorf("got %+v", got.Error)
	}
	if app, _ := taken.called(); len(app) > 0 {
		t.Errorf("the app was asked %q", app)
	}
	// Without the folder nobody knows where the app would make it.
	blind := newFixture(t, func(c *Config) { c.Vault.Folder = "" }).app(versionLine, "vault=Work file file=Note => path\tOld/Note.md\\n")
	got := blind.gateway.Do(context.Background(), Request{Command: "create", Params: params("name", "Note")})
	if code(got) != "ambiguous" || !strings.Contains(got.Error.Hint, "path=") || strings.Contains(got.Error.Hint, "overwrite") {
		t.Errorf("got %+v", got.Error)
	}
}

// An ignore file hides notes from everybody, and the app does not know it. Which
// notes it hides is not told.
func TestWithAnIgnoreFileTheAppIsNotAsked(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) { c.Backend, c.Policy.Ignores = App, true })
	for _, request := range []Request{
		{Command: "read", Params: params("path", "A.md")}, {Command: "read", Params: params("file", "A")}, {Command: "daily:read"}, {Command: "create", Params: params("name", "A")},
	} {
		got := f.gateway.Do(context.Background(), request)
		if code(got) != policy.CodeAccess || !strings.Contains(got.Error.Hint, "set backend to auto") {
			t.Errorf("%s %v: %+v", request.Command, request.Params, got.Error)
		}
	}
	if app, own := f.called(); len(app)+len(own) > 0 {
		t.Errorf("called %q and %q", app, own)
	}
}
