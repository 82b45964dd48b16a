package page

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// scene is a page, and a client whose call it shows.
type scene struct {
	*harness.Program
	v      *visitor
	client *harness.Client
}

// batch makes a batch of calls.
func (s scene) batch(calls []harness.Call, atomic bool) (result gateway.BatchResult) {
	arguments := harness.BatchOf(calls...)
	arguments["atomic"] = atomic
	s.client.Tool("obsidianBatch", arguments, &result)
	return result
}

// The card of a question follows it to its end, whatever that is and wherever it comes from.
func TestACardFollowsItsQuestion(t *testing.T) {
	t.Parallel()
	remove := harness.Calling("delete", "path=Bread.md")
	codeIn := regexp.MustCompile(`id="q-([^"]+)"`)
	approve := func(s scene) { s.v.send(s.v.See("approvals"), "approvals/approve", nil) }
	failing := []harness.Call{remove, harness.Calling("read", "path=Missing.md"), harness.Calling("delete", "path=Work/Plan.md")}
	for name, one := range map[string]struct {
		settings []string // keys and values
		calls    []harness.Call
		atomic   bool
		then     func(scene)
		want     string
		links    string // the beginning of the path that the card leads to, "" for none
	}{
		"done": {then: func(s scene) {
			approve(s)
			require.That(t, s.client.Do(remove).OK, "the approved call")
		}, want: "Done, see the change.", links: "changes/one/"},
		"done again, after another of the same command": {then: func(s scene) {
			other := harness.Calling("delete", "path=Work/Plan.md")
			s.client.Do(other)
			approve(s)
			approve(s)
			require.That(t, s.client.Do(other).OK, "the other call")
			has(t, s.v.See("approvals"), ">see the change<", "Approved here, for one call")
			require.That(t, s.client.Do(remove).OK, "the approved call")
		}, want: "Done, see the change.", links: "changes/one/"},
		"done, approved in a terminal": {then: func(s scene) {
			code := codeIn.FindStringSubmatch(s.v.See("approvals"))[1]
			_, err := consent.Decide(stateOf(s.Program), consent.Answer{Code: code, Approve: true, By: consent.Terminal})
			require.NoError(t, err)
			has(t, s.v.See("approvals"), "Approved in a terminal, for one call")
			require.That(t, s.client.Do(remove).OK, "the approved call")
		}, want: "Done, see the change.", links: "changes/one/"},
		"a batch that is done": {calls: []harness.Call{remove, harness.Calling("delete", "path=Work/Plan.md")}, then: func(s scene) {
			approve(s)
			require.That(t, s.batch([]harness.Call{remove, harness.Calling("delete", "path=Work/Plan.md")}, false).OK, "the approved batch")
		}, want: "Done, all 2 operations, see the calls.", links: "activity?"},
		"a batch that failed in its midst": {atomic: true, calls: failing, then: func(s scene) {
			approve(s)
			s.batch(failing, true)
		}, want: "Failed: 0 of 2 operations done (not_applied), see the calls.", links: "activity?"},
		"void": {settings: []string{"rate-mutations", "1"}, then: func(s scene) {
			require.That(t, s.client.Do(harness.Calling("append", "path=Work/Plan.md", "content=x")).OK, "the only change of this minute")
			approve(s)
			require.Equal(t, harness.CodeOf(s.client.Do(remove)), "rate_limited")
		}, want: "Void: the call that came with the approval was refused (rate_limited), see the call.", links: "activity/call/"},
		"denied": {then: func(s scene) { s.v.send(s.v.See("approvals"), "approvals/deny", nil) }, want: "Denied here. The call is not carried out."},
		"denied in a terminal": {then: func(s scene) {
			code := codeIn.FindStringSubmatch(s.v.See("approvals"))[1]
			_, err := consent.Decide(stateOf(s.Program), consent.Answer{Code: code, By: consent.Terminal})
			require.NoError(t, err)
		}, want: "Denied in a terminal. The call is not carried out."},
		"withdrawn": {then: func(s scene) {
			approve(s)
			s.v.send(s.v.See("approvals"), "approvals/deny", nil, "Withdraw")
		}, want: "Withdrawn. The call is not carried out."},
		"withdrawn by the agent": {then: func(s scene) {
			require.That(t, s.client.Do(harness.Calling("approvals", "withdraw=all")).OK, "to withdraw it")
		}, want: "Withdrawn by the agent."},
		"of a session that has ended": {then: func(s scene) {
			approve(s)
			require.NoError(t, s.client.Process.Kill())
			harness.WaitFor(t, "the end of the session", func() bool { return !strings.Contains(s.v.See("approvals"), "for one call") })
		}, want: "Void: the session that asked has ended."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newProgram(t)
			for i := 0; i < len(one.settings); i += 2 {
				r.Set(one.settings[i], one.settings[i+1])
			}
			s := scene{r, open(r), r.Stdio(false, "")}
			if one.calls == nil {
				s.client.Do(remove)
			} else {
				s.batch(one.calls, one.atomic)
			}
			code := codeIn.FindStringSubmatch(s.v.See("approvals"))
			require.That(t, code != nil, "no question in %s", mainOf(s.v.See("approvals")))
			one.then(s)
			card := cardOfQuestion(t, s.v.See("approvals"), code[1])
			text := strings.TrimSpace(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(card, ""))
			assert.That(t, strings.HasSuffix(text, one.want), "the card says %q, want %q", text, one.want)
			links := regexp.MustCompile(`href="/[^/]+/([^"]*)"`).FindStringSubmatch(card)
			isLinked := links != nil && strings.HasPrefix(links[1], one.links)
			assert.That(t, isLinked == (one.links != ""), "the card leads to %v, want %q", links, one.links)
		})
	}
}

// A question about the notes as they were is void once the agent has asked about the changed notes.
func TestACardOfChangedNotesIsVoid(t *testing.T) {
	t.Parallel()
	r, v, client := begin(t)
	call := harness.Calling("delete", "path=Bread.md")
	for _, text := range []string{"flour\n", "rye flour\n"} { // while it waits, and after it was approved
		r.Write("Bread.md", text)
		client.Do(call)
		first := v.See("approvals")
		if text != "flour\n" {
			v.send(first, "approvals/approve", nil)
		}
		code := regexp.MustCompile(`id="pick-([^"]+)"`).FindStringSubmatch(first)[1]
		r.Write("Bread.md", "changed: "+text)
		client.Do(call)
		has(t, cardOfQuestion(t, v.See("approvals"), code), "Void: its notes were changed since, so the agent asked again.")
		v.send(v.See("approvals"), "approvals/approve", url.Values{}, `class="yes"`)
		require.That(t, client.Do(call).OK, "the call as it was asked again")
	}
}

// cardOfQuestion returns the card of the question with a code.
func cardOfQuestion(t *testing.T, view, code string) string {
	t.Helper()
	_, card, found := strings.Cut(view, `id="q-`+code+`"`)
	require.That(t, found, "no card of %s in %s", code, mainOf(view))
	card, _, _ = strings.Cut(card, "</article>")
	_, card, _ = strings.Cut(card, ">")
	return card
}
