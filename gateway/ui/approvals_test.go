package ui

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

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
		q, err := consent.OpenStore(consent.Folder(state), nil).Ask(consent.StoredQuestion{Session: caller, Vault: "v", Command: "delete", Text: "x", Digest: consent.Digest{byte(i + 1)}})
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
			assert.That(t, strings.Contains(article, "session ended") == over && strings.Contains(article, ">Approve<") != over, "%s: %s", caller, article)
		}
	}
	expect("8-gone")
	view := v.see("")
	assert.That(t, strings.Contains(view, "4 questions wait for you") && !strings.Contains(view, codes["8-gone"]), "the overview shows %s", view)
	late := v.send("approvals", "approvals/approve", url.Values{"code": {codes["8-gone"]}})
	_, _, body := v.do(http.MethodGet, late, nil)
	assert.Contains(t, body, "the session that asked has ended", "approved")
	end()
	expect("8-gone", "7-alive", "session-1")
}

// Several questions are answered at once, and nothing but those that are selected. What was approved
// stays on the page until its call is made.
func TestSeveralQuestionsAreAnsweredTogether(t *testing.T) {
	v := openPage(t, filepath.Join(t.TempDir(), "state"))
	var codes []string
	for i := range 4 {
		lines := []consent.Line{{Text: `Allow "delete" in the vault "Notes"?`}, {Text: "It deletes or overwrites notes."}, {Text: "It leaves 19 links that lead nowhere."}, {Text: `removes: "Recipes/Bread \"old\".md"`}, {Kind: consent.Removed, Text: "flour"}, {Text: "… left out: 0 lines added, 9 removed"}, {Text: `changes: "Work/Plan.md"`}}
		q, err := consent.OpenStore(consent.Folder(v.page.State), nil).Ask(consent.StoredQuestion{Session: "token-1", Client: "Claude Desktop", Vault: "Notes", Command: "delete", Effect: "destructive", Text: "x", Lines: lines, Digest: consent.Digest{byte(i + 1)}})
		require.NoError(t, err)
		codes = append(codes, q.Code)
	}
	for _, want := range []string{`Claude Desktop wants to <b>delete</b> Recipes/Bread &#34;old&#34;.md and 1 more note`, `<span class="chip grave">−10 lines</span>`, ">2 notes<", ">leaves 19 links that lead nowhere<", `class="ask grave"`, `Approve<span class="hidden"> delete Recipes/Bread`} {
		assert.Contains(t, v.see("approvals"), want, "%q is not in", want)
	}
	v.send("approvals", "approvals/approve", url.Values{"code": codes[:2]})
	v.send("approvals", "approvals/deny", url.Values{"code": codes[2:3]})
	at := v.send("approvals", "approvals/approve", url.Values{"code": nil})
	assert.That(t, strings.Contains(at, "answer="), "nothing is selected, and it leads to %s", at)
	view := v.see("approvals")
	n := strings.Count(view, "Tell Claude Desktop to go on.")
	assert.That(t, n == 2 && strings.Count(view, `class="ask grave"`) == 1 && strings.Contains(view, `id="q-`+codes[3]+`"`), "%d are approved: %s", n, view)
	states := map[consent.State]int{}
	all, _, err := consent.OpenStore(consent.Folder(v.page.State), nil).List()
	for _, q := range all {
		states[q.State]++
	}
	assert.That(t, err == nil && states[consent.Approved] == 2 && states[consent.Denied] == 1 && states[consent.Pending] == 1, "%v, %v", states, err)
}
