package access

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
)

// refusal is a feature that is between a call and the vault: prepare sets it up,
// call is one that it refuses with code.
type refusal struct {
	prepare func(r *harness.Program)
	call    harness.Call
	code    string
	spend   bool // a first call of each caller is let through
}

var refusalNotes = map[string]string{
	"Open.md": "open\n", "Read/Only.md": "may be read\n", "Private/Secret.md": "zqx\n", "Ignored.md": "zqx\n", "2026-11-21.md": "today\n",
}

var refusals = map[string]refusal{
	"tiers":  {func(r *harness.Program) { r.Set("tier", `"v0"`) }, harness.Calling("append", "path=Open.md", "content=x"), "tier_closed", false},
	"gate":   {func(r *harness.Program) { r.Set("allow-mutations", "false") }, harness.Calling("append", "path=Open.md", "content=x"), "mutations_off", false},
	"access": {limited, harness.Calling("append", "path=Read/Only.md", "content=x"), "access_denied", false},
	"hidden": {limited, harness.Calling("read", "path=Private/Secret.md"), "not_found", false},
	"ignore": {func(r *harness.Program) { r.Write(".vaultwicketignore", "Ignored.md\n") },
		harness.Calling("append", "path=Ignored.md", "content=x"), "not_found", false},
	"approval": {func(r *harness.Program) { r.Set("confirm", `"writes"`) }, harness.Calling("append", "path=Open.md", "content=x"), "unconfirmed", false},
	"pause":    {func(r *harness.Program) { r.Must("pause") }, harness.Calling("read", "path=Open.md"), "paused", false},
	"limits":   {func(r *harness.Program) { r.Set("rate", "1") }, harness.Calling("append", "path=Open.md", "content=x"), "rate_limited", true},
}

func limited(r *harness.Program) {
	r.Tables = "[vaults.access]\n\"/\" = \"rwd\"\n\"Read\" = \"r\"\n\"Private\" = \"none\"\n"
}

// Whatever refuses a call does so by every entrance, however the call is dressed up,
// and leaves a line in the audit log and nothing in the journal or the vault.
func TestARefusalHoldsAtEveryEntrance(t *testing.T) {
	for name, refused := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := harness.New(t, refusalNotes)
			refused.prepare(r)
			before := harness.TreeOf(t, r.Vault)
			server := r.OverHTTP()
			attempts := 0
			for _, e := range []*harness.Client{r.Stdio(false, ""), r.Stdio(true, ""), r.Session(server), r.Stateless(server)} {
				if refused.spend {
					first := e.Do(harness.Calling("read", "path=Open.md"))
					assert.That(t, first.OK || e.Name == "HTTP without a session", "%s: the first call: %+v", e.Name, first.Error)
				}
				attempts += refuses(e, refused)
			}
			if !refused.spend {
				attempts += refusesTyped(r, refused)
			}
			refusesOnTheApp(r, refused)
			assert.Equal(t, harness.TreeOf(t, r.Vault), before, "the vault was changed")
			if name == "pause" {
				r.Must("resume")
			}
			list := strings.TrimSpace(r.Must("journal", "list", "--json"))
			assert.That(t, list == "[]" || strings.Contains(list, `"entries": []`), "the journal has %s", list)
			log := r.Must("audit", "list", "--json", "--limit", "0")
			if refused.spend { // of calls that come too often there is one line for many
				attempts = 1
			}
			logged := refused.code
			if logged == "not_found" { // the owner is told that the note is hidden
				logged = "access_denied"
			}
			lines := strings.Count(log, `"decision"`)
			assert.That(t, lines >= attempts,
				"the audit log has %d lines of %d attempts, want %s: %.2000s", lines, attempts, logged, log)
			assert.Contains(t, log, `"`+logged+`"`,
				"the audit log has %d lines of %d attempts, want %s", lines, attempts, logged)

		})
	}
}

// refuses sends a call that is refused in every dress, and returns how many times.
func refuses(e *harness.Client, refused refusal) (attempts int) {
	e.Program.T.Helper()
	c := refused.call
	expect := func(dress string, got *failure.Error) {
		e.Program.T.Helper()
		attempts++
		want := refused.code
		if want == "unconfirmed" && dress == "with another hash" {
			want = "conflict" // no one is asked about what would fail
		}
		assert.That(e.Program.T, harness.CodeOfError(got) == want, "%s, %s: got %+v, want %s", e.Name, dress, got, want)
	}
	dresses := map[string]harness.Call{"plain": c, "dry run": c.With("dryRun", true)}
	if c["command"] != "read" {
		dresses["with a key"] = c.With("idempotencyKey", "k by "+e.Name)
		dresses["with another hash"] = c.With("expectHash", "0000000000000000")
	}
	for dress, c := range dresses {
		spend(e, refused)
		if dress == "dry run" {
			var plan gateway.DryRun
			e.Tool("obsidianCli", c, &plan)
			switch {
			case refused.code == "unconfirmed" && plan.Decision == "ask": // it tells that a user would be asked
			case refused.code == "not_found" && plan.Error == nil && plan.Diff == "": // as of a note that is missing
			default:
				expect(dress, plan.Error)
			}
			continue
		}
		expect(dress, e.Do(c).Error)
	}
	spend(e, refused)
	batch := e.Batch(c)
	cause := batch.Error
	if cause == nil && len(batch.Results) == 1 && batch.Results[0].Result != nil {
		cause = batch.Results[0].Result.Error
	}
	expect("batch", cause)
	if c["command"] == "read" {
		var result gateway.Result
		e.Tool("obsidianRead", c, &result)
		expect("reading tool", result.Error)
	}
	return attempts
}

// spend makes the call that a caller may make in a minute, in case one has passed since
// the last one.
func spend(e *harness.Client, refused refusal) {
	if refused.spend {
		e.Do(harness.Calling("read", "path=Open.md"))
	}
}

// refusesTyped is the same for what is typed.
func refusesTyped(r *harness.Program, refused refusal) (attempts int) {
	r.T.Helper()
	for _, args := range [][]string{
		append([]string{"run", "--json"}, refused.call.Words()...),
		append([]string{"dry-run", "--json"}, refused.call.Words()...),
	} {
		if args[0] == "dry-run" && (refused.code == "unconfirmed" || refused.code == "not_found") {
			continue
		}
		out, log, status := r.Run(args...)
		if attempts++; status == 0 || !strings.Contains(out+log, `"code":"`+refused.code+`"`) && !strings.Contains(out+log, `"code": "`+refused.code+`"`) {
			r.T.Errorf("%q: %d %s%s", args, status, out, log)
		}
	}
	return attempts
}

// refusesOnTheApp is the same with an app that could answer, which must not be asked
// about the note: by itself, and with a folder that the embedded program writes
// where the text would not reach the app as it is.
func refusesOnTheApp(r *harness.Program, refused refusal) {
	r.T.Helper()
	app := r.App(`echo "$*" >>"$HOME/called"; [ "$2" != version ] || echo "1.12.7 (installer 1.12.7)"`)
	server := *r
	server.Flags = []string{"--backend=auto", "--cli=" + app}
	e := server.Stdio(false, "")
	e.Name = "app"
	if refused.spend {
		e.Do(harness.Calling("help"))
	}
	c := refused.call
	if params := c["params"].(map[string]any); params["content"] != nil {
		c = harness.Calling(c["command"].(string), "path="+params["path"].(string), `content=a \n and a \t as they are`)
	}
	for _, c := range []harness.Call{refused.call, c, c.With("idempotencyKey", "app")} {
		if refused.spend {
			e.Do(harness.Calling("help"))
		}
		got := e.Do(c)
		assert.That(r.T, harness.CodeOfError(got.Error) == refused.code, "app, %v: got %+v, want %s", c, got.Error, refused.code)
	}
	called, _ := os.ReadFile(filepath.Join(r.Home, "called"))
	path := refused.call["params"].(map[string]any)["path"].(string)
	assert.That(r.T, !strings.Contains(string(called), path) || refused.code == "unconfirmed",
		"the app was asked about a note of which it must not know:\n%s", called)
}
