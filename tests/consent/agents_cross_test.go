package consent

import (
	"bufio"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// sessionsOf opens sessions of agents with one server over HTTP, or with a server each.
func sessionsOf(r *harness.Program, over string, agents ...string) (all []*harness.Client) {
	r.Save()
	var server *harness.HTTPServer
	if over == "http" {
		giveTokens(r, []string{"ann", "bob"})
		server = r.OverHTTP()
	}
	for _, name := range agents {
		if server != nil {
			all = append(all, r.Session(server, "vwa_"+name))
		} else {
			all = append(all, serverOf(r, name))
		}
	}
	return all
}

// resource is the text of a resource, "" for one that cannot be read.
func resource(c *harness.Client, uri string) (text string) {
	for _, content := range c.Ask("resources/read", map[string]any{"uri": uri}).Result.Contents {
		text += content.Text
	}
	return text
}

// waitingIn returns the questions that wait in the state of a program.
func waitingIn(r *harness.Program) []consent.StoredQuestion {
	r.T.Helper()
	all, _, err := consent.OpenStore(consent.Folder(stateOf(r)), time.Now).List()
	require.NoError(r.T, err)
	return slices.DeleteFunc(all, func(q consent.StoredQuestion) bool { return q.State != consent.Pending })
}

// approve approves the questions of an agent on the page.
func approve(r *harness.Program, agent string) {
	r.T.Helper()
	for _, q := range waitingIn(r) {
		if strings.HasPrefix(q.Session, agent+"/") {
			_, err := consent.Decide(stateOf(r), consent.Answer{Code: q.Code, Approve: true, By: "page"})
			require.NoError(r.T, err)
		}
	}
}

func TestNothingCrossesBetweenAgents(t *testing.T) {
	t.Parallel()
	for _, over := range []string{"stdio", "http"} {
		t.Run(over, func(t *testing.T) {
			r := newProgram(t)
			for i := range 30 {
				r.Write("Ann/"+strings.Repeat("n", i+1)+".md", "text\n")
			}
			r.Set("confirm", `"writes"`)
			s := sessionsOf(r, over, "ann", "ann", "bob")
			ann, other, bob := s[0], s[1], s[2]
			call := harness.Calling("append", "path=Both/Plan.md", "content=asked")
			asks := func(who string, s *harness.Client) {
				t.Helper()
				got := s.Do(call)
				require.That(t, !got.OK, "%s: %+v", who, got)
				require.HasPrefix(t, got.Error.Code, "unconfirmed", "%s: %+v", who, got)
			}
			asks("ann", ann)
			list := harness.Calling("approvals")
			own := ann.Do(list).Stdout
			id, _, _ := strings.Cut(own, "\t")
			if !strings.Contains(own, "\tappend\t") || strings.Contains(bob.Do(list).Stdout, "append") {
				t.Fatalf("ann waits for %q, bob for %q", own, bob.Do(list).Stdout)
			}
			forged := strings.Map(func(c rune) rune {
				if c >= '0' && c <= '8' || c >= 'a' && c <= 'e' || c >= 'A' && c <= 'E' {
					return c + 1
				}
				return c
			}, id)
			never := bob.Do(harness.Calling("approvals", "withdraw="+forged))
			for what, withdrawn := range map[string]gateway.Result{"another's": bob.Do(harness.Calling("approvals",
				"withdraw="+id)), "half of an id": ann.Do(harness.Calling("approvals", "withdraw="+id[:len(id)/2]))} {
				require.That(t, !withdrawn.OK, "withdraw %s: %+v, a forged id: %+v", what, withdrawn, never)
				assert.Equal(t, withdrawn.Error.Code, never.Error.Code,
					"withdraw %s: %+v, a forged id: %+v", what, withdrawn, never)
			}
			bob.Do(harness.Calling("approvals", "withdraw=all"))
			require.Equal(t, ann.Do(list).Stdout, own, "after bob withdrew")
			asks("bob", bob) // who is asked himself
			require.Equal(t, len(waitingIn(r)), 2, "questions")
			approve(r, "ann")
			asks("bob, with what ann was allowed", bob)
			asks("another session of ann", other)
			got := ann.Do(call)
			require.That(t, got.OK, "ann: %+v", got.Error)
			asks("ann, with what was used", ann)
			assert.Equal(t, strings.Count(r.Read("Both/Plan.md"), "asked"), 1, "the note")

			paged := ann.Do(harness.Calling("files").With("limit", 5))
			require.That(t, paged.Truncated != nil, "%+v", paged)
			require.That(t, paged.Truncated.Cursor != "", "%+v", paged)
			cursor := paged.Truncated.Cursor
			last := "A"
			if strings.HasSuffix(cursor, last) {
				last = "B"
			}
			for what, stolen := range map[string]gateway.Result{
				"another's cursor": bob.Do(harness.Call{"command": "files", "cursor": cursor}),
				"a forged one":     ann.Do(harness.Call{"command": "files", "cursor": cursor[:len(cursor)-1] + last}),
				"half of one":      ann.Do(harness.Call{"command": "files", "cursor": cursor[:len(cursor)/2]}),
				"with another":     ann.Do(harness.Call{"command": "folders", "cursor": cursor}),
			} {
				assert.That(t, !stolen.OK, "%s: %+v", what, stolen)
				assert.Equal(t, stolen.Stdout, "", "%s: %+v", what, stolen)
			}
			assert.Equal(t, resource(bob, "vaultwicket://output/"+cursor), "", "bob reads what was kept for ann")
			assert.Contains(t, resource(ann, "vaultwicket://output/"+cursor), "Ann/nn", "ann reads")
		})
	}
}

func TestARateIsThatOfAnAgent(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	r.Set("rate", "20")
	s := sessionsOf(r, "http", "ann", "ann", "bob")
	done := 0
	for i := range 40 {
		if got := s[i%2].Do(harness.Calling("read", "path=Ann/Plan.md")); got.OK {
			done++
		} else if got.Error.Code != "rate_limited" {
			t.Fatalf("%+v", got.Error)
		}
	}
	if done < 18 || done > 25 { // one is free again every three seconds
		t.Errorf("both sessions of ann made %d calls", done)
	}
	for range 15 {
		got := s[2].Do(harness.Calling("read", "path=Bob/Plan.md"))
		require.That(t, got.OK, "bob: %+v", got.Error)
	}
}

var requestState = regexp.MustCompile(`"requestState":"([^"]+)"`)

func TestTheAnswerToOneAgentIsNotAnothers(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	r.Set("confirm", `"writes"`)
	r.Set("ask", `"client"`)
	r.Set("min-answer-time", `"0s"`)
	r.Save()
	giveTokens(r, []string{"ann", "bob"})
	server := r.OverHTTP()
	send := func(agent, more string) string {
		t.Helper()
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"obsidianCli","arguments":{"command":"append","params":{"path":"Both/Plan.md","content":"asked\n"}}` +
			more +
			`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`
		_, text := callerOf(server, "vwa_"+agent).send(body, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "obsidianCli")
		return text
	}
	asked := send("ann", "")
	state := requestState.FindStringSubmatch(asked)
	require.That(t, state != nil, "not asked: %s", asked)
	yes := `,"inputResponses":{"confirm":` + harness.Accept + `},"requestState":"` + state[1] + `"`
	for what, sent := range map[string][2]string{"bob": {"bob", yes}, "a forged state": {"ann", strings.Replace(yes, state[1][:8], "AAAAAAAA", 1)}} {
		got := send(sent[0], sent[1])
		assert.NotContains(t, got, `"ok":true`, "%s", what)
		assert.NotContains(t, r.Read("Both/Plan.md"), "asked", "%s: %s", what, got)
	}
	assert.Contains(t, send("ann", yes), `"ok":true`, "ann")
	if got := send("ann", yes); strings.Contains(got, `"ok":true`) || strings.Count(r.Read("Both/Plan.md"), "asked") != 1 {
		t.Errorf("ann once more: %s\n%q", got, r.Read("Both/Plan.md"))
	}
}

func TestAStandingPermissionIsThatOfASession(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	r.Set("confirm", `"writes"`)
	r.Set("ask", `"client"`)
	r.Set("min-answer-time", `"0s"`)
	r.Save()
	giveTokens(r, []string{"ann", "bob"})
	server := r.OverHTTP()
	var sessions []*caller
	for _, name := range []string{"ann", "ann", "bob"} {
		sessions = append(sessions, askable(server, name))
	}
	here := `{"action":"accept","content":{"allow":true,"folder":true}}`
	for i, test := range []struct {
		by     int
		answer string
		asked  bool
	}{{0, here, true}, {0, harness.Decline, false}, {2, harness.Decline, true}, {1, harness.Decline, true}, {0, harness.Decline, false}} {
		asked := false
		sessions[test.by].asked(appendBoth, func(id string) {
			asked = true
			sessions[test.by].answer(id, test.answer)
		})
		assert.Equal(t, asked, test.asked, "call %d: asked", i)
	}
	assert.Equal(t, strings.Count(r.Read("Both/Plan.md"), "x"), 3, "changes")
}

const appendBoth = `{"command":"append","params":{"path":"Both/Plan.md","content":"x\n"}}`

// askable opens a session of an agent whose client shows forms.
func askable(server *harness.HTTPServer, agent string) *caller {
	c := callerOf(server, "vwa_"+agent)
	c.send(harness.Handshake(`{"elicitation":{}}`))
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

// answer answers a form.
func (c *caller) answer(form, with string) {
	c.send(`{"jsonrpc":"2.0","id":` + form + `,"result":` + with + `}`)
}

// asked makes a call and returns its answer; form is given the id of each form that comes first.
func (c *caller) asked(arguments string, form func(id string)) (answer string) {
	c.T.Helper()
	response := require.Value(c.Client.Do(c.Request(c.T.Context(), http.MethodPost, "/mcp", harness.ToolCall(5, arguments), "Mcp-Session-Id", c.session)))(c.T)
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		var message struct {
			ID     json.RawMessage
			Method string
		}
		text := strings.TrimPrefix(lines.Text(), "data: ")
		switch json.Unmarshal([]byte(text), &message); {
		case message.Method == "elicitation/create":
			form(string(message.ID))
		case message.ID != nil:
			answer = text
		}
	}
	return answer
}

// An agent ends while a form of its waits for the person, over HTTP: the call ends soon, and an
// answer that comes later, or the same call in another session, changes nothing.
func TestAQuestionEndsWithItsAgent(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"pause", "revoke", "edit", "expiry"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			r := newProgram(t)
			r.Set("confirm", `"writes"`)
			r.Set("ask", `"client"`)
			r.Set("min-answer-time", `"0s"`)
			if how == "expiry" {
				r.Tables = strings.Replace(tables, "[agents.ann]\n",
					"[agents.ann]\nexpires = "+time.Now().Add(8*time.Second).UTC().Format("2006-01-02T15:04:05.000Z")+
						"\n", 1)
			}
			r.Save()
			giveTokens(r, []string{"ann", "bob"})
			server := r.OverHTTP()
			ann, bob := askable(server, "ann"), askable(server, "bob")
			before, id := r.Read("Both/Plan.md"), ""
			var ended time.Time
			answer := ann.asked(appendBoth, func(form string) {
				id = form
				switch how {
				case "pause":
					r.Must("pause", "--agent=ann")
				case "revoke":
					r.Must("agent", "revoke", "ann")
				case "edit":
					r.Tables = strings.Replace(tables, "[agents.ann]\n", "[agents.ann]\nvaults = []\n", 1)
					r.Save()
				}
				ended = time.Now()
			})
			t.Logf("the call ended %v after the agent: %.300s", time.Since(ended).Round(time.Millisecond), answer)
			if id == "" || strings.Contains(answer, `"ok":true`) || time.Since(ended) > time.Minute { // a question waits for two
				t.Fatalf("form %q: %s", id, answer)
			}
			ann.answer(id, harness.Accept)
			got, _ := connected(server, "ann").do(harness.Calling("append", "path=Both/Plan.md", "content=x"))
			assert.That(t, !got.OK, "another session: %+v", got)
			assert.Equal(t, r.Read("Both/Plan.md"), before, "the note")
			assert.Contains(t, bob.asked(appendBoth, func(id string) { bob.answer(id, harness.Accept) }), `"ok":true`, "bob")
		})
	}
}

func TestAnAgentThatWasRevokedBeginsAnew(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	r.Set("confirm", `"writes"`)
	for i := range 30 {
		r.Write("Ann/"+strings.Repeat("n", i+1)+".md", "text\n")
		r.Write("Bob/"+strings.Repeat("n", i+1)+".md", "text\n")
	}
	s := sessionsOf(r, "stdio", "ann", "bob")
	call := harness.Calling("append", "path=Both/Plan.md", "content=asked").With("idempotencyKey", "k")
	other := harness.Calling("append", "path=Both/Plan.md", "content=approved")
	waits := harness.Calling("append", "path=Both/Plan.md", "content=waits")
	var cursors []string
	for i, name := range []string{"ann", "bob"} {
		for _, c := range []harness.Call{call, other} {
			s[i].Do(c)
			approve(r, name)
			if c["idempotencyKey"] == nil {
				continue // approved, and not made
			}
			got := s[i].Do(c)
			require.That(t, got.OK, "%s: %+v", name, got.Error)
		}
		s[i].Do(waits)
		paged := s[i].Do(harness.Calling("files").With("limit", 5))
		cursors = append(cursors, paged.Truncated.Cursor)
	}
	r.Must("agent", "add", "ann")
	r.Must("agent", "revoke", "ann")
	r.Must("agent", "rotate", "ann")
	for i, name := range []string{"ann", "bob"} {
		anew := i == 0
		if got := s[i].Do(harness.Call{"command": "files", "cursor": cursors[i]}); got.OK == anew {
			t.Errorf("%s: the cursor: %+v", name, got)
		}
		assert.Equal(t, (resource(s[i], "vaultwicket://output/"+cursors[i]) == ""), anew, "%s: the kept answer", name)
		if got := s[i].Do(harness.Calling("approvals")).Stdout; strings.Contains(got, "append") == anew {
			t.Errorf("%s: waits for %q", name, got)
		}
		if got := s[i].Do(other); got.OK == anew {
			t.Errorf("%s: what was approved: %+v", name, got)
		}
		got := s[i].Do(call)
		assert.That(t, got.OK != anew, "%s: the key: %+v", name, got)
	}
	got := s[0].Do(harness.Calling("read", "path=Ann/Plan.md"))
	assert.That(t, got.OK, "ann reads: %+v", got.Error)
	r.Must("agent", "revoke", "ann")
	assert.That(t, !s[0].Do(harness.Calling("read", "path=Ann/Plan.md")).OK, "ann reads after the second revocation")
}
