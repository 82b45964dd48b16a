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
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// Only what a program can answer is listed. Where there is no program at all, the answer
// to a call says so.
func TestOnlyWhatCanBeAnsweredIsListed(t *testing.T) {
	t.Parallel()
	noCLI := func(c *Config) {
		c.Runner = exec.New(exec.Config{CLI: filepath.Join(t.TempDir(), "none"), Self: "/nowhere/vaultwicket"})
	}
	noFolder := func(c *Config) { c.Vault.Folder = "" }
	of := func(b Backend) func(*Config) { return func(c *Config) { c.Backend = b } }
	for _, test := range []struct {
		name                  string
		change                []func(*Config)
		tabs, random, section string // the codes of a command that needs the app, of one that opens a note, and of an extension
	}{
		{"both programs", nil, "", "", ""},
		{"no CLI", []func(*Config){noCLI}, failure.CodeNeedsApp, failure.CodeNeedsApp, ""},
		{"embedded is asked for", []func(*Config){of(Embedded)}, failure.CodeNeedsApp, failure.CodeNeedsApp, ""},
		{"the app without a folder", []func(*Config){noFolder}, "", "", failure.CodeVaultNotFound},
		{"the app is asked for", []func(*Config){of(App)}, "", "", ""},
		{"the app is asked for and missing", []func(*Config){of(App), noCLI}, "", "", ""},
		{"no program", []func(*Config){noCLI, noFolder}, "", "", ""},
		{"embedded without a folder", []func(*Config){of(Embedded), noFolder}, "", "", ""},
	} {
		f := newFixture(t, func(c *Config) {
			for _, change := range test.change {
				change(c)
			}
		})
		codes := map[string]string{"tabs": test.tabs, "random": test.random, "note:section": test.section, "read": ""}
		for _, l := range f.gateway.Listing() {
			want, looked := codes[l.Name]
			if !looked {
				continue
			}
			e := l.Explained()
			if l.Enabled() != (want == "") || e.Allowed != l.Enabled() || e.Code != want || (e.Why == "") != (want == "") || (e.Hint == "") != (want == "") {
				t.Errorf("%s: %s: %+v, want the code %q", test.name, l.Name, e.CommandEntry, want)
			}
			_, open := f.gateway.Enabled(l.Name)
			assert.Equal(t, open, l.Enabled(), "%s: %s: open for typed tools", test.name, l.Name)
		}
	}
}

// A command is listed if one of the vaults has both the permission and the program.
func TestOneVaultIsEnoughForAListing(t *testing.T) {
	t.Parallel()
	on, off := policy.Policy{Ceiling: tiers.V3, UI: true, MinVersion: tiers.DefaultMinimum}, policy.Policy{MinVersion: tiers.DefaultMinimum}
	for _, test := range []struct {
		vaults []Served
		want   string
	}{
		{[]Served{{Vault{Name: "A"}, off}, {Vault{Folder: t.TempDir()}, on}}, ""},
		{[]Served{{Vault{Folder: t.TempDir()}, off}, {Vault{Name: "A"}, on}}, failure.CodeVaultNotFound},
		{[]Served{{Vault{Name: "A"}, on}, {Vault{Folder: t.TempDir()}, off}}, failure.CodeVaultNotFound},
		{[]Served{{Vault{Name: "A"}, off}, {Vault{Name: "B"}, off}}, failure.CodeVaultNotFound},
		{[]Served{{Vault{Folder: t.TempDir()}, off}, {Vault{Folder: t.TempDir()}, off}}, policy.CodeTierClosed},
	} {
		f := newFixture(t, func(c *Config) { c.Vaults = test.vaults })
		for _, l := range f.gateway.Listing() {
			if l.Name == "note:section" && l.Entry().Code != test.want {
				t.Errorf("%+v: %+v", test.vaults, l.Entry())
			}
		}
	}
}

// To enable what no program can answer would help no one, so the program is what is named.
func TestAMissingProgramIsToldBeforeADisabledTier(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) { c.Backend, c.Policy = Embedded, policy.Policy{MinVersion: tiers.DefaultMinimum} })
	for name, want := range map[string]string{"tabs": failure.CodeNeedsApp, "read": policy.CodeTierClosed, "eval": policy.CodeRestricted} {
		l, err := f.gateway.Explain(name)
		e := l.Explained()
		require.Equal(t, err, nil, "%s: %+v", name, e.CommandEntry)
		require.Equal(t, e.Code, want, "%s: %+v", name, e.CommandEntry)
		require.That(t, e.Why != "", "%s: %+v, %v", name, e.CommandEntry, err)
		assert.That(t, !e.Allowed, "%s: %+v, %v", name, e.CommandEntry, err)
	}
}

// An agent is told how a tool takes parameters, and a user at a terminal how a command
// line does. Neither is told of a command that cannot work.
func TestHelpIsForWhoAsks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) {
		c.Backend, c.Policy = Embedded, policy.Policy{MinVersion: tiers.DefaultMinimum, Ceiling: tiers.V0, UI: true}
	})
	agent := f.gateway.Do(t.Context(), Request{Command: "help"}).Stdout
	user := f.gateway.Do(t.Context(), Request{Command: "help", AtTerminal: true}).Stdout
	if !strings.HasPrefix(agent, "Put a command's parameters into params by name: {") ||
		!strings.Contains(agent, "\ndaily:read: Print today's daily note\n") || len(agent) > 1<<10 {
		t.Errorf("an agent is told, in %d bytes,\n%s", len(agent), agent)
	}
	assert.Contains(t, user, "\ndaily:read [date= offset=]\n  Print today's daily note\n", "a user is told\n%s", user)
	assert.That(t, !strings.Contains(user, "params"), "a user is told\n%s", user)
	for _, text := range []string{agent, user} {
		assert.That(t, strings.Contains(text, "\nrandom:") != strings.Contains(text, "\nrandom "), "listed:\n%s", text)
		assert.That(t, !strings.Contains(text, "daily:append"), "listed:\n%s", text)
	}
}

func TestTheOwnerReadsNoHiddenNoteByItsHash(t *testing.T) {
	t.Parallel()
	rules := require.Value(access.New(map[string]access.Level{"/": access.Read, "Private": access.None}))(t)
	f := newFixture(t, func(c *Config) { c.Policy.Access = rules })
	for path, text := range map[string]string{"Private/a.md": "secret", "Work/a.md": "milk"} {
		require.NoError(t, os.MkdirAll(filepath.Join(f.vault, filepath.Dir(path)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(f.vault, path), []byte(text), 0o600))
		sum := sha256.Sum256([]byte(text))
		got, ok := f.gateway.NoteWithHash("", path, hex.EncodeToString(sum[:]))
		assert.Equal(t, ok, path == "Work/a.md")
		assert.That(t, !ok || string(got.ForProgram()) == text, "%s: %q, %v", path, got, ok)
	}
	_, _, err := f.gateway.AccessBelow("", "../")
	assert.That(t, err != nil, "folders outside of the vault are listed")
}

func gatewayWith(p policy.Policy) *Gateway {
	p.MinVersion = tiers.DefaultMinimum
	return New(Config{Policy: p})
}

func TestWorst(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		policy policy.Policy
		want   tiers.Effect
	}{
		{"nothing is open", policy.Policy{}, tiers.Reads},
		{"reading only, without the user interface", policy.Policy{Ceiling: tiers.V3}, tiers.Reads},
		{"reading and showing", policy.Policy{Ceiling: tiers.V3, UI: true}, tiers.Shows},
		{"daily notes can be written", policy.Policy{Ceiling: tiers.V0, Mutations: true}, tiers.Writes},
		{"notes can be removed", policy.Policy{Ceiling: tiers.V1, Mutations: true}, tiers.Destroys},
		{"only a parameter destroys", policy.Policy{Ceiling: tiers.V1, Mutations: true, EnableOnly: []string{"create"}}, tiers.Destroys},
		{"notes can be published", policy.Policy{Ceiling: tiers.V2, Mutations: true, Publish: true}, tiers.Publishes},
	}
	for _, tt := range tests {
		assert.Equal(t, WorstEffect(gatewayWith(tt.policy).Listing()), tt.want, "%s", tt.name)
	}
}

func paramNames(c allowlist.Command) string {
	var names []string
	for _, p := range c.Params {
		names = append(names, p.Name)
	}
	return strings.Join(names, " ")
}

func TestOpened(t *testing.T) {
	t.Parallel()
	const reading, writing = "ref file path line text daily", "ref file path line text status toggle daily done todo date"
	for name, test := range map[string]struct {
		policies []policy.Policy
		command  string
		params   string // "-" if it is closed
	}{
		"what changes is closed": {[]policy.Policy{{Ceiling: tiers.V1, UI: true}}, "task", reading},
		"all of it is open":      {[]policy.Policy{{Ceiling: tiers.V1, UI: true, Mutations: true}}, "task", writing},
		"views are closed": {[]policy.Policy{{Ceiling: tiers.V0, Mutations: true}}, "daily:append",
			"content paneType inline heading create-heading date offset"},
		"another tier":       {[]policy.Policy{{Ceiling: tiers.V0}}, "task", "-"},
		"disabled":           {[]policy.Policy{{Ceiling: tiers.V1, Disable: []string{"task"}}}, "task", "-"},
		"no such command":    {[]policy.Policy{{Ceiling: tiers.V3}}, "tusk", "-"},
		"never passed on":    {[]policy.Policy{{Ceiling: tiers.V2, Mutations: true, Publish: true}}, "publish:add", "file path"},
		"open in one of two": {[]policy.Policy{{Ceiling: tiers.V0}, {Ceiling: tiers.V1}}, "task", reading},
		"where the command is open, the parameter is not": {
			[]policy.Policy{{Ceiling: tiers.V0, Mutations: true}, {Ceiling: tiers.V1}}, "task", reading},
	} {
		config := Config{}
		for _, p := range test.policies {
			p.MinVersion = tiers.DefaultMinimum
			config.Vaults = append(config.Vaults, Served{Vault: Vault{Name: "V"}, Policy: p})
		}
		c, open := New(config).Enabled(test.command)
		if open != (test.params != "-") || open && (paramNames(c) != test.params || c.Name != test.command) {
			t.Errorf("%s: %s [%s], open %v, want [%s]", name, c.Name, paramNames(c), open, test.params)
		}
	}
}

// A promise to read only is kept against every policy, and for the whole call. What
// the policy is against keeps the answer of the policy.
func TestReadsOnly(t *testing.T) {
	t.Parallel()
	params := func(key, value string) allowlist.Params { return allowlist.Params{key: allowlist.Text(value)} }
	f := newFixture(t, nil)
	for name, test := range map[string]struct {
		request Request
		code    string // "" for what may pass
	}{
		"a read": {Request{Command: "files"}, ""},
		"a write": {Request{Command: "append",
			Params: allowlist.Params{"path": allowlist.Text("A.md"), "content": allowlist.Text("x")}},
			failure.CodeBadRequest},
		"a read that a flag makes one": {Request{Command: "task",
			Params: allowlist.Params{"ref": allowlist.Text("A.md:1"), "toggle": allowlist.Flag(true)}},
			failure.CodeBadRequest},
		"the same without":        {Request{Command: "task", Params: params("ref", "A.md:1")}, ""},
		"what opens a view":       {Request{Command: "open", Params: params("path", "A.md")}, failure.CodeBadRequest},
		"what leaves the machine": {Request{Command: "web", Params: params("url", "https://example.org/")}, failure.CodeBadRequest},
		"what destroys":           {Request{Command: "delete", Params: params("path", "A.md")}, failure.CodeBadRequest},
		"what nothing opens":      {Request{Command: "eval"}, policy.CodeRestricted},
		"what does not exist":     {Request{Command: "reed"}, allowlist.CodeUnknownCommand},
	} {
		test.request.ReadsOnly = true
		_, err := f.gateway.vaults[0].Plan(test.request)
		if got := failure.Of(firstOfErrors(err)); got.Code != test.code {
			t.Errorf("%s: %+v, want %q", name, got, test.code)
		} else if test.code == failure.CodeBadRequest && !strings.Contains(got.Hint, "obsidianCli") {
			t.Errorf("%s: the hint is %q", name, got.Hint)
		}
		d := f.gateway.DryRun(t.Context(), test.request)
		assert.Equal(t, d.OK, test.code == "", "%s: as a dry run %+v", name, d)
		assert.Equal(t, len(d.Argv) > 0, d.OK, "%s: as a dry run %+v", name, d)
		if test.code == "" {
			continue
		}
		r := f.gateway.Do(t.Context(), test.request)
		assert.That(t, !r.OK, "%s: done: %+v", name, r)
		assert.Equal(t, r.ExitCode, -1, "%s: done: %+v", name, r)
		assert.Equal(t, r.Error.Code, test.code, "%s: done: %+v", name, r)
	}
	app, embedded := f.called()
	assert.That(t, len(app)+len(embedded) <= 0, "started %q, %q", app, embedded)
	assert.Contains(t, logOf(t, f), "deny delete bad_request", "a promise that is broken")
}

// firstOfErrors lets a missing error be looked at like one.
func firstOfErrors(err error) error {
	if err == nil {
		return failure.New("", "", "")
	}
	return err
}

// TestReadsOnlyKeepsToTheTable checks the promise with every command that
// needs no parameter.
func TestReadsOnlyKeepsToTheTable(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	reads := 0
	for c := range allowlist.Commands() {
		if _, err := allowlist.Parse(c.Name, nil); err != nil || c.Tier == tiers.Restricted {
			continue
		}
		want := c.Effect == tiers.Reads && !c.Shows && !c.Sends
		_, err := f.gateway.vaults[0].Plan(Request{Command: c.Name, ReadsOnly: true})
		refused := err != nil && strings.Contains(err.Error(), "more than read")
		assert.That(t, !want || !refused, "%s, effect %v: %v", c.Name, c.Effect, err)
		assert.That(t, want || err != nil, "%s, effect %v: %v", c.Name, c.Effect, err)
		if want {
			reads++
		}
	}
	assert.That(t, reads >= 30, "only %d reads", reads)
}

// TestHelpForOneCommandStartsNothing: the gateway explains a command by itself, on
// every way to a call, with its lines in the audit log.
func TestHelpForOneCommandStartsNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) { c.Session = "session" })
	req := Request{Command: "help", Params: params("command", "daily:append")}
	got := f.gateway.Do(t.Context(), req)
	assert.That(t, got.OK, "do: %+v", got)
	assert.Equal(t, got.ExitCode, -1, "do")
	assert.Equal(t, got.Backend, "", "do")
	assert.That(t, strings.HasPrefix(got.Stdout, "daily:append content="), "do: %+v", got)
	assert.Equal(t, got.Output(), got.Stdout, "do")
	lines := auditOf(t, f)
	require.Equal(t, len(lines), 2, "the log has %+v", lines)
	require.Equal(t, lines[0].Decision, "allow", "the log has %+v", lines)
	require.Equal(t, lines[1].Kind, "end", "the log has %+v", lines)
	assert.Equal(t, lines[0].Params[0].Name, "command", "the log has %+v", lines)
	dry := f.gateway.DryRun(t.Context(), req)
	if !dry.OK || dry.Decision != "allow" || dry.Program != "" || !slices.Contains(dry.Notices, "vaultwicket answers this itself; no program is started") {
		t.Errorf("dry run: %+v", dry)
	}
	batch := f.gateway.DoBatch(t.Context(), Batch{Operations: []Operation{{ClientID: "a", Request: req}}})
	require.That(t, batch.OK, "batch: %+v", batch)
	assert.Equal(t, batch.Results[0].Result.Stdout, got.Stdout, "batch")
	f.gateway.Disable()
	assert.Equal(t, code(f.gateway.Do(t.Context(), req)), "paused", "switched off")
	app, own := f.called()
	assert.That(t, len(app)+len(own) <= 0, "started %q and %q", app, own)
}

func TestTextExplainsEveryCommand(t *testing.T) {
	t.Parallel()
	for _, p := range []policy.Policy{{}, {Ceiling: tiers.V3, UI: true, Mutations: true, Publish: true, Confirm: policy.ConfirmNever}} {
		g := gatewayWith(p)
		for _, name := range allowlist.Names() {
			l := require.Value(g.Explain(name))(t)
			e := l.Explained()
			text := e.Text()
			for _, want := range append([]string{e.Signature + "\n", e.Summary, e.Tier, e.Effect, e.Why, e.Hint}, allowedWord(e)) {
				assert.That(t, strings.Contains(text, want), "%s: %q is not in\n%s", name, want, text)
			}
			for _, param := range e.Params {
				if !strings.Contains(text, "  "+param.Name+" ") || !strings.Contains(text, param.Summary) || !strings.Contains(text, param.Refused) {
					t.Errorf("%s: parameter %+v is not in\n%s", name, param, text)
				}
			}
		}
	}
}

func allowedWord(e ExplainedCommand) string {
	if e.Allowed {
		return "allowed  yes\n"
	}
	return "allowed  no: "
}

func TestTextTellsWhichParametersAreClosed(t *testing.T) {
	t.Parallel()
	l := require.Value(gatewayWith(policy.Policy{Ceiling: tiers.V1, UI: true}).Explain("task"))(t)
	text := l.Explained().Text()
	assert.Contains(t, text, "(effect write; disabled by the policy)", "the text is\n%s", text)
	assert.Equal(t, strings.Count(text, "disabled by the policy"), 5, "the text is\n%s", text)
	open, err := gatewayWith(policy.Policy{Ceiling: tiers.V1, UI: true, Mutations: true}).Explain("task")
	if err != nil || strings.Contains(open.Explained().Text(), "disabled by the policy") {
		t.Errorf("%v, the text is\n%s", err, open.Explained().Text())
	}
}

// TestPoliciesTellNoPath: whatever the rules are, the view says no more than that
// there are some, and the level of the root.
func TestPoliciesTellNoPath(t *testing.T) {
	t.Parallel()
	for root, want := range map[access.Level]string{access.None: "", access.Read: "r", access.Write: "rw", access.Delete: "rwd"} {
		rules := require.Value(access.New(map[string]access.Level{"/": root, "Hidden/Part": access.Delete}))(t)
		views := gatewayWith(policy.Policy{Access: rules}).Policies()
		assert.Equal(t, views[0].Access, (AccessView{Rules: true, Root: want}), "root %s", root)
	}
	assert.Equal(t, gatewayWith(policy.Policy{}).Policies()[0].Access, (AccessView{}), "without rules")
}

func TestStatusLooksAndStartsNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*Config)
		want   []BackendStatus
	}{
		{"both", nil, []BackendStatus{{Name: "obsidian", Usable: true}, {Name: "embedded", Usable: true}}},
		{"the app alone", func(c *Config) { c.Backend = App }, []BackendStatus{{Name: "obsidian", Usable: true}}},
		{"no app", func(c *Config) {
			c.Runner = exec.New(exec.Config{CLI: filepath.Join(t.TempDir(), "none"), Self: filepath.Join(t.TempDir(), "vaultwicket")})
		},
			[]BackendStatus{{Name: "obsidian", Code: "cli_not_found"}, {Name: "embedded", Usable: true}}},
		{"no folder", func(c *Config) { c.Vault.Folder = "" }, []BackendStatus{{Name: "obsidian", Usable: true}, {Name: "embedded", Code: "vault_not_found"}}},
		{"a folder that is gone", func(c *Config) { c.Vault.Folder, c.Backend = filepath.Join(c.Vault.Folder, "gone"), Embedded },
			[]BackendStatus{{Name: "embedded", Code: "vault_not_found"}}},
		{"a folder that the app does not know", func(c *Config) { c.Vault.Name = "" },
			[]BackendStatus{{Name: "obsidian", Code: "vault_not_found"}, {Name: "embedded", Usable: true}}},
	} {
		f := newFixture(t, tt.change)
		got := f.gateway.Status()
		if !got.Enabled || got.Paused || got.Limits.Parallel != admission.DefaultParallel || !slices.Equal(got.Vaults[0].Backends, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
		app, own := f.called()
		assert.That(t, len(app)+len(own) <= 0, "%s: started %q and %q", tt.name, app, own)
	}
}

func TestVaultName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		vault Vault
		want  string
	}{
		{Vault{}, ""}, {Vault{Name: "Work", Folder: "/x"}, "Work"}, {Vault{Folder: "/home/me/Notes"}, "Notes"},
		{Vault{ID: "0123456789abcdef"}, "0123456789abcdef"},
	} {
		assert.Equal(t, New(Config{Vault: tt.vault}).VaultName(), tt.want, "%+v is called", tt.vault)
	}
}

func TestAnswersCallTheVaultByItsName(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) { c.Backend, c.Vault.Name = Embedded, "Main" }).embedded(`--facts vault=Work files => A.md\n`)
	got := f.gateway.Do(context.Background(), Request{Command: "files"})
	assert.That(t, got.OK, "got %q, %+v", got.Vault, got.Error)
	assert.Equal(t, got.Vault, "Main", "got %q, %+v", got.Vault, got.Error)
	again := f.gateway.Do(context.Background(), Request{Command: "files", Vault: got.Vault})
	assert.That(t, again.OK, "got %+v", again.Error)
	assert.Equal(t, f.gateway.DryRun(context.Background(), Request{Command: "files"}).Vault, "Main", "planned for")
}

// An agent lists its own changes that were not undone, without those that concern what is hidden.
func TestAnAgentListsItsOwnChanges(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) {
		c.Policy.Access, _ = access.New(map[string]access.Level{"/": access.Delete, "Secret": access.None})
	})
	kept := require.Value(f.gateway.Journal(""))(t)
	begin := func(caller, path, batch, undoes string) string {
		id := journal.NewID(time.Now())
		e := journal.Entry{ID: id, Time: time.Now(), Session: "s", Caller: caller, Command: "append", Backend: "embedded", Batch: batch, Undoes: undoes,
			Steps: []journal.Step{{Path: path, After: journal.Image{Exists: true, Hash: strings.Repeat("0", 64)}}}}
		require.NoError(t, kept.Begin(e, nil))
		require.NoError(t, kept.End(id, journal.Outcome{State: journal.Done}))
		return id
	}
	first := begin("me", "a.md", "", "")
	begin("you", "b.md", "", "")
	begin("me", "Secret/c.md", "", "")
	second := begin("me", "d.md", "b1", "")
	list := func(params ...string) Result {
		return f.gateway.Do(t.Context(), Request{Command: "undo:list", Words: append([]string{}, params...), Caller: "me"})
	}
	rows := strings.Split(strings.TrimSuffix(list().Stdout, "\n"), "\n")
	if len(rows) != 2 || !strings.HasPrefix(rows[0], second+"\t") ||
		!strings.HasSuffix(rows[0], "\tappend\td.md\tbatch b1") || !strings.HasPrefix(rows[1], first+"\t") ||
		!strings.HasSuffix(rows[1], "\tappend\ta.md") {
		t.Errorf("listed %q", rows)
	}
	assert.Equal(t, strings.Count(list("limit=1").Stdout, "\n"), 1, "one is asked for")
	undo := begin("me", "a.md", "", first)
	require.NoError(t, kept.MarkUndone(first, undo))
	got := list().Stdout
	assert.That(t, !strings.Contains(got, first), "after an undo: %q", got)
	assert.That(t, !strings.Contains(got, undo), "after an undo: %q", got)
	assert.Contains(t, got, second, "after an undo")
	if got := f.gateway.Do(t.Context(),
		Request{Command: "undo:list", Caller: "somebody else"}); got.Stdout != "No change of yours can be undone.\n" ||
		!got.OK {
		t.Errorf("another caller: %+v", got)
	}
	app, own := f.called()
	assert.That(t, len(app)+len(own) <= 0, "started %q and %q", app, own)
}
