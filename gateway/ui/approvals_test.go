package ui

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/state/private"
)

// An answer that no caller can use is not asked for.
func TestQuestionsOfEndedSessions(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	v := openPage(t, state)
	end, err := private.RegisterServer(private.ServersFolder(state), private.Server{Session: "7-alive", Transport: "http"})
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]string{}
	for i, caller := range []string{"7-alive", "8-gone", "session-1", "token-1", "terminal"} {
		q, err := consent.OpenStore(consent.Folder(state), nil).Ask(consent.StoredQuestion{Session: caller, Vault: "v", Command: "delete", Text: "x", Digest: consent.Digest{byte(i + 1)}})
		if err != nil {
			t.Fatal(err)
		}
		codes[caller] = q.Code
	}
	expect := func(ended ...string) {
		t.Helper()
		view := v.see("approvals")
		for caller, code := range codes {
			_, article, _ := strings.Cut(view, `id="q-`+code+`"`)
			article, _, _ = strings.Cut(article, "</article>")
			over := strings.Contains(strings.Join(ended, " "), caller)
			if strings.Contains(article, "session ended") != over || strings.Contains(article, ">Approve<") == over {
				t.Errorf("%s: %s", caller, article)
			}
		}
	}
	expect("8-gone")
	if view := v.see(""); !strings.Contains(view, "4 questions wait for you") || strings.Contains(view, codes["8-gone"]) {
		t.Errorf("the overview shows %s", view)
	}
	late := v.send("approvals", "approvals/approve", url.Values{"code": {codes["8-gone"]}})
	if _, _, body := v.do(http.MethodGet, late, nil); !strings.Contains(body, "the session that asked has ended") {
		t.Errorf("approved: %s", body)
	}
	end()
	expect("8-gone", "7-alive", "session-1")
}
