//go:build unix

package tests

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"vaultwicket/gateway"
)

// stricter is what a user closes while a server runs. A call that needs what was
// closed is refused with code.
type stricter struct {
	close func(r *rig)
	code  string
}

var closings = map[string]stricter{
	"tiers":  {func(r *rig) { r.set("tier", `"v0"`) }, "tier_closed"},
	"gate":   {func(r *rig) { r.set("allow-mutations", "false") }, "mutations_off"},
	"access": {func(r *rig) { r.tables = "[vaults.access]\n\"/\" = \"rwd\"\n\"Note.md\" = \"none\"\n" }, "not_found"},
	"ignore": {func(r *rig) { r.write(".vaultwicketignore", "Note.md\n") }, "not_found"},
	"pause":  {func(r *rig) { r.must("pause") }, "paused"},
	"limits": {func(r *rig) { r.set("rate", "1") }, "rate_limited"},
}

// What was begun before something was closed does not go on behind it: a change is
// not taken back, an answer is not paged on, and its rest is no resource.
func TestWhatWasBegunStopsAtWhatIsClosedMeanwhile(t *testing.T) {
	for name, c := range closings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, map[string]string{"Note.md": longNote, "Other.md": "other\n"})
			r.set("confirm", `"never"`)
			server := r.overHTTP()
			callers := []*entrance{r.stdio(false, ""), r.session(server), r.stateless(server)}
			began := map[*entrance][2]string{}
			for _, e := range callers {
				change := e.do(calling("append", "path=Note.md", "content=more").with("idempotencyKey", e.name))
				page := e.do(calling("read", "path=Note.md"))
				if !change.OK || !page.OK || changeID(change) == "" || page.Truncated == nil || page.Truncated.Cursor == "" {
					t.Fatalf("%s: %+v, %+v", e.name, change, page.Error)
				}
				began[e] = [2]string{changeID(change), page.Truncated.Cursor}
			}
			c.close(r)
			r.save()
			before := r.read("Note.md")
			for _, e := range callers {
				e.closed(name, c.code)
				id, cursor := began[e][0], began[e][1]
				if got := e.do(calling("undo", "id="+id)); name != "tiers" && got.OK { // undo itself belongs to v0
					t.Errorf("%s: what is closed was taken back", e.name)
				}
				if got := e.do(calling("append", "path=Note.md", "content=more").with("idempotencyKey", e.name)); got.OK || codeOfError(got.Error) != c.code {
					t.Errorf("%s: the first answer under its key: %+v, want %s", e.name, got.Error, c.code)
				}
				if got := e.batch(calling("append", "path=Note.md", "content=more")); got.OK || got.Summary.OK > 0 {
					t.Errorf("%s: a batch is done: %s", e.name, asText(t, got))
				}
				var plan gateway.DryRun
				e.tool("obsidianCli", calling("append", "path=Note.md", "content=more").with("dryRun", true), &plan)
				if strings.Contains(plan.Diff, "a line that is long") || name != "ignore" && name != "access" && codeOfError(plan.Error) != c.code {
					t.Errorf("%s: a dry run: %+v, %.60q", e.name, plan.Error, plan.Diff)
				}
				if prompt := e.ask("prompts/get", map[string]any{"name": "evening-journal"}); (name == "gate") == strings.Contains(asText(t, prompt.Result.Messages), "daily:append") {
					t.Errorf("%s: the prompt is %s", e.name, prompt.Result.Messages)
				}
				if name != "gate" { // which a read does not need
					if got := e.do(calling("read", "path=Note.md").with("cursor", cursor)); got.OK || strings.Contains(got.Stdout, "a line that is long") {
						t.Errorf("%s: the next page: %+v, %.40q", e.name, got.Error, got.Stdout)
					}
					answer := e.ask("resources/read", map[string]any{"uri": "vaultwicket://output/" + cursor})
					if text, _ := json.Marshal(answer.Result.Contents); strings.Contains(string(text), "a line that is long") {
						t.Errorf("%s: the rest is read as a resource: %.100s", e.name, text)
					}
				}
			}
			if name != "tiers" && r.read("Note.md") != before {
				t.Error("the note was changed")
			}
		})
	}
}

// closed waits until a running server has taken what was closed: it reads its file
// of settings again when it is told to.
func (e *entrance) closed(name, code string) {
	e.rig.t.Helper()
	probe := calling("read", "path=Note.md")
	if name == "gate" {
		probe = calling("append", "path=Absent.md", "content=x")
	}
	if err := e.process.Signal(syscall.SIGHUP); err != nil {
		e.rig.t.Fatal(err)
	}
	for deadline := time.Now().Add(wireDeadline); codeOfError(e.do(probe).Error) != code; {
		if time.Now().After(deadline) {
			e.rig.t.Fatalf("%s: the server has not taken the settings", e.name)
		}
	}
}
