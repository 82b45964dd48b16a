package page

import (
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// propose leaves operations for the owner, as a job of the night.
func propose(r *harness.Program, text string) {
	r.T.Helper()
	file := filepath.Join(r.T.TempDir(), "batch.json")
	require.NoError(r.T, os.WriteFile(file, []byte(text), 0o600))
	r.Must("batch", "--agent", "nightly", "--propose", file)
}

const tidy = `{"operations": [
	{"clientId": "new", "command": "create", "params": {"path": "Work/New.md", "content": "made at <night>"}},
	{"clientId": "link", "command": "append", "params": {"path": "Work/Plan.md", "content": "see [[New]]"}},
	{"clientId": "other", "command": "append", "params": {"path": "Bread.md", "content": "yeast"}}]}`

// The owner takes a part of a proposal on the page: it is drawn anew before the last yes, and what was changed or planned
// again in between is not made.
func TestAProposalIsTakenInPartOnThePage(t *testing.T) {
	r := newProgram(t)
	r.Tables = "[agents.nightly]\ntier = \"v1\"\nallow-mutations = true\n"
	v := open(r)
	propose(r, tidy)
	list := v.See("approvals")
	has(t, list, "Change 2 notes and create 1 note", "proposal of 3 operations", "by the agent nightly", "Read it, and take what you want")
	_, after, _ := strings.Cut(list, "approvals/proposal/")
	code, _, _ := strings.Cut(after, `"`)
	view := v.See("approvals/proposal/" + code)
	has(t, view, "1. Create &#34;Work/New.md&#34;", "link, needs new", "made at &lt;night&gt;", "yeast", "As it was proposed")
	_, drawn := v.send(view, "approvals/draft", url.Values{"pick": {"1"}, "says": {"not the bread"}})
	has(t, drawn, "This would be done", "see [[New]]", "made at &lt;night&gt;", "1 other operation is declined",
		"You say: “not the bread”", `data-approves>Do this`)
	lacks(t, drawn, "yeast")
	r.Write("Work/Plan.md", "written by hand\n")
	_, body := v.send(drawn, "approvals/take", nil)
	has(t, body, "notes or the proposal were changed since it was shown")
	assert.Equal(t, r.Read("Work/New.md"), "", "nothing is made")
	has(t, v.See("approvals/proposal/"+code), "Changed since it was proposed", "<li>Work/Plan.md</li>")
	_, drawn = v.send(view, "approvals/draft", url.Values{"pick": {"1"}, "says": {"not the bread"}})
	_, body = v.send(drawn, "approvals/take", nil)
	has(t, body, "Done: 2 of 3 operations.", "Nothing is waiting")
	assert.Equal(t, r.Read("Work/New.md")+r.Read("Work/Plan.md")+r.Read("Bread.md"), "made at <night>written by hand\nsee [[New]]flour\nwater\nsalt\n")
	assert.Contains(t, r.Must("run", "--agent", "nightly", "approvals"), "taken: new, link\tdeclined: other\tthe user says: \"not the bread\"")
	_, body = v.send(drawn, "approvals/take", nil)
	has(t, body, "already decided: taken")
	has(t, v.See("approvals/proposal/"+code), "It does not wait any more: taken: 2 operations, and declined 1 operation.")
	propose(r, strings.ReplaceAll(tidy, "New.md", "Third.md"))
	_, after, _ = strings.Cut(v.See("approvals"), "approvals/proposal/")
	code, _, _ = strings.Cut(after, `"`)
	view = v.See("approvals/proposal/" + code)
	_, body = v.send(view, "approvals/draft", nil)
	has(t, body, "no operation of the proposal is chosen")
	_, body = v.send(strings.Replace(view, "approvals/draft", "approvals/decline", 1), "approvals/decline", nil)
	has(t, body, "Declined.", "Nothing is waiting")
}

// A proposal that is too long for one view is read in parts, as it was proposed and as it would be taken, and is taken
// where its end is shown.
func TestALongProposalIsReadInPartsAndTaken(t *testing.T) {
	r := newProgram(t)
	r.Tables = "[agents.nightly]\ntier = \"v1\"\nallow-mutations = true\n"
	v := open(r)
	var operations []string
	for i := range 6 {
		text := strings.Repeat(fmt.Sprintf("line of %d\\n", i), 900)
		operations = append(operations, fmt.Sprintf(`{"clientId": "o%d", "command": "create", "params": {"path": "Work/L%d.md", "content": "%s"}}`, i, i, text))
	}
	propose(r, `{"operations": [`+strings.Join(operations, ",")+`]}`)
	_, after, _ := strings.Cut(v.See("approvals"), "approvals/proposal/")
	code, _, _ := strings.Cut(after, `"`)
	at := "approvals/proposal/" + code
	first := v.See(at)
	has(t, first, "part 1 of 3", "line of 0", `href="`+v.path()+at+`?part=2"`)
	lacks(t, first, "line of 5", "vaultwicket approve")
	has(t, v.See(at+"?part=3"), "part 3 of 3", "line of 5", "Choose what you take")
	_, drawn := v.send(first, "approvals/draft", url.Values{"pick": {"0", "1", "2", "3", "4"}})
	has(t, drawn, "This would be done", "part 1 of 3", `data-part="1"`, "Go on reading")
	lacks(t, drawn, "data-approves", "vaultwicket approve")
	for part := 2; part <= 3; part++ {
		_, after, _ = strings.Cut(drawn, `id="next" href="`)
		next, _, _ := strings.Cut(after, `"`)
		require.That(t, next != "", "part %d has no link: %s", part, mainOf(drawn))
		drawn = v.See(strings.TrimPrefix(html.UnescapeString(next), v.path()))
		has(t, drawn, "This would be done", fmt.Sprintf("part %d of 3", part), fmt.Sprintf(`data-part="%d"`, part), "Back")
	}
	has(t, drawn, "line of 4", "1 other operation is declined", "data-approves")
	lacks(t, drawn, "line of 5")
	_, body := v.send(drawn, "approvals/take", nil)
	has(t, body, "Done: 5 of 6 operations.")
	assert.Equal(t, strings.Count(r.Read("Work/L4.md"), "line of 4\n"), 900, "the last that was taken")
	assert.Equal(t, r.Read("Work/L5.md"), "", "what was declined")
}
