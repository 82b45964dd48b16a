package mcpserver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// formsAndLinks are the capabilities of a client that shows forms and opens links.
const formsAndLinks = `{"elicitation":{"form":{},"url":{}}}`

// openPage has a local page be open until it is closed.
func (b *booth) openPage() (closed func()) {
	b.T.Helper()
	closed, err := ownerfiles.RegisterServer(consent.Pages(b.state), ownerfiles.Server{Session: "1-page", Transport: "page", URL: "http://127.0.0.1:8766"})
	require.NoError(b.T, err)
	b.T.Cleanup(closed) // also keeps the lock's file from being collected, which would close the page
	return closed
}

// pending returns the questions that wait for the user.
func (b *booth) pending() (waiting []consent.StoredQuestion) {
	b.T.Helper()
	list, _, err := b.approvals.List()
	require.NoError(b.T, err)
	for _, q := range list {
		if q.State == consent.Pending {
			waiting = append(waiting, q)
		}
	}
	return waiting
}

// A client that opens links gets one to the question on the page, and the call is made when the user
// has approved it there. Without links it gets a form.
func TestALinkOpensTheQuestionOnThePage(t *testing.T) {
	for _, e := range eras {
		b := boothAs{"codex-mcp-client", policy.AskAuto, policy.NoMinAnswer}.open(t, e, formsAndLinks)
		closed := b.result(b.tool("obsidianCli", removalOf("closed"), ""))
		require.Equal(t, closed.Code, "unconfirmed", "%s: no page is open: %+v", e, closed)
		assert.That(t, closed.approval["link"] == nil, "%s: no page is open: %+v", e, closed)
		_, err := b.approvals.Deny(b.pending()[0].Code)
		require.NoError(t, err)
		b.openPage()
		q := b.ask(removal)
		waiting := b.pending()
		if len(waiting) != 1 || q.link != "http://127.0.0.1:8766/question/"+waiting[0].Ref ||
			!strings.HasPrefix(q.message, `Delete "a.md" (vault "Work")`+"\n") || strings.Contains(q.link, "a.md") ||
			strings.Contains(q.link, strings.ReplaceAll(waiting[0].Code, "-", "")) {
			t.Fatalf("%s: %q leads to %s; %+v waits", e, q.message, q.link, waiting)
		}
		id := b.reply(q, `{"action":"accept"}`)
		assert.Equal(t, b.result(b.tool("obsidianRead", reading, "")).Code, "", "%s: a read with an open page", e)
		require.Value(b.approvals.Approve(waiting[0].Code))(t)
		approved := time.Now()
		if e == legacyEra {
			m := b.Next()
			require.Equal(t, m.Method, "notifications/elicitation/complete", "no notification")
			assert.Equal[any](t, m.Params["elicitationId"], waiting[0].Ref, "no notification")
		}
		b.runs(string(e), b.result(id), removed)
		t.Logf("%s: from the decision on the page to the result: %v", e, time.Since(approved))
		forms := openBooth(t, e, formsOnly)
		forms.openPage()
		assert.Equal(t, forms.ask(removal).link, "", "%s: a client without links gets", e)
	}
}

// approveLike asks and approves a question like the pending one, with a change.
func (b *booth) approveLike(change func(*consent.StoredQuestion)) {
	other := b.pending()[0]
	change(&other)
	other = require.Value(b.approvals.Ask(other))(b.T)
	require.Value(b.approvals.Approve(other.Code))(b.T)
}

// given sends an answer that opens the page, and ends the wait for what the user decides there: the question is denied.
func (b *booth) given(q question, answer string) told {
	b.T.Helper()
	id := b.reply(q, answer)
	b.result(b.tool("obsidianRead", reading, "")) // it is read after the answer
	_, err := b.approvals.Deny(b.pending()[0].Code)
	require.NoError(b.T, err)
	return b.result(id)
}

// Only the answer on the page approves: nothing that a client sends does, whatever it answers to the
// link, and no answer to another question.
func TestNoAnswerToALinkApproves(t *testing.T) {
	const opens, withdrawal = `{"action":"accept"}`, "withdrawn by the agent"
	attacks := map[string]func(b *booth, q question) told{
		"opened, and not answered": func(b *booth, q question) told { return b.given(q, opens) },
		"opened with a form":       func(b *booth, q question) told { return b.given(q, accepted) },
		"another word":             func(b *booth, q question) told { return b.answer(q, `{"action":"approve"}`) },
		"declined":                 func(b *booth, q question) told { return b.answer(q, declined) },
		"dismissed":                func(b *booth, q question) told { return b.answer(q, dismissed) },
		"denied on the page": func(b *booth, q question) told {
			if _, err := b.approvals.Deny(b.pending()[0].Code); err != nil {
				b.T.Fatal(err)
			}
			return b.answer(q, opens)
		},
		"approved for another caller": func(b *booth, q question) told {
			b.approveLike(func(p *consent.StoredQuestion) { p.Session, p.Ref = "another", "" })
			return b.given(q, opens)
		},
		"approved for another call": func(b *booth, q question) told {
			b.approveLike(func(p *consent.StoredQuestion) { p.Digest[0]++; p.Call[0]++ })
			return b.given(q, opens)
		},
		withdrawal: func(b *booth, q question) told {
			id := b.reply(q, opens)
			var got told
			var withdrawn string
			for ended := false; !ended; time.Sleep(10 * time.Millisecond) { // again: the call may ask only then
				b.tool("obsidianCli", `{"command":"approvals","params":{"withdraw":"all"}}`, "")
				for answered := false; !answered; {
					switch m := b.Next(); {
					case m.Method != "":
					case m.ID == float64(id):
						got, ended = toldBy(m), true
					default:
						withdrawn, answered = withdrawn+toldBy(m).stdout, true
					}
				}
			}
			assert.That(b.T, strings.HasPrefix(withdrawn, "Withdrawn: "), "the withdrawal says %q", withdrawn)
			// A client of the modern protocol answers by sending the call again. One that is read after the withdrawal is an
			// answer to a question that is gone: the call may ask a new one, which waits.
			left := b.pending()
			isLate := b.era == modernEra && strings.Contains(got.message, "comes too late")
			if isLate {
				assert.That(b.T, len(left) <= 1, "%d questions are left", len(left))
			} else {
				assert.Contains(b.T, got.message, "was withdrawn")
				assert.Equal(b.T, len(left), 0, "questions that are left")
			}
			return got
		},
	}
	modern := map[string]func(b *booth, q question) told{
		"a forged state":  func(b *booth, q question) told { q.state = "x" + q.state[1:]; return b.answer(q, opens) },
		"an empty answer": func(b *booth, q question) told { return b.answer(q, "{}") },
		"the state of another call": func(b *booth, q question) told {
			q.arg = removalOf("other")
			return b.answer(q, opens)
		},
		"a replay": func(b *booth, q question) told { b.given(q, opens); return b.answer(q, opens) },
	}
	for _, e := range eras {
		for _, set := range []map[string]func(*booth, question) told{attacks, modern} {
			for name, attack := range set {
				if _, ok := modern[name]; ok && e == legacyEra {
					continue
				}
				t.Run(fmt.Sprintf("%s, %s", e, name), func(t *testing.T) {
					t.Parallel()
					b := boothAs{"codex-mcp-client", policy.AskPage, policy.NoMinAnswer}.open(t, e, formsAndLinks)
					b.openPage()
					b.refused(name, attack(b, b.ask(removal)))
				})
			}
		}
	}
	// What a client answered to the link is no answer after the page has been closed.
	b := boothAs{"codex-mcp-client", policy.AskPage, policy.NoMinAnswer}.open(t, modernEra, formsAndLinks)
	closed := b.openPage()
	q := b.ask(removal)
	closed()
	b.refused("the page was closed", b.answer(q, opened))
}
