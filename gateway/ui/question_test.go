package ui

import (
	"context"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// asking is a state folder with one question of a session, and the guards of the page of the owner and of the page of
// the server that asks.
type asking struct {
	t           *testing.T
	state       string
	store       *consent.Store
	question    consent.StoredQuestion
	page, owned *guard
	now         time.Time
}

// browsersFile is where the state folder has the paired browsers.
const browsersFile = "browsers.json"

const asker = "7-asker" // the session that asks

func newAsking(t *testing.T, change ...func(*consent.StoredQuestion)) *asking {
	t.Helper()
	a := &asking{t: t, state: filepath.Join(t.TempDir(), "state"), now: time.Now()}
	clock := func() time.Time { return a.now }
	a.store = consent.OpenStore(consent.Folder(a.state), clock)
	a.question = a.ask(asker, change...)
	quiet := slog.New(slog.DiscardHandler)
	a.page = newGuard(clock, newLinkPages(a.state, "1-page", "", clock, quiet), nil)
	a.owned = newGuard(clock, newLinkPages(a.state, asker, asker, clock, quiet), nil)
	return a
}

// ask stores a question of a session, changed before.
func (a *asking) ask(session string, change ...func(*consent.StoredQuestion)) consent.StoredQuestion {
	a.t.Helper()
	q := consent.StoredQuestion{
		Session: session, Client: "c", Vault: "Notes", Command: "delete", Effect: "destructive",
		Text: "Delete \"Plan.md\"\nAsked by c.", Digest: consent.Digest{1, byte(len(session))},
		Lines: []consent.Line{
			{Kind: consent.Act, Text: `Delete "Plan.md"`},
			{Text: "Asked by c."},
			{Kind: consent.File, Text: "removes", Path: "Plan.md", Removed: 1},
			{Kind: consent.Removed, Text: "the secret line", Old: 1},
		},
	}
	for _, c := range change {
		c(&q)
	}
	stored, err := a.store.Ask(q)
	require.NoError(a.t, err)
	return stored
}

// pair opens the page of the owner with its link, and returns the cookie of the browser for questions.
func (a *asking) pair() (cookie string) {
	a.t.Helper()
	for _, c := range get(a.page, a.page.Open()).Result().Cookies() {
		if c.Name == ownerCookie {
			isKept := c.HttpOnly && c.SameSite == http.SameSiteStrictMode && c.Path == consent.LinkPath && c.MaxAge > 0
			require.That(a.t, isKept, "the cookie %+v", c)
			assert.Equal(a.t, c.Domain, "", "the cookie %+v", c)
			return c.Name + "=" + c.Value
		}
	}
	a.t.Fatal("the browser is not paired")
	return ""
}

func (a *asking) link() string { return consent.LinkPath + a.question.Ref }

// formsOf returns the tokens of the forms of a page by what they do.
func formsOf(body string) map[string]string {
	forms := map[string]string{}
	for _, found := range formTokens.FindAllStringSubmatch(body, -1) {
		forms[found[2]] = html.UnescapeString(found[1])
	}
	return forms
}

var formTokens = regexp.MustCompile(`name="token" value="([^"]+)"><input type="hidden" name="does" value="([^"]+)"`)

// post sends a form to a link as a browser on the same page does.
func post(g *guard, link, does, token, cookie string, headers ...string) *httptest.ResponseRecorder {
	form := url.Values{"does": {does}, "token": {token}}
	all := append([]string{
		"Content-Type", "application/x-www-form-urlencoded", "Origin", "http://127.0.0.1:4567", "Sec-Fetch-Site", "same-origin", "Cookie", cookie,
	}, headers...)
	return send(g, http.MethodPost, link, form.Encode(), all...)
}

// stateNow returns what the answer of the question is, [consent.Unasked] if it is gone.
func (a *asking) stateNow() consent.State {
	a.t.Helper()
	list, _, err := a.store.List()
	require.NoError(a.t, err)
	for _, q := range list {
		if q.Ref == a.question.Ref {
			return q.State
		}
	}
	return consent.Unasked
}

// A browser that was paired once decides on the page of every server, and sees all of the question there.
func TestAPairedBrowserDecides(t *testing.T) {
	for does, want := range map[string]consent.State{approving: consent.Approved, denying: consent.Denied} {
		a := newAsking(t)
		cookie := a.pair()
		shown := send(a.owned, http.MethodGet, a.link(), "", "Cookie", cookie, "Sec-Fetch-Site", "none")
		body := shown.Body.String()
		assert.Equal(t, shown.Code, http.StatusOK)
		assert.Contains(t, body, "the secret line")
		w := post(a.owned, a.link(), does, formsOf(body)[does], cookie)
		assert.Equal(t, w.Code, http.StatusSeeOther, "%s", does)
		assert.Equal(t, a.stateNow(), want, "%s", does)
		after := send(a.owned, http.MethodGet, a.link(), "", "Cookie", cookie).Body.String()
		assert.Contains(t, after, saidOf(want))
		assert.That(t, !strings.Contains(after, "<button class=\"yes\""), "%s", after)
		if does != approving {
			continue
		}
		w = post(a.owned, a.link(), withdrawing, formsOf(after)[withdrawing], cookie)
		assert.Equal(t, w.Code, http.StatusSeeOther, "withdrawn")
		assert.Equal(t, a.stateNow(), consent.Withdrawn, "withdrawn")
	}
}

// An approval that was used is told as that.
func TestAUsedApprovalIsTold(t *testing.T) {
	a := newAsking(t)
	cookie := a.pair()
	forms := formsOf(send(a.owned, http.MethodGet, a.link(), "", "Cookie", cookie).Body.String())
	post(a.owned, a.link(), approving, forms[approving], cookie)
	_, err := a.store.Redeem(a.question.Vault, a.question.Digest, a.question.Call, asker)
	require.NoError(t, err)
	body := send(a.owned, http.MethodGet, a.link(), "", "Cookie", cookie).Body.String()
	assert.That(t, strings.Contains(body, "Approved, and used"), "%s", body)
}

// Whoever has the link sees what is asked, without a text, a code or a form.
func TestALinkShowsAndGivesNoRight(t *testing.T) {
	a := newAsking(t)
	a.pair()
	paired := a.storedDigest()
	for name, headers := range map[string][]string{
		"a program":              nil,
		"a browser":              {"Sec-Fetch-Site", "none"},
		"a made-up cookie":       {"Cookie", ownerCookie + "=" + random()},
		"the digest of a cookie": {"Cookie", ownerCookie + "=" + paired},
	} {
		w := send(a.owned, http.MethodGet, a.link(), "", headers...)
		body := html.UnescapeString(w.Body.String())
		assert.Equal(t, w.Code, http.StatusOK, "%s", name)
		assert.Contains(t, body, `Delete "Plan.md"`, "%s", name)
		assert.Contains(t, body, "vaultwicket ui", "%s", name)
		for _, hidden := range []string{"the secret line", a.question.Code, "<form"} {
			assert.That(t, !strings.Contains(body, hidden), "%s gets %q: %s", name, hidden, body)
		}
	}
}

// After a link of another site a browser keeps its cookie back: the page is loaded again by itself, once.
func TestALinkOfAnotherSiteIsLoadedAgain(t *testing.T) {
	a := newAsking(t)
	first := send(a.owned, http.MethodGet, a.link(), "", "Sec-Fetch-Site", "cross-site").Body.String()
	assert.Contains(t, first, `http-equiv="refresh"`)
	assert.That(t, !strings.Contains(first, "Plan"), "%s", first)
	second := send(a.owned, http.MethodGet, a.link(), "", "Sec-Fetch-Site", "same-origin").Body.String()
	assert.That(t, !strings.Contains(second, `http-equiv="refresh"`), "%s", second)
	assert.Contains(t, second, "Plan")
}

// Attacks on a question behind a link: none of them decides it.
func TestAttacksOnALink(t *testing.T) {
	type attempt struct {
		*asking
		cookie string
		forms  map[string]string
	}
	attacks := map[string]func(a *attempt) *httptest.ResponseRecorder{
		"without a cookie": func(a *attempt) *httptest.ResponseRecorder {
			return post(a.owned, a.link(), approving, a.forms[approving], "")
		},
		"with a cookie of the agent's own": func(a *attempt) *httptest.ResponseRecorder {
			return post(a.owned, a.link(), approving, a.forms[approving], ownerCookie+"="+random())
		},
		"with the digest that the file has": func(a *attempt) *httptest.ResponseRecorder {
			return post(a.owned, a.link(), approving, a.forms[approving], ownerCookie+"="+a.storedDigest())
		},
		"with the token of another browser": func(a *attempt) *httptest.ResponseRecorder {
			return post(a.owned, a.link(), approving, a.forms[approving], a.pair())
		},
		"with the token of another act": func(a *attempt) *httptest.ResponseRecorder {
			return post(a.owned, a.link(), approving, a.forms[denying], a.cookie)
		},
		"without a token": func(a *attempt) *httptest.ResponseRecorder {
			return post(a.owned, a.link(), approving, "", a.cookie)
		},
		"with the token of another process": func(a *attempt) *httptest.ResponseRecorder {
			return post(a.page, a.link(), approving, a.forms[approving], a.cookie)
		},
		"with the token of another question": func(a *attempt) *httptest.ResponseRecorder {
			other := a.ask(asker, func(q *consent.StoredQuestion) { q.Digest[0]++ })
			return post(a.owned, consent.LinkPath+other.Ref, approving, a.forms[approving], a.cookie)
		},
		"two tokens": func(a *attempt) *httptest.ResponseRecorder {
			return post(a.owned, a.link(), approving, a.forms[approving]+"&token="+a.forms[approving], a.cookie)
		},
		"from another site": func(a *attempt) *httptest.ResponseRecorder {
			return post(a.owned, a.link(), approving, a.forms[approving], a.cookie, "Sec-Fetch-Site", "cross-site", "Origin", "https://example.org")
		},
		"from another port": func(a *attempt) *httptest.ResponseRecorder {
			return post(a.owned, a.link(), approving, a.forms[approving], a.cookie, "Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:3000")
		},
		"from a hidden origin": func(a *attempt) *httptest.ResponseRecorder {
			return post(a.owned, a.link(), approving, a.forms[approving], a.cookie, "Sec-Fetch-Site", "none", "Origin", "null")
		},
		"in a frame": func(a *attempt) *httptest.ResponseRecorder {
			return post(a.owned, a.link(), approving, a.forms[approving], a.cookie, "Sec-Fetch-Dest", "iframe")
		},
		"under a name that is rebound": func(a *attempt) *httptest.ResponseRecorder {
			return post(a.owned, a.link(), approving, a.forms[approving], a.cookie, "Host", "evil.example:4567", "Origin", "http://evil.example:4567")
		},
		"under an address that is rebound": func(a *attempt) *httptest.ResponseRecorder {
			return post(a.owned, a.link(), approving, a.forms[approving], a.cookie, "Host", "192.0.2.1:4567", "Origin", "http://192.0.2.1:4567")
		},
		"as JSON": func(a *attempt) *httptest.ResponseRecorder {
			return post(a.owned, a.link(), approving, a.forms[approving], a.cookie, "Content-Type", "application/json")
		},
		"as text": func(a *attempt) *httptest.ResponseRecorder {
			return post(a.owned, a.link(), approving, a.forms[approving], a.cookie, "Content-Type", "text/plain")
		},
		"in the query": func(a *attempt) *httptest.ResponseRecorder {
			return post(a.owned, a.link()+"?does=approve&token="+url.QueryEscape(a.forms[approving]), "", "", a.cookie)
		},
		"with GET": func(a *attempt) *httptest.ResponseRecorder {
			return send(a.owned, http.MethodGet, a.link()+"?does=approve&token="+url.QueryEscape(a.forms[approving]), "", "Cookie", a.cookie)
		},
		"with another method": func(a *attempt) *httptest.ResponseRecorder {
			return send(a.owned, http.MethodPut, a.link(), "", "Cookie", a.cookie)
		},
		"by its code": func(a *attempt) *httptest.ResponseRecorder {
			return post(a.owned, consent.LinkPath+a.question.Code, approving, a.forms[approving], a.cookie)
		},
		"by its id": func(a *attempt) *httptest.ResponseRecorder {
			return post(a.owned, consent.LinkPath+a.question.ID(), approving, a.forms[approving], a.cookie)
		},
		"with nothing for a name": func(a *attempt) *httptest.ResponseRecorder {
			return post(a.owned, consent.LinkPath, approving, a.forms[approving], a.cookie)
		},
		"with a name that goes on": func(a *attempt) *httptest.ResponseRecorder {
			return post(a.owned, a.link()+"/x", approving, a.forms[approving], a.cookie)
		},
		"through the path of the page": func(a *attempt) *httptest.ResponseRecorder {
			return post(a.page, a.page.base+"approvals/approve", approving, a.forms[approving], a.cookie)
		},
		"after all browsers were forgotten": func(a *attempt) *httptest.ResponseRecorder {
			require.NoError(a.t, a.owned.links.paired.Forget())
			return post(a.owned, a.link(), approving, a.forms[approving], a.cookie)
		},
		"after the pairing ended": func(a *attempt) *httptest.ResponseRecorder {
			a.now = a.now.Add(consent.PairedLife)
			return post(a.owned, a.link(), approving, a.forms[approving], a.cookie)
		},
		"after its time": func(a *attempt) *httptest.ResponseRecorder {
			a.now = a.now.Add(consent.Life)
			return post(a.owned, a.link(), approving, a.forms[approving], a.cookie)
		},
		"after it was denied": func(a *attempt) *httptest.ResponseRecorder {
			require.Value(a.store.Deny(a.question.Code))(a.t)
			return post(a.owned, a.link(), approving, a.forms[approving], a.cookie)
		},
		"after it was withdrawn by the agent": func(a *attempt) *httptest.ResponseRecorder {
			require.NoError(a.t, a.store.Withdraw(a.question))
			return post(a.owned, a.link(), approving, a.forms[approving], a.cookie)
		},
		"after the owner withdrew the approval": func(a *attempt) *httptest.ResponseRecorder {
			require.Value(a.store.Approve(a.question.Code))(a.t)
			require.Value(a.store.TakeBack(a.question.Code))(a.t)
			return post(a.owned, a.link(), approving, a.forms[approving], a.cookie)
		},
		"with the file of browsers damaged": func(a *attempt) *httptest.ResponseRecorder {
			require.NoError(a.t, os.WriteFile(filepath.Join(a.state, browsersFile), []byte(`[{"digest":""}`), 0o600))
			return post(a.owned, a.link(), approving, a.forms[approving], a.cookie)
		},
		"with the link of the owner's page": func(a *attempt) *httptest.ResponseRecorder {
			return send(a.owned, http.MethodGet, a.page.Open(), "") // no code of this process
		},
	}
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			a := &attempt{asking: newAsking(t)}
			a.cookie = a.pair()
			a.forms = formsOf(send(a.owned, http.MethodGet, a.link(), "", "Cookie", a.cookie).Body.String())
			require.That(t, a.forms[approving] != "", "%v", a.forms)
			require.That(t, a.forms[denying] != "", "%v", a.forms)
			w := attack(a)
			assert.That(t, a.stateNow() != consent.Approved, "%d: it is approved", w.Code)
			list, _, _ := a.store.List()
			for _, q := range list {
				assert.That(t, q.State != consent.Approved, "%+v is approved", q.Ref)
			}
			assert.That(t, len(w.Result().Cookies()) == 0, "%v", w.Result().Cookies())
		})
	}
}

// storedDigest returns what the state folder has of the cookie of the browser that was paired first.
func (a *asking) storedDigest() string {
	a.t.Helper()
	text := require.Value(os.ReadFile(filepath.Join(a.state, browsersFile)))(a.t)
	return regexp.MustCompile(`[0-9a-f]{64}`).FindString(string(text))
}

// A server shows the questions of its own session and no others, and nothing of the owner's page.
func TestTheOwnPageServesItsOwnQuestionsAlone(t *testing.T) {
	a := newAsking(t)
	cookie := a.pair()
	others := a.ask("8-other", func(q *consent.StoredQuestion) { q.Lines[0].Text = `Delete "Other.md"` })
	body := send(a.owned, http.MethodGet, consent.LinkPath+others.Ref, "", "Cookie", cookie)
	assert.Equal(t, body.Code, http.StatusNotFound)
	assert.That(t, !strings.Contains(body.Body.String(), "Other"), "%d %s", body.Code, body.Body)
	w := post(a.owned, consent.LinkPath+others.Ref, approving, a.owned.links.token(digest{}, others.Ref, approving), cookie)
	assert.Equal(t, w.Code, http.StatusForbidden, "another session's")
	for _, path := range []string{"/", "/approvals", a.owned.base, a.owned.base + "approvals", a.page.base, "/assets/page.js", consent.LinkPath + "page.js"} {
		w := send(a.owned, http.MethodGet, path, "", "Cookie", cookie)
		assert.That(t, w.Code == http.StatusForbidden || w.Code == http.StatusNotFound, "%s answers %d", path, w.Code)
	}
	style := send(a.owned, http.MethodGet, consent.LinkPath+pageStyle, "")
	assert.Equal(t, style.Code, http.StatusOK)
	assert.That(t, strings.HasPrefix(style.Header().Get("Content-Type"), "text/css"), "%d", style.Code)
}

// A question for the terminal alone cannot be approved behind a link, and one that is typed only with its words.
func TestALinkObeysHowAQuestionIsApproved(t *testing.T) {
	a := newAsking(t, func(q *consent.StoredQuestion) { q.Only = consent.Terminal })
	cookie := a.pair()
	forms := formsOf(send(a.owned, http.MethodGet, a.link(), "", "Cookie", cookie).Body.String())
	sum, _ := a.owned.links.ownerOf(&http.Request{Header: http.Header{"Cookie": {cookie}}})
	assert.Equal(t, forms[approving], "", "a form for what is approved in a terminal")
	w := post(a.owned, a.link(), approving, a.owned.links.token(sum, a.question.Ref, approving), cookie)
	assert.Equal(t, w.Code, http.StatusUnprocessableEntity)
	assert.Equal(t, a.stateNow(), consent.Pending)
	a = newAsking(t, func(q *consent.StoredQuestion) { q.Typed = "delete 1001 notes" })
	cookie = a.pair()
	forms = formsOf(send(a.owned, http.MethodGet, a.link(), "", "Cookie", cookie).Body.String())
	w = post(a.owned, a.link(), approving, forms[approving], cookie)
	assert.Equal(t, w.Code, http.StatusUnprocessableEntity, "without the words")
	assert.Equal(t, a.stateNow(), consent.Pending, "without the words")
	w = post(a.owned, a.link(), approving, forms[approving]+"&typed=delete+1001+notes", cookie)
	assert.Equal(t, w.Code, http.StatusForbidden, "the token is changed")
	form := url.Values{"does": {approving}, "token": {forms[approving]}, "typed": {"delete 1001 notes"}}
	w = send(a.owned, http.MethodPost, a.link(), form.Encode(), "Content-Type", "application/x-www-form-urlencoded",
		"Origin", "http://127.0.0.1:4567", "Sec-Fetch-Site", "same-origin", "Cookie", cookie)
	assert.Equal(t, w.Code, http.StatusSeeOther, "with the words")
	assert.Equal(t, a.stateNow(), consent.Approved, "with the words")
}

// A long question is read in parts, and approved where its end is shown.
func TestALongQuestionIsApprovedAtItsEnd(t *testing.T) {
	a := newAsking(t, func(q *consent.StoredQuestion) {
		for i := range 2 * partRows {
			q.Lines = append(q.Lines, consent.Line{Kind: consent.Removed, Text: fmt.Sprint("line ", i), Old: i + 2})
		}
	})
	cookie := a.pair()
	for part, want := range map[string]bool{"": false, "?part=1": false, "?part=2": false, "?part=3": true, "?part=99": true} {
		body := send(a.owned, http.MethodGet, a.link()+part, "", "Cookie", cookie).Body.String()
		forms := formsOf(body)
		require.Equal(t, forms[approving] != "", want, "part %q", part)
		assert.That(t, forms[denying] != "", "part %q: %v", part, forms)
		assert.That(t, strings.Contains(body, `Delete &#34;Plan.md&#34;`), "part %q does not say what it is about", part)
	}
}

// The oldest of very many browsers is not paired any more.
func TestTheOldestBrowserIsForgotten(t *testing.T) {
	a := newAsking(t)
	first := a.pair()
	for range consent.MaxPaired {
		a.pair()
	}
	body := send(a.owned, http.MethodGet, a.link(), "", "Cookie", first).Body.String()
	assert.That(t, strings.Contains(body, "This browser is not paired"), "%s", body)
	assert.Equal(t, a.owned.links.paired.Count(), consent.MaxPaired, "paired browsers")
}

// The page of a server opens for a question, and closes after the last one; the next question opens another one.
func TestTheOwnPageIsOpenWhileAQuestionWaits(t *testing.T) {
	a := newAsking(t)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	o := NewOwnPage(a.state, asker, slog.New(slog.DiscardHandler))
	o.linger = 0
	address := o.Open(ctx)
	require.That(t, strings.HasPrefix(address, "http://127.0.0.1:"), "%q", address)
	assert.Equal(t, o.Open(ctx), address, "a second question")
	answer := require.Value(http.Get(address + a.link()))(t)
	body := require.Value(io.ReadAll(answer.Body))(t)
	require.NoError(t, answer.Body.Close())
	assert.Equal(t, answer.StatusCode, http.StatusOK)
	assert.Contains(t, string(body), "Plan.md")
	require.Value(a.store.Deny(a.question.Code))(t)
	o.Wait() // without its context: no question waits any more
	_, err := http.Get(address + a.link())
	assert.That(t, err != nil, "the page is open without a question")
	next := o.Open(ctx)
	assert.That(t, next != "", "the next page is at %q", next)
	assert.That(t, next != address, "the next page is at %q", next)
	end()
	o.Wait()
}

// The page that pairs a browser has no other view: it ends when its link was opened.
func TestAPairingPageOnlyPairs(t *testing.T) {
	a := newAsking(t)
	p := NewPairing(a.state, slog.New(slog.DiscardHandler))
	assert.That(t, a.page.links.paired.Count() == 0, "a browser is paired before")
	opened := get(p.guard, p.Link())
	var cookies []string
	for _, c := range opened.Result().Cookies() {
		cookies = append(cookies, c.Name+"="+c.Value)
	}
	require.Equal(t, len(cookies), 2)
	require.Equal(t, a.page.links.paired.Count(), 1)
	select {
	case <-p.Paired():
		t.Error("it has ended before the browser shows anything")
	default:
	}
	for _, path := range []string{"", "approvals", "settings"} {
		body := send(p.guard, http.MethodGet, p.guard.base+path, "", "Cookie", strings.Join(cookies, "; ")).Body.String()
		assert.Contains(t, body, "This browser is paired", "%q", path)
		assert.That(t, !strings.Contains(body, "<form"), "%q: %s", path, body)
	}
	<-p.Paired()
	body := send(a.owned, http.MethodGet, a.link(), "", "Cookie", cookies[1]).Body.String()
	assert.That(t, strings.Contains(body, "the secret line"), "%s", body)
}
