package page

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// From a call to the decision: the owner gets a message without anything of the note, its link
// leads a paired browser to the question, and any other to what is asked.
func TestAMessageLeadsToTheQuestion(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	told := make(chan string, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, got *http.Request) {
		body, _ := io.ReadAll(got.Body)
		told <- string(body)
	}))
	t.Cleanup(hook.Close)
	secret := filepath.Join(r.Home, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("0123456789abcdef"), 0o600))
	r.Tables += fmt.Sprintf("[notify]\nwebhook = %q\nwebhook-secret-file = %q\n", hook.URL, secret)
	v := open(r)
	client := r.Stdio(false, "")
	call := harness.Calling("delete", "path=Bread.md")
	begun := time.Now()
	require.Equal(t, harness.CodeOf(client.Do(call)), "unconfirmed")
	message := <-told
	t.Logf("from the call to the message: %v", time.Since(begun))
	link := regexp.MustCompile(`http://127\.0\.0\.1:\d+` + consent.LinkPath + `[A-Z2-7]{26}`).FindString(message)
	require.That(t, link != "", "the message is %s", message)
	require.Contains(t, message, " asks to delete 1 note in Notes", "the message is %s", message)
	view := v.See("approvals")
	code := regexp.MustCompile(`code ([A-Z0-9]{4}-[A-Z0-9]{4})`).FindStringSubmatch(view)[1]
	lacks(t, message, "Bread", "flour", code, strings.ReplaceAll(code, "-", ""), v.Base)
	name := link[strings.LastIndex(link, "/")+1:]
	// Whoever has the link sees what is asked, and no text, code or path of the page. It decides nothing.
	unsigned := &harness.Page{T: t, Base: v.Base, Client: &http.Client{}}
	for address, want := range map[string]int{link: 200, link + "x": 404, strings.TrimSuffix(link, name): 404, strings.TrimSuffix(link, name) + code: 404} {
		status, body := unsigned.Fetch(http.MethodGet, address, nil)
		assert.Equal(t, status, want, "%s: %d %s", address, status, body)
		assert.Equal(t, strings.Contains(body, "Bread.md"), want == 200, "%s: %d %s", address, status, body)
		lacks(t, body, "flour", code, strings.Trim(v.Base[strings.Index(v.Base, "127"):], "/"))
		if status, _ := unsigned.Fetch(http.MethodPost, address, map[string][]string{"code": {code}}); status != http.StatusForbidden {
			t.Errorf("a form is sent to %s: %d", address, status)
		}
	}
	// The browser that opened the page was paired by that.
	status, body := v.Fetch(http.MethodGet, link, nil)
	assert.Equal(t, status, http.StatusOK, "a paired browser: %d %s", status, body)
	assert.Contains(t, body, "flour", "a paired browser: %d %s", status, body)
	if got := client.Do(call); got.Error == nil || got.Error.Code != "unconfirmed" || r.Read("Bread.md") == "" || len(told) != 0 {
		t.Errorf("links approve nothing, and a question is told of once: %+v, %d messages", got, len(told))
	}
	_, body = v.send(view, "approvals/approve", nil)
	has(t, body, "for one call, on the notes as they were shown")
	got := client.Do(call)
	assert.That(t, got.OK, "the approved call: %+v", got)
	pages, err := ownerfiles.Servers(consent.Pages(stateOf(r)))
	require.Equal(t, err, nil, "%v, %v are open", pages, err)
	assert.Equal(t, len(pages), 1, "%v, %v are open", pages, err)
}

// A server opens a page for its own question, without "vaultwicket ui": a browser that was paired before decides there,
// and the call of the client goes on.
func TestAServerShowsItsQuestions(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	owner := &visitor{pairedWith(r)}
	client := r.Stdio(false, "")
	call := harness.Calling("delete", "path=Bread.md")
	got := client.Do(call)
	require.Equal(t, harness.CodeOf(got), "unconfirmed", "%+v", got)
	require.That(t, got.Error.Approval != nil, "%+v", got)
	link := got.Error.Approval.Link
	require.That(t, regexp.MustCompile(`^http://127\.0\.0\.1:\d+`+consent.LinkPath+`[A-Z2-7]{26}$`).MatchString(link), "the link is %q", link)
	unpaired := &harness.Page{T: t, Client: &http.Client{}}
	_, body := unpaired.Fetch(http.MethodGet, link, nil)
	has(t, body, `Delete "Bread.md"`, "This browser is not paired")
	lacks(t, body, "flour", "<form")
	_, body = owner.Fetch(http.MethodGet, link, nil)
	has(t, body, "flour", "Approve")
	owner.answer(body, link, "approve")
	require.Equal(t, harness.CodeOf(client.Do(harness.Calling("read", "path=Work/Plan.md"))), "")
	done := client.Do(call)
	assert.That(t, done.OK, "the approved call: %+v", done)
	assert.Equal(t, r.Read("Bread.md"), "", "the approved call: %+v", done)
	_, body = owner.Fetch(http.MethodGet, link, nil)
	has(t, body, "Approved, and used")
	audited := r.Must("audit", "list", "--json")
	assert.That(t, strings.Contains(audited, `"by":"page"`), "%s", audited)
}
