package gateway

import (
	"strings"
	"testing"

	"vaultwicket/allowlist"
	"vaultwicket/gateway/failure"
	"vaultwicket/policy"
	"vaultwicket/tiers"
)

func paramNames(c allowlist.Command) string {
	var names []string
	for _, p := range c.Params {
		names = append(names, p.Name)
	}
	return strings.Join(names, " ")
}

func TestOpened(t *testing.T) {
	t.Parallel()
	const reading, writing = "ref file path line daily", "ref file path line status toggle daily done todo date"
	for name, test := range map[string]struct {
		policies []policy.Policy
		command  string
		params   string // "-" if it is closed
	}{
		"what changes is closed": {[]policy.Policy{{Ceiling: tiers.V1, UI: true}}, "task", reading},
		"all of it is open":      {[]policy.Policy{{Ceiling: tiers.V1, UI: true, Mutations: true}}, "task", writing},
		"views are closed":       {[]policy.Policy{{Ceiling: tiers.V0, Mutations: true}}, "daily:append", "content paneType inline heading create-heading"},
		"another tier":           {[]policy.Policy{{Ceiling: tiers.V0}}, "task", "-"},
		"disabled":               {[]policy.Policy{{Ceiling: tiers.V1, Disable: []string{"task"}}}, "task", "-"},
		"no such command":        {[]policy.Policy{{Ceiling: tiers.V3}}, "tusk", "-"},
		"never passed on":        {[]policy.Policy{{Ceiling: tiers.V2, Mutations: true, Publish: true}}, "publish:add", "file path"},
		"open in one of two":     {[]policy.Policy{{Ceiling: tiers.V0}, {Ceiling: tiers.V1}}, "task", reading},
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

// A promise to read only holds against every policy, and for the whole call. What
// the policy is against keeps the answer of the policy.
func TestReadsOnly(t *testing.T) {
	t.Parallel()
	params := func(key, value string) allowlist.Params { return allowlist.Params{key: allowlist.Text(value)} }
	f := newFixture(t, nil)
	for name, test := range map[string]struct {
		request Request
		code    string // "" for what may pass
	}{
		"a read":                       {Request{Command: "files"}, ""},
		"a write":                      {Request{Command: "append", Params: allowlist.Params{"path": allowlist.Text("A.md"), "content": allowlist.Text("x")}}, failure.CodeBadRequest},
		"a read that a flag makes one": {Request{Command: "task", Params: allowlist.Params{"ref": allowlist.Text("A.md:1"), "toggle": allowlist.Flag(true)}}, failure.CodeBadRequest},
		"the same without":             {Request{Command: "task", Params: params("ref", "A.md:1")}, ""},
		"what opens a view":            {Request{Command: "open", Params: params("path", "A.md")}, failure.CodeBadRequest},
		"what leaves the machine":      {Request{Command: "web", Params: params("url", "https://example.org/")}, failure.CodeBadRequest},
		"what destroys":                {Request{Command: "delete", Params: params("path", "A.md")}, failure.CodeBadRequest},
		"what nothing opens":           {Request{Command: "eval"}, policy.CodeRestricted},
		"what does not exist":          {Request{Command: "reed"}, allowlist.CodeUnknownCommand},
	} {
		test.request.ReadsOnly = true
		_, err := f.gateway.vaults[0].Plan(test.request)
		if got := failure.Of(firstOfErrors(err)); got.Code != test.code {
			t.Errorf("%s: %+v, want %q", name, got, test.code)
		} else if test.code == failure.CodeBadRequest && !strings.Contains(got.Hint, "obsidianCli") {
			t.Errorf("%s: the hint is %q", name, got.Hint)
		}
		if d := f.gateway.DryRun(t.Context(), test.request); d.OK != (test.code == "") || len(d.Argv) > 0 != d.OK {
			t.Errorf("%s: as a dry run %+v", name, d)
		}
		if test.code == "" {
			continue
		}
		if r := f.gateway.Do(t.Context(), test.request); r.OK || r.ExitCode != -1 || r.Error.Code != test.code {
			t.Errorf("%s: done: %+v", name, r)
		}
	}
	if app, embedded := f.called(); len(app)+len(embedded) > 0 {
		t.Errorf("started %q, %q", app, embedded)
	}
}

// firstOfErrors lets a missing error be looked at like one.
func firstOfErrors(err error) error {
	if err == nil {
		return failure.New("", "", "")
	}
	return err
}

// TestReadsOnlyKeepsToTheTable holds the promise against every command that
// needs no parameter.
func TestReadsOnlyKeepsToTheTable(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	reads := 0
	for _, c := range allowlist.Commands() {
		if _, err := allowlist.Parse(c.Name, nil); err != nil || c.Tier == tiers.Restricted {
			continue
		}
		want := c.Effect == tiers.Reads && !c.Shows && !c.Sends
		_, err := f.gateway.vaults[0].Plan(Request{Command: c.Name, ReadsOnly: true})
		if refused := err != nil && strings.Contains(err.Error(), "more than read"); want && refused || !want && err == nil {
			t.Errorf("%s, effect %v: %v", c.Name, c.Effect, err)
		}
		if want {
			reads++
		}
	}
	if reads < 30 {
		t.Errorf("only %d reads", reads)
	}
}

func TestAPromiseThatIsBrokenIsInTheAuditLog(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.gateway.Do(t.Context(), Request{Command: "delete", Params: allowlist.Params{"path": allowlist.Text("A.md")}, ReadsOnly: true})
	lines := auditOf(t, f)
	if len(lines) == 0 || lines[len(lines)-1].Decision != "deny" || lines[len(lines)-1].Code != failure.CodeBadRequest || lines[len(lines)-1].Command != "delete" {
		t.Errorf("the log holds %+v", lines)
	}
}
