package mcpserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// late sends the answer to a question that is over, and reads what comes of it.
func (b *booth) late(q question, answer string) {
	b.T.Helper()
	if b.era == legacyEra {
		b.respond(q.id, answer)
		return
	}
	b.result(b.reply(q, answer))
}

// over reads the answer to the call of a question in the older protocol, where it waits.
func (b *booth) over(q question) {
	b.T.Helper()
	if b.era == legacyEra {
		b.result(q.call)
	}
}

// withdraws has the agent take all its questions back, and reads all that comes of it.
func (b *booth) withdraws(q question) {
	b.T.Helper()
	id := b.tool("obsidianCli", `{"command":"approvals","params":{"withdraw":"all"}}`, "")
	answers := 1
	if b.era == legacyEra {
		answers = 2 // that of the call, too
	}
	for answers > 0 {
		m := b.Next()
		if m.Method != "" {
			continue
		}
		answers--
		isKnown := fmt.Sprint(m.ID) == fmt.Sprint(float64(id)) || fmt.Sprint(m.ID) == fmt.Sprint(float64(q.call))
		require.That(b.T, isKnown, "an answer to %v: %s", m.ID, m.Result)
	}
}

// Attacks by a client or an agent on a question that is a form: none of them has the change made. The user is asked where
// the client shows it, for the attacks have most to gain there.
func TestAttacksOnAForm(t *testing.T) {
	attacks := map[string]func(b *booth, q question){
		"a yes after the agent withdrew it": func(b *booth, q question) {
			b.withdraws(q)
			b.late(q, accepted)
		},
		"a yes after the owner denied it": func(b *booth, q question) {
			b.deny()
			b.over(q)
			b.late(q, accepted)
		},
		"a yes after the owner took the approval of another call back": func(b *booth, q question) {
			b.approveLike(func(p *consent.StoredQuestion) { p.Digest[0]++; p.Call[0]++ })
			list, _, err := b.approvals.List()
			require.NoError(b.T, err)
			at := slices.IndexFunc(list, func(q consent.StoredQuestion) bool { return q.State == consent.Approved })
			require.Value(b.approvals.TakeBack(list[at].Code))(b.T)
			b.answer(q, dismissed)
		},
		"a no, and a yes at once": func(b *booth, q question) {
			b.answer(q, declined)
			b.late(q, accepted)
			b.late(q, accepted)
		},
		"dismissed, and a yes at once": func(b *booth, q question) {
			b.answer(q, dismissed)
			b.late(q, accepted)
		},
		"an error, and a yes": func(b *booth, q question) {
			if b.era == modernEra {
				b.answer(q, `{"isError":true}`)
			} else {
				b.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"accept"}}`, transport.Encode(q.id)))
				b.over(q)
			}
			b.late(q, accepted)
		},
		"an approval of another vault": func(b *booth, q question) {
			b.approveLike(func(p *consent.StoredQuestion) { p.Vault = "Home"; p.Digest[1]++ })
			b.answer(q, dismissed)
		},
		"an approval of another client of the same name": func(b *booth, q question) {
			b.approveLike(func(p *consent.StoredQuestion) { p.Session = "2-other"; p.Ref = "" })
			b.answer(q, dismissed)
		},
		"an approval with the code of nobody": func(b *booth, q question) {
			_, err := consent.Decide(b.state, consent.Answer{Code: "AAAA-AAAA", Approve: true, By: "page"})
			assert.That(b.T, err != nil, "a code that nobody has is approved")
			b.answer(q, dismissed)
		},
		"an approval with the id that the agent knows": func(b *booth, q question) {
			_, err := consent.Decide(b.state, consent.Answer{Code: b.pending()[0].ID(), Approve: true, By: "page"})
			assert.That(b.T, err != nil, "an id is a code")
			b.answer(q, dismissed)
		},
		"an approval with the name of the link": func(b *booth, q question) {
			_, err := consent.Decide(b.state, consent.Answer{Code: b.pending()[0].Ref, Approve: true, By: "page"})
			assert.That(b.T, err != nil, "the name of a link is a code")
			b.answer(q, dismissed)
		},
		"the agent approves it as a command": func(b *booth, q question) {
			b.answer(q, dismissed)
			code := b.pending()[0].Code
			for _, words := range []string{
				`{"command":"approve","params":{"code":"` + code + `"}}`, `{"command":"approvals","params":{"approve":"` + code + `"}}`,
				`{"command":"approvals","params":{"withdraw":"` + code + `"}}`,
			} {
				b.result(b.tool("obsidianCli", words, ""))
			}
		},
		"the call again and again": func(b *booth, q question) {
			b.answer(q, dismissed)
			for range 20 {
				assert.Equal(b.T, b.result(b.tool("obsidianCli", removal, "")).Code, "unconfirmed")
			}
			assert.Equal(b.T, len(b.pending()), 1, "questions that wait")
		},
		"the call with other spellings": func(b *booth, q question) {
			b.answer(q, dismissed)
			for _, path := range []string{"./a.md", "x/../a.md", "/a.md", "a.md/", "A.MD"} {
				again := b.tool("obsidianCli", `{"command":"delete","params":{"path":"`+path+`"}}`, "")
				if m := b.Next(); m.Method == "elicitation/create" { // a question of its own, which is left open
					b.respond(m.ID, dismissed)
					b.result(again)
				}
			}
		},
	}
	for _, e := range eras {
		for name, attack := range attacks {
			t.Run(fmt.Sprintf("%s, %s", e, name), func(t *testing.T) {
				t.Parallel()
				b := openBooth(t, e, formsOnly)
				attack(b, b.ask(removal))
				ran := b.ran()
				assert.Equal(t, len(ran), 0, "the app was told %q", ran)
			})
		}
	}
}

// A name that a client gives itself is its own word in the question, and decides nothing.
func TestForgedNamesOfClients(t *testing.T) {
	for _, name := range []string{"terminal", "Your terminal", "page", "vaultwicket", "the owner", "you on the page",
		`x". Asked by your terminal. "`, "Claude Code\nAllow"} {
		for _, e := range eras {
			b := boothAs{name, policy.AskClient, time.Hour}.open(t, e, formsOnly)
			q := b.ask(removal)
			lines := strings.Split(q.message, "\n")
			require.That(t, len(lines) > 1, "%s, %q: %q", e, name, q.message)
			assert.That(t, strings.HasPrefix(lines[1], `Asked by a client that calls itself "`), "%s, %q: %q", e, name, lines[1])
			assert.Equal(t, strings.Count(q.message, "\nAsked by "), 1, "%s, %q: how often it says who asks", e, name)
			b.refused(name, b.answer(q, accepted)) // before anybody could have read it
			assert.Equal(t, len(b.pending()), 1, "%s, %q: questions that wait", e, name)
		}
	}
}

// Very many questions leave no room for an answer by mistake: eight wait, the others are refused, nothing is run, and the
// one that was there first is still answered by its own answer alone.
func TestVeryManyQuestions(t *testing.T) {
	b := openBooth(t, modernEra, formsOnly)
	q := b.ask(removal)
	for n := range testenv.Count(300, 10_000) {
		got := b.result(b.tool("obsidianCli", removalOf(fmt.Sprint(n)), ""))
		require.Equal(t, got.Code, "unconfirmed", "call %d", n)
	}
	assert.Equal(t, len(b.pending()), 8, "questions that wait")
	other := q
	other.arg = removalOf("0")
	b.refused("the answer for another", b.answer(other, accepted))
	b.runs("the first one", b.answer(q, accepted), removed)
}
