package ui

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// An answer that no caller can use is not asked for.
func TestQuestionsOfEndedSessions(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	v := openPage(t, state)
	end := require.Value(ownerfiles.RegisterServer(ownerfiles.ServersFolder(state), ownerfiles.Server{Session: "7-alive", Transport: "http"}))(t)
	codes := map[string]string{}
	for i, caller := range []string{"7-alive", "8-gone", "session-1", "token-1", "terminal"} {
		q, err := consent.OpenStore(consent.Folder(state),
			nil).Ask(consent.StoredQuestion{Session: caller, Vault: "v", Command: "delete", Text: "x",
			Digest: consent.Digest{byte(i + 1)}})
		require.NoError(t, err)
		codes[caller] = q.Code
	}
	expect := func(ended ...string) {
		t.Helper()
		view := v.see("approvals")
		for caller, code := range codes {
			_, article, _ := strings.Cut(view, `id="q-`+code+`"`)
			article, _, _ = strings.Cut(article, "</article>")
			over := strings.Contains(strings.Join(ended, " "), caller)
			assert.Equal(t, strings.Contains(article, "session ended"), over, "%s", caller)
			assert.That(t, strings.Contains(article, ">Approve<") != over, "%s: %s", caller, article)
		}
	}
	expect("8-gone")
	view := v.see("")
	require.Contains(t, view, "4 questions wait for you", "the overview shows %s", view)
	assert.That(t, !strings.Contains(view, codes["8-gone"]), "the overview shows %s", view)
	late := v.send("approvals", "approvals/approve", url.Values{"code": {codes["8-gone"]}})
	_, _, body := v.do(http.MethodGet, late, nil)
	assert.Contains(t, body, "the session that asked has ended", "approved")
	end()
	expect("8-gone", "7-alive", "session-1")
}

// A question that expires says so on the page, whether it was answered or not, and is gone from it later.
func TestQuestionsThatExpire(t *testing.T) {
	v := openPage(t, filepath.Join(t.TempDir(), "state"))
	shift := time.Duration(0)
	v.page.Now = func() time.Time { return time.Now().Add(shift) }
	var codes []string
	for i := range 2 {
		q, err := consent.OpenStore(consent.Folder(v.page.State),
			nil).Ask(consent.StoredQuestion{Session: "token-1", Vault: "v", Command: "delete", Text: "x",
			Digest: consent.Digest{byte(i + 1)}})
		require.NoError(t, err)
		codes = append(codes, q.Code)
	}
	v.send("approvals", "approvals/approve", url.Values{"code": codes[:1]})
	assert.Contains(t, v.see("approvals"), "Approved here, for one call")
	before, _ := v.page.events.check()
	shift = 11 * time.Minute
	after, pending := v.page.events.check()
	assert.That(t, after > before, "open pages are told nothing: %d, %d, %d wait", before, after, pending)
	assert.Equal(t, pending, 0, "open pages are told nothing: %d, %d, %d wait", before, after, pending)
	view := v.see("approvals")
	assert.Contains(t, view, "Void: the agent did not repeat the call in time.", "what was approved")
	assert.Contains(t, view, "Expired before it was answered.", "what was not")
	assert.Contains(t, v.see("approvals/one/"+codes[1]), "Expired before it was answered.", "on its own page")
	shift = 22 * time.Minute
	view = v.see("approvals")
	require.That(t, !strings.Contains(view, codes[0]), "later: %s", view)
	assert.That(t, !strings.Contains(view, codes[1]), "later: %s", view)
}

// Several questions are answered at once, and nothing but those that are selected. What was approved
// stays on the page until its call is made.
func TestSeveralQuestionsAreAnsweredTogether(t *testing.T) {
	v := openPage(t, filepath.Join(t.TempDir(), "state"))
	var codes []string
	for i := range 4 {
		lines := []consent.Line{
			{Kind: consent.Act, Text: `Delete 1 note, and change 1 note (vault "Notes")`},
			{Text: `Asked by a client that calls itself "Your terminal".`},
			{Text: "It leaves 19 links that lead nowhere."},
			{Kind: consent.File, Text: "removes", Path: `Recipes/Bread "old".md`, Removed: 10, Size: 50,
				Hash: "9f2c4b1e0d77a6c3"}, {Kind: consent.Removed, Text: "flour"},
			{Kind: consent.File, Text: "changes", Path: "Work/Plan.md"},
		}
		q, err := consent.OpenStore(consent.Folder(v.page.State),
			nil).Ask(consent.StoredQuestion{Session: "token-1", Client: "Your terminal", Vault: "Notes",
			Command: "delete", Effect: "destructive", Text: "x", Lines: lines, Digest: consent.Digest{byte(i + 1)}})
		require.NoError(t, err)
		codes = append(codes, q.Code)
	}
	for _, want := range []string{
		`<b>Delete 1 note, and change 1 note (vault &#34;Notes&#34;)</b>`,
		`Asked by a client that calls itself &#34;Your terminal&#34;.`, `<span class="chip grave">−10 lines</span>`,
		">2 notes<", ">leaves 19 links that lead nowhere<", `class="ask grave"`,
		`Approve<span class="hidden"> Delete 1 note`, "50 bytes, hash <code>9f2c4b1e0d77a6c3</code>",
	} {
		assert.Contains(t, v.see("approvals"), want, "%q is not in", want)
	}
	v.send("approvals", "approvals/approve", url.Values{"code": codes[:2]})
	v.send("approvals", "approvals/deny", url.Values{"code": codes[2:3]})
	at := v.send("approvals", "approvals/approve", url.Values{"code": nil})
	assert.That(t, strings.Contains(at, "answer="), "nothing is selected, and it leads to %s", at)
	view := v.see("approvals")
	n := strings.Count(view, "Tell “Your terminal” to go on.")
	require.Equal(t, n, 2, "%d are approved: %s", n, view)
	require.Equal(t, strings.Count(view, `class="ask grave"`), 1, "%d are approved: %s", n, view)
	assert.Contains(t, view, `id="q-`+codes[3]+`"`, "%d are approved: %s", n, view)
	states := map[consent.State]int{}
	all, _, err := consent.OpenStore(consent.Folder(v.page.State), nil).List()
	for _, q := range all {
		states[q.State]++
	}
	v.send("approvals", "approvals/deny", url.Values{"code": codes[:1]}) // it was approved, and is taken back
	view = v.see("approvals")
	assert.Contains(t, view, "Withdrawn. The call is not carried out.")
	n = strings.Count(view, "Tell “Your terminal” to go on.")
	assert.Equal(t, n, 1, "approvals that are still good")
	require.NoError(t, err)
	require.Equal(t, states[consent.Approved], 2)
	require.Equal(t, states[consent.Denied], 1)
	assert.Equal(t, states[consent.Pending], 1)
}

// A question that is too long for the list is on a page of its own, in parts that have every line, and is approved at its
// end.
func TestALongQuestionIsReadInPartsOnThePage(t *testing.T) {
	v := openPage(t, filepath.Join(t.TempDir(), "state"))
	lines := []consent.Line{{Kind: consent.Act, Text: "Create Long.md"}, {Kind: consent.File, Text: "makes", Path: "Long.md"}}
	const added = 2*partRows + 5
	for i := range added {
		lines = append(lines, consent.Line{Kind: consent.Added, Text: fmt.Sprintf("line %d.", i), New: i + 1})
	}
	asked := consent.StoredQuestion{Session: "token-1", Vault: "Notes", Command: "create", Text: "x", Lines: lines, Digest: consent.Digest{1}}
	q, err := consent.OpenStore(consent.Folder(v.page.State), nil).Ask(asked)
	require.NoError(t, err)
	one := "approvals/one/" + q.Code
	list := v.see("approvals")
	assert.Contains(t, list, one, "the list does not lead to it")
	assert.That(t, !strings.Contains(list,
		`action="`+v.page.guard.base+`approvals/approve"><input type="hidden" name="token"`),
		"it is approved in the list: %s", list)
	all := ""
	for part := 1; part <= 3; part++ {
		view := v.see(fmt.Sprintf("%s?part=%d", one, part))
		assert.Contains(t, view, fmt.Sprintf("part %d of 3", part))
		assert.Contains(t, view, "<b>Create Long.md</b>", "part %d", part)
		assert.Equal(t, strings.Contains(view, `>Approve<`), part == 3, "part %d has the button", part)
		assert.Contains(t, view, `>Deny<`, "part %d", part)
		all += view
	}
	for i := range added {
		require.That(t, strings.Contains(all, fmt.Sprintf(">line %d.<", i)), "line %d is in no part", i)
	}
	v.send(one+"?part=3", "approvals/approve", url.Values{"code": {q.Code}})
	assert.Contains(t, v.see(one), "Approved here, for one call")
}
