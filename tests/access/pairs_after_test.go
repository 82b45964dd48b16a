package access

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// stricter is what a user closes while a server runs. A call that needs what was
// closed is refused with code.
type stricter struct {
	close func(r *harness.Program)
	code  string
}

var closings = map[string]stricter{
	"tiers":  {func(r *harness.Program) { r.Set("tier", `"v0"`) }, "tier_closed"},
	"gate":   {func(r *harness.Program) { r.Set("allow-mutations", "false") }, "mutations_off"},
	"access": {func(r *harness.Program) { r.Tables = "[vaults.access]\n\"/\" = \"rwd\"\n\"Note.md\" = \"none\"\n" }, "not_found"},
	"ignore": {func(r *harness.Program) { r.Write(".vaultwicketignore", "Note.md\n") }, "not_found"},
	"pause":  {func(r *harness.Program) { r.Must("pause") }, "paused"},
	"limits": {func(r *harness.Program) { r.Set("rate", "1") }, "rate_limited"},
}

// What was begun before something was closed does not go on after it: a change is
// not taken back, an answer is not paged on, and its rest is no resource.
func TestWhatWasBegunStopsAtWhatIsClosedMeanwhile(t *testing.T) {
	for name, c := range closings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := harness.New(t, map[string]string{"Note.md": harness.LongNote, "Other.md": "other\n"})
			r.Set("confirm", `"never"`)
			server := r.OverHTTP()
			callers := []*harness.Client{r.Stdio(false, ""), r.Session(server), r.Stateless(server)}
			began := map[*harness.Client][2]string{}
			for _, e := range callers {
				change := e.Do(harness.Calling("append", "path=Note.md", "content=more").With("idempotencyKey", e.Name))
				page := e.Do(harness.Calling("read", "path=Note.md"))
				if !change.OK || !page.OK || harness.ChangeID(change) == "" || page.Truncated == nil || page.Truncated.Cursor == "" {
					t.Fatalf("%s: %+v, %+v", e.Name, change, page.Error)
				}
				began[e] = [2]string{harness.ChangeID(change), page.Truncated.Cursor}
			}
			c.close(r)
			r.Save()
			before := r.Read("Note.md")
			for _, e := range callers {
				closed(e, name, c.code)
				id, cursor := began[e][0], began[e][1]
				if got := e.Do(harness.Calling("undo", "id="+id)); name != "tiers" && got.OK { // undo itself belongs to v0
					t.Errorf("%s: what is closed was taken back", e.Name)
				}
				if got := e.Do(harness.Calling("append", "path=Note.md", "content=more").With("idempotencyKey",
					e.Name)); got.OK || harness.CodeOfError(got.Error) != c.code {
					t.Errorf("%s: the first answer under its key: %+v, want %s", e.Name, got.Error, c.code)
				}
				if got := e.Batch(harness.Calling("append", "path=Note.md", "content=more")); got.OK || got.Summary.OK > 0 {
					t.Errorf("%s: a batch is done: %s", e.Name, harness.JSON(t, got))
				}
				plan := e.Plan(harness.Calling("append", "path=Note.md", "content=more"))
				if strings.Contains(plan.Diff, "a line that is long") || name != "ignore" && name != "access" && harness.CodeOfError(plan.Error) != c.code {
					t.Errorf("%s: a dry run: %+v, %.60q", e.Name, plan.Error, plan.Diff)
				}
				if prompt := e.Ask("prompts/get",
					map[string]any{"name": "evening-journal"}); (name == "gate") == strings.Contains(harness.JSON(t,
					prompt.Result.Messages), "daily:append") {
					t.Errorf("%s: the prompt is %s", e.Name, prompt.Result.Messages)
				}
				if name != "gate" { // which a read does not need
					got := e.Do(harness.Calling("read", "path=Note.md").With("cursor", cursor))
					assert.That(t, !got.OK, "%s: the next page: %+v, %.40q", e.Name, got.Error, got.Stdout)
					assert.NotContains(t, got.Stdout, "a line that is long",
						"%s: the next page: %+v", e.Name, got.Error)
					answer := e.Ask("resources/read", map[string]any{"uri": "vaultwicket://output/" + cursor})
					text, _ := json.Marshal(answer.Result.Contents)
					assert.That(t, !strings.Contains(string(text), "a line that is long"), "%s: the rest is read as a resource: %.100s", e.Name, text)
				}
			}
			assert.That(t, name == "tiers" || r.Read("Note.md") == before, "the note was changed")
		})
	}
}

// closed waits until a running server has taken what was closed: it reads its file
// of settings again when it is told to.
func closed(e *harness.Client, name, code string) {
	e.Program.T.Helper()
	probe := harness.Calling("read", "path=Note.md")
	if name == "gate" {
		probe = harness.Calling("append", "path=Absent.md", "content=x")
	}
	require.NoError(e.Program.T, e.Process.Signal(syscall.SIGHUP))
	for deadline := time.Now().Add(harness.Deadline); harness.CodeOfError(e.Do(probe).Error) != code; {
		require.That(e.Program.T, !time.Now().After(deadline), "%s: the server has not taken the settings", e.Name)
	}
}
