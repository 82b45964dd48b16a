package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/gateway"
)

// refusal is a feature that stands between a call and the vault: prepare sets it up,
// call is one that it refuses with code.
type refusal struct {
	prepare func(r *rig)
	call    call
	code    string
	spend   bool // a first call of each caller is let through
}

var refusalNotes = map[string]string{
	"Open.md": "open\n", "Read/Only.md": "may be read\n", "Private/Secret.md": "zqx\n", "Ignored.md": "zqx\n", "2026-11-21.md": "today\n",
}

var refusals = map[string]refusal{
	"tiers":    {func(r *rig) { r.set("tier", `"v0"`) }, calling("append", "path=Open.md", "content=x"), "tier_closed", false},
	"gate":     {func(r *rig) { r.set("allow-mutations", "false") }, calling("append", "path=Open.md", "content=x"), "mutations_off", false},
	"access":   {limited, calling("append", "path=Read/Only.md", "content=x"), "access_denied", false},
	"hidden":   {limited, calling("read", "path=Private/Secret.md"), "not_found", false},
	"ignore":   {func(r *rig) { r.write(".vaultwicketignore", "Ignored.md\n") }, calling("append", "path=Ignored.md", "content=x"), "not_found", false},
	"approval": {func(r *rig) { r.set("confirm", `"writes"`) }, calling("append", "path=Open.md", "content=x"), "unconfirmed", false},
	"pause":    {func(r *rig) { r.must("pause") }, calling("read", "path=Open.md"), "paused", false},
	"limits":   {func(r *rig) { r.set("rate", "1") }, calling("append", "path=Open.md", "content=x"), "rate_limited", true},
}

func limited(r *rig) {
	r.tables = "[vaults.access]\n\"/\" = \"rwd\"\n\"Read\" = \"r\"\n\"Private\" = \"none\"\n"
}

// Whatever refuses a call does so by every entrance, however the call is dressed up,
// and leaves a line in the audit log and nothing in the journal or the vault.
func TestARefusalHoldsAtEveryEntrance(t *testing.T) {
	for name, refused := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, refusalNotes)
			refused.prepare(r)
			before := treeOf(t, r.vault)
			server := r.overHTTP()
			attempts := 0
			for _, e := range []*entrance{r.stdio(false, ""), r.stdio(true, ""), r.session(server), r.stateless(server)} {
				if refused.spend {
					if first := e.do(calling("read", "path=Open.md")); !first.OK && e.name != "HTTP without a session" {
						t.Errorf("%s: the first call: %+v", e.name, first.Error)
					}
				}
				attempts += e.refuses(refused)
			}
			if !refused.spend {
				attempts += r.refusesTyped(refused)
			}
			r.refusesOnTheApp(refused)
			if after := treeOf(t, r.vault); after != before {
				t.Error("the vault was changed")
			}
			if name == "pause" {
				r.must("resume")
			}
			if list := strings.TrimSpace(r.must("journal", "list", "--json")); list != "[]" && !strings.Contains(list, `"entries": []`) {
				t.Errorf("the journal has %s", list)
			}
			log := r.must("audit", "list", "--json", "--limit", "0")
			if refused.spend { // of calls that come too often there is one line for many
				attempts = 1
			}
			logged := refused.code
			if logged == "not_found" { // the owner is told that the note is hidden
				logged = "access_denied"
			}
			if lines := strings.Count(log, `"decision"`); lines < attempts || !strings.Contains(log, `"`+logged+`"`) {
				t.Errorf("the audit log has %d lines of %d attempts, want %s: %.2000s", lines, attempts, logged, log)
			}

		})
	}
}

// refuses sends a call that is refused in every dress, and returns how many times.
func (e *entrance) refuses(refused refusal) (attempts int) {
	e.rig.t.Helper()
	c := refused.call
	expect := func(dress string, got *gateway.Error) {
		e.rig.t.Helper()
		attempts++
		want := refused.code
		if want == "unconfirmed" && dress == "with another hash" {
			want = "conflict" // nobody is asked about what would fail
		}
		if codeOfError(got) != want {
			e.rig.t.Errorf("%s, %s: got %+v, want %s", e.name, dress, got, want)
		}
	}
	dresses := map[string]call{"plain": c, "dry run": c.with("dryRun", true)}
	if c["command"] != "read" {
		dresses["with a key"] = c.with("idempotencyKey", "k by "+e.name)
		dresses["with another hash"] = c.with("expectHash", "0000000000000000")
	}
	for dress, c := range dresses {
		if dress == "dry run" {
			var plan gateway.DryRun
			e.tool("obsidianCli", c, &plan)
			switch {
			case refused.code == "unconfirmed" && plan.Decision == "ask": // it tells that somebody would be asked
			case refused.code == "not_found" && plan.Error == nil && plan.Diff == "": // as of a note that is missing
			default:
				expect(dress, plan.Error)
			}
			continue
		}
		expect(dress, e.do(c).Error)
	}
	batch := e.batch(c)
	failure := batch.Error
	if failure == nil && len(batch.Results) == 1 && batch.Results[0].Result != nil {
		failure = batch.Results[0].Result.Error
	}
	expect("batch", failure)
	if c["command"] == "read" {
		var result gateway.Result
		e.tool("obsidianRead", c, &result)
		expect("reading tool", result.Error)
	}
	return attempts
}

// refusesTyped is the same for what is typed.
func (r *rig) refusesTyped(refused refusal) (attempts int) {
	r.t.Helper()
	for _, args := range [][]string{
		append([]string{"run", "--json"}, refused.call.words()...),
		append([]string{"dry-run", "--json"}, refused.call.words()...),
	} {
		if args[0] == "dry-run" && (refused.code == "unconfirmed" || refused.code == "not_found") {
			continue
		}
		out, log, status := r.run(args...)
		if attempts++; status == 0 || !strings.Contains(out+log, `"code":"`+refused.code+`"`) && !strings.Contains(out+log, `"code": "`+refused.code+`"`) {
			r.t.Errorf("%q: %d %s%s", args, status, out, log)
		}
	}
	return attempts
}

// refusesOnTheApp is the same with an app that could answer, which must not be asked
// about the note: by itself, and beside a folder that the embedded program writes
// where the text would not reach the app as it is.
func (r *rig) refusesOnTheApp(refused refusal) {
	r.t.Helper()
	app := r.app(`echo "$*" >>"$HOME/called"; [ "$2" != version ] || echo "1.12.7 (installer 1.12.7)"`)
	server := *r
	server.flags = []string{"--backend=auto", "--cli=" + app}
	e := server.stdio(false, "")
	e.name = "app"
	if refused.spend {
		e.do(calling("help"))
	}
	c := refused.call
	if params := c["params"].(map[string]any); params["content"] != nil {
		c = calling(c["command"].(string), "path="+params["path"].(string), `content=a \n and a \t as they are`)
	}
	for _, c := range []call{refused.call, c, c.with("idempotencyKey", "app")} {
		if got := e.do(c); codeOfError(got.Error) != refused.code {
			r.t.Errorf("app, %v: got %+v, want %s", c, got.Error, refused.code)
		}
	}
	called, _ := os.ReadFile(filepath.Join(r.home, "called"))
	if path := refused.call["params"].(map[string]any)["path"].(string); strings.Contains(string(called), path) && refused.code != "unconfirmed" {
		r.t.Errorf("the app was asked about a note of which it must not know:\n%s", called)
	}
}
