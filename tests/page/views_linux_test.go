package page

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// inlineCode is what the policy of the page forbids, so it would not work.
var inlineCode = regexp.MustCompile(`(?i)<[^>]*\s(on[a-z]+|style)\s*=|javascript:|<style|<script[^>]*>[^<]`)

func TestEveryView(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	v := open(r)
	for _, path := range []string{"", "activity", "approvals", "changes", "health", "settings", "policy", "policy/try", "policy/access"} {
		view := v.See(path) // before anything has happened
		found := inlineCode.FindString(view)
		assert.Equal(t, found, "", "%q has code in it", path)
		assert.Equal(t, strings.Count(view, "<script src="), 2, "%q has code in it", path)
	}
	client := r.Stdio(false, "")
	client.Do(harness.Calling("append", "path=Bread.md", "content=yeast"))
	client.Do(harness.Calling("eval", "code=1"))
	client.Do(harness.Calling("delete", "path=Work/Plan.md"))
	require.NoError(t, os.WriteFile(filepath.Join(r.Vault, "Key.md"), []byte("API key: 8f3kD92mQx7LpZ4tVbN1\n"), 0o600))
	client.Do(harness.Calling("read", "path=Key.md"))
	has(t, v.See(""), "t read 1 note, changed 1 and was refused once; 1 question waits for you.",
		"<b>Delete &#34;Work/Plan.md&#34; (vault &#34;Notes&#34;)", ">Bread.md</a>", "No setting allows that.",
		"stdio, up ")
	has(t, v.See("activity"), "restricted_command", ">added text to <b>Bread.md</b><", "<svg role=\"group\"", "4 calls")
	has(t, v.See("activity?outcome=denied"), ">1 call<", ">run eval<")
	has(t, v.See("activity?q=nothing"), "No call matches")
	has(t, v.See("approvals"), "<b>Delete &#34;Work/Plan.md&#34; (vault &#34;Notes&#34;)", "one</span>", `<span class="hidden">removed: </span>`)
	has(t, v.See("changes"), ">Bread.md<", ">done<")
	has(t, v.See("policy"), "permanently", "rule <code>", "with approval", "<code>secrets</code></td>", ">1 redacted</td>")
	has(t, v.See("settings"), "tier = &#34;v2&#34;", "allow-publish = true", "config.toml")
	v.check()
	has(t, v.See("health"), "tier v3, mutations on", "Verification", ">approvals<")
	call := regexp.MustCompile(`activity/call/[^"]+`).FindString(v.See("activity?q=append"))
	has(t, v.See(call), "Lines of the audit log", "decision: allow", "embedded", "content</code> 5 bytes")
	for path, want := range map[string]int{"activity/call/999": 404, "changes/one/x?vault=Notes": 404, "nothing": 404,
		"policy?vault=Other": 422, "assets/../ui.go": 404, "changes/undo": 404} {
		status, body := v.Fetch(http.MethodGet, v.Base+path, nil)
		assert.That(t, status == want, "%q answers %d: %s", path, status, body)
	}
}

func TestTryingACommandChangesNothing(t *testing.T) {
	r := newProgram(t)
	v := open(r)
	form := v.See("policy/try")
	_, body := v.send(form, "policy/try", url.Values{"command": {"delete"}, "params": {"path=Bread.md\r\n"}})
	has(t, body, `<span class="outcome ask">ask</span>`, `<span class="hidden">removed: </span>flour<`, "confirm")
	_, body = v.send(form, "policy/try", url.Values{"command": {"append"}, "params": {"path=Bread.md\ncontent=<b>x</b>"}})
	has(t, body, `<span class="outcome allow">allow</span>`, `<span class="hidden">added: </span>&lt;b&gt;x&lt;/b&gt;<`)
	lacks(t, body, "<b>x</b>")
	_, body = v.send(form, "policy/try", url.Values{"command": {"eval"}, "params": {"code=1"}})
	has(t, body, `<span class="outcome deny">deny</span>`)
	lacks(t, body, harness.Binary)
	assert.That(t, r.Read("Bread.md") == "flour\nwater\nsalt\n", "the note was changed")
}

func TestTheOwnerSeesTheAccessTree(t *testing.T) {
	r := newProgram(t)
	r.Tables = "[vaults.access]\n\"/\" = \"r\"\nPrivate = \"none\"\nWork = \"rw\"\n"
	r.Write(".vaultwicketignore", "Old/\n")
	r.Write("Old/a.md", "x")
	v := open(r)
	view := v.See("policy/access")
	has(t, view, "Private</code> = none", "line 1 of ", "hidden", "read, change")
	has(t, v.See("policy/access?path=Work%2FPlan.md"), "Work</code> = rw", "<dt>Delete</dt><dd>no:")
	status, _ := v.Fetch(http.MethodGet, v.Base+"policy/access?path=..%2F..%2Fetc", nil)
	assert.That(t, status != http.StatusOK, "a path outside of the vault")
}

// A change of a note that was hidden since is nowhere on the page.
func TestChangesOfHiddenNotesDoNotExist(t *testing.T) {
	r := newProgram(t)
	client := r.Stdio(false, "")
	hidden := client.Do(harness.Calling("append", "path=Private/Diary.md", "content=more secrets"))
	seen := client.Do(harness.Calling("append", "path=Bread.md", "content=yeast"))
	require.That(t, hidden.Change != nil, "%+v, %+v", hidden.Error, seen.Error)
	require.That(t, seen.Change != nil, "%+v, %+v", hidden.Error, seen.Error)
	r.Tables = "[vaults.access]\n\"/\" = \"rwd\"\nPrivate = \"none\"\n"
	v := open(r)
	for _, path := range []string{"changes", "changes?note=Private%2FDiary.md", ""} {
		lacks(t, v.See(path), ">Private/Diary.md<", "secret")
	}
	has(t, v.See("changes"), ">Bread.md<")
	has(t, v.See("changes/one/"+seen.Change.ID+"?vault=Notes"), "yeast")
	status, body := v.Fetch(http.MethodGet, v.Base+"changes/one/"+hidden.Change.ID+"?vault=Notes", nil)
	assert.Equal(t, status, http.StatusNotFound, "a hidden change answers")
	lacks(t, body, "Diary", "secret")
	token := v.See("changes/one/" + seen.Change.ID + "?vault=Notes")
	status, body = v.send(token, "changes/undo", url.Values{"id": {hidden.Change.ID}}, "undo")
	assert.That(t, status != http.StatusOK, "a hidden change is taken back: %d", status)
	assert.Contains(t, r.Read("Private/Diary.md"), "more secrets", "a hidden change is taken back: %d", status)
	lacks(t, body, "Diary", "secret")
}

// Long lists have pages, which together have every row once.
func TestPagesOfCallsAndChanges(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	client := r.Stdio(false, "")
	for i := range 55 {
		client.Do(harness.Calling("append", "path=Bread.md", fmt.Sprintf("content=line %d", i)))
	}
	for range 60 { // one row
		client.Do(harness.Calling("read", "path=Bread.md"))
	}
	v := open(r)
	row := regexp.MustCompile(`<tr role="row"[^>]*><td`)
	next := regexp.MustCompile(`<a [^>]*href="([^"]+)" rel="next">`)
	for path, want := range map[string][]int{"activity?period=all": {41, 15}, "changes": {50, 5}, "activity?command=append": {55}} {
		var got []int
		for view := v.See(path); ; {
			got = append(got, len(row.FindAllString(view, -1)))
			older := next.FindStringSubmatch(view)
			if older == nil || len(got) > len(want) {
				break
			}
			address := html.UnescapeString(older[1])
			_, view = v.Fetch(http.MethodGet, v.Base[:strings.Index(v.Base[8:], "/")+8]+address, nil)
		}
		assert.That(t, slices.Equal(got, want), "%q has pages of %d rows, want %d", path, got, want)
	}
}

// A bar of the chart leads to its calls, and filters are in every page of a list until each is taken out.
func TestFiltersSurviveAPage(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	client := r.Stdio(false, "")
	for i := range 101 {
		client.Do(harness.Calling("append", "path=Bread.md", fmt.Sprintf("content=line %d", i)))
	}
	client.Do(harness.Calling("eval", "code=1"))
	v := open(r)
	link := func(view, pattern string) (path string) {
		t.Helper()
		found := regexp.MustCompile(`href="/[^/]+/(` + pattern + `)"`).FindStringSubmatch(view)
		require.That(t, found != nil, "no link to %s in %s", pattern, mainOf(view))
		return html.UnescapeString(found[1])
	}
	first := v.See("activity?command=append&vault=Notes")
	older := v.See(link(first, `activity\?before=[^"]*`))
	for _, view := range []string{first, older} {
		has(t, view, "101 calls", ">command: append <", ">vault: Notes <")
	}
	has(t, v.See(link(older, `activity\?command=append`)), ">command: append <") // without the vault
	bar := v.See(link(v.See("activity?outcome=denied"), `activity\?hour=[^"]*`))
	has(t, bar, ">1 call<", ">run eval<", ">outcome: denied <", " to ")
	change := v.See("changes?caller=" + regexp.MustCompile(`caller=([^"&]+)`).FindStringSubmatch(v.See("changes"))[1])
	has(t, v.See(link(change, `changes\?before=[^"]*`)), ">caller: ")
}

// The first view alone says what happened today, what waits, and how it is taken back; notes have
// their names, and a change that was undone can be done again.
func TestTheOverviewTellsToday(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	v := open(r)
	has(t, v.See(""), "No agent has called today.", "<ol class=\"steps\"", "Notes is set", "vaultwicket install", "Ask your agent")
	client := r.Stdio(false, "")
	for range 2 {
		client.Do(harness.Calling("read", "path=Bread.md"))
	}
	client.Do(harness.Calling("read", "path=Work/Plan.md"))
	client.Do(harness.Calling("append", "path=Bread.md", "content=yeast\nsugar"))
	client.Batch(harness.Calling("append", "path=Bread.md", "content=a"), harness.Calling("append", "path=Work/Plan.md", "content=b"))
	for range 3 {
		client.Do(harness.Calling("eval", "code=1"))
	}
	client.Do(harness.Calling("delete", "path=Work/Plan.md"))
	view := v.See("")
	lacks(t, view, "<ol class=\"steps\"")
	has(t, view, "t read 2 notes, changed 2 and was refused 3 times; 1 question waits for you.", "one batch of 2", "Undo all 3", "Undo the batch",
		`added </span>+2</span> <span class="minus"><span class="hidden">removed </span>−0`, "3 times</span>",
		"eval runs code in Obsidian or administers it", `role="img" aria-label="`, "3 denied; at most")
	_, undone := v.send(view, "changes/undo", nil, "Undo all 3")
	if strings.Contains(undone, `name="confirm"`) {
		has(t, undone, "<h1>Undo these 3 changes?</h1>")
		_, undone = v.send(undone, "changes/undo", nil, `name="confirm"`)
	}
	has(t, undone, "3 changes undone.", "<h1>Overview</h1>", "t read 2 notes and was refused 3 times", "Redo")
	assert.That(t, r.Read("Bread.md")+r.Read("Work/Plan.md") == "flour\nwater\nsalt\none\ntwo\n",
		"the notes are %q and %q", r.Read("Bread.md"), r.Read("Work/Plan.md"))
	again := v.undo(undone, "Redo with 2 others<")
	has(t, again, "3 changes done again.", "Undo all 3")
	if !strings.HasSuffix(r.Read("Bread.md"), "yeast\nsugar\na") || !strings.HasSuffix(r.Read("Work/Plan.md"), "b") {
		t.Errorf("done again, the notes are %q and %q", r.Read("Bread.md"), r.Read("Work/Plan.md"))
	}
}

// Calls are found by the names of their notes, which the log does not have. A hidden note has none.
func TestNotesByName(t *testing.T) {
	r := newProgram(t)
	client := r.Stdio(false, "")
	for _, path := range []string{"Bread.md", "Work/Plan.md", "Private/Diary.md"} {
		client.Do(harness.Calling("read", "path="+path))
	}
	r.Tables = "[vaults.access]\n\"/\" = \"rwd\"\nPrivate = \"none\"\n"
	v := open(r)
	has(t, v.See("activity"), "Bread.md", "Work/Plan.md", "3 calls")
	has(t, v.See("activity?q=PLAN"), ">1 call<", "read <b>Work/Plan.md</b>")
	for _, path := range []string{"activity", "activity?q=diary", ""} {
		lacks(t, strings.ReplaceAll(v.See(path), "search: diary", ""), "Diary.md", "Private")
	}
	has(t, v.See("activity?q=diary"), "No call matches")
	text := require.Value(os.ReadFile(filepath.Join(stateOf(r), "audit-calls", "audit.jsonl")))(t)
	lacks(t, string(text), "Bread", "Plan")
}

// On a machine where nothing is set up every view says so.
func TestWithoutAnything(t *testing.T) {
	r := newProgram(t)
	v := open(r, "--config=none")
	for _, test := range []struct{ path, want string }{
		{"", "No server is running"}, {"activity", "No agent has called yet."}, {"approvals", "Nothing is waiting"}, {"changes", "no vault folder given"},
		{"policy", "Settings in effect"}, {"policy/try", "What a call would do"}, {"policy/access", "is not known"}, {"settings", "There is no settings file"},
		{"health", "vault"}, // the last one: it asks the app for its version, which is a call
	} {
		status, view := v.Fetch(http.MethodGet, v.Base+test.path, nil)
		assert.That(t, status == http.StatusOK || status == http.StatusUnprocessableEntity, "%q answers %d", test.path, status)
		has(t, view, test.want)
	}
	_, body := v.send(v.See("policy/try"), "policy/try", url.Values{"command": {"read"}, "params": {"path=a.md"}})
	has(t, body, "outcome deny")
}

// Each vault has its changes, its policy and its access.
func TestTwoVaults(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	other := filepath.Join(filepath.Dir(r.Vault), "Other")
	harness.WriteFile(t, filepath.Join(other, "Only here", "b.md"), []byte("b\n"))
	r.Tables = fmt.Sprintf("[[vaults]]\nname = \"Other\"\nfolder = %q\ntier = \"v1\"\n", other)
	client := r.Stdio(false, "")
	client.Do(harness.Calling("append", "path=Bread.md", "content=yeast"))
	client.Do(harness.Calling("append", "path=Only here/b.md", "content=c").With("vault", "Other"))
	v := open(r)
	has(t, v.See("changes"), ">Bread.md<")
	second := v.See("changes?vault=Other")
	has(t, second, ">Only here/b.md<")
	lacks(t, second, ">Bread.md<")
	has(t, v.See("policy/access?vault=Other"), ">Only here<")
	has(t, v.See("policy?vault=Other"), "requires tier v2")
	lacks(t, v.See("policy?vault=Notes"), "requires tier v2")
	one := regexp.MustCompile(`changes/one/[^"]+`).FindString(second)
	body := v.undo(v.See(html.UnescapeString(one)), `id="undo"`)
	has(t, body, "Undone.")
	text, err := os.ReadFile(filepath.Join(other, "Only here", "b.md"))
	assert.Equal(t, string(text), "b\n", "the note of the second vault is %q", text)
	assert.NoError(t, err, "the note of the second vault is %q", text)
}
