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
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/rig"
)

// From a call to the decision: the owner gets a message without anything of the note, its link
// leads a browser that is signed in to the question, and no other.
func TestAMessageLeadsToTheQuestion(t *testing.T) {
	t.Parallel()
	r := newRig(t)
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
	call := rig.Calling("delete", "path=Bread.md")
	begun := time.Now()
	require.Equal(t, rig.CodeOf(client.Do(call)), "unconfirmed")
	message := <-told
	t.Logf("from the call to the message: %v", time.Since(begun))
	link := regexp.MustCompile(`http://127\.0\.0\.1:\d+` + consent.LinkPath + `[A-Z2-7]{26}`).FindString(message)
	require.That(t, link != "" && strings.Contains(message, " asks to delete 1 note in Notes"), "the message is %s", message)
	view := v.See("approvals")
	code := regexp.MustCompile(`code ([A-Z0-9]{4}-[A-Z0-9]{4})`).FindStringSubmatch(view)[1]
	lacks(t, message, "Bread", "flour", code, strings.ReplaceAll(code, "-", ""), v.Base)
	name := link[strings.LastIndex(link, "/")+1:]
	// Nothing of the question, its code or the path of the page is told to the one who has the link.
	unsigned := &rig.Page{T: t, Base: v.Base, Client: &http.Client{}}
	var first string
	for _, address := range []string{link, link + "x", strings.TrimSuffix(link, name), strings.TrimSuffix(link, name) + code} {
		status, body := unsigned.Fetch(http.MethodGet, address, nil)
		if first == "" {
			first = body
		}
		assert.That(t, status == http.StatusOK && body == first, "%s: %d %s", address, status, body)
		if status, _ := unsigned.Fetch(http.MethodPost, address, map[string][]string{"code": {code}}); status != http.StatusForbidden {
			t.Errorf("a form is sent to %s: %d", address, status)
		}
	}
	lacks(t, first, "Bread", code, strings.Trim(v.Base[strings.Index(v.Base, "127"):], "/"))
	status, _ := unsigned.Fetch(http.MethodGet, v.Base+"question/"+name, nil)
	assert.That(t, status == http.StatusForbidden, "without a cookie: %d", status)
	// A browser that is signed in gets to the question, and with a forged name to all of them.
	v.Client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for path, want := range map[string]string{"question/" + name: "approvals#q-" + code, "question/" + name + "x": "approvals", "question/": "approvals", "question/" + code: "approvals"} {
		request := require.Value(http.NewRequestWithContext(t.Context(), http.MethodGet, v.Base+path, nil))(t)
		answer := require.Value(v.Client.Do(request))(t)
		answer.Body.Close()
		got := answer.Header.Get("Location")
		assert.That(t, strings.HasSuffix(v.Base+want, got) && strings.HasSuffix(got, "/"+want), "%s leads to %q, want %s", path, got, want)
	}
	if got := client.Do(call); got.Error == nil || got.Error.Code != "unconfirmed" || r.Read("Bread.md") == "" || len(told) != 0 {
		t.Errorf("links approve nothing, and a question is told of once: %+v, %d messages", got, len(told))
	}
	_, body := v.send(view, "approvals/approve", nil)
	assert.That(t, body == "", "%s", body)
	got := client.Do(call)
	assert.That(t, got.OK, "the approved call: %+v", got)
	pages, err := ownerfiles.Servers(consent.Pages(stateOf(r)))
	assert.That(t, err == nil && len(pages) == 1, "%v, %v are open", pages, err)
}
