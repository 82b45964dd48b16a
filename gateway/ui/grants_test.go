package ui

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

var offeredTerms = consent.GrantTerms{
	Agent: "cursor", Vault: "v", Identity: "folder:1", Commands: []string{"append"}, Folders: []string{"Projects"}, Notes: 20, Changes: 50,
}

// A question that offers a grant is approved with it, by a button of its own; the grant is in the view of agents, which
// can end it.
func TestAGrantIsGivenAndEndedOnThePage(t *testing.T) {
	v := openPage(t, filepath.Join(t.TempDir(), "state"))
	offer := require.Value(json.Marshal(offeredTerms))(t)
	store := consent.OpenStore(consent.Folder(v.page.State), nil)
	ask := func(n byte, offer string) consent.StoredQuestion {
		return require.Value(store.Ask(consent.StoredQuestion{Session: "cursor/terminal", Vault: "v", Command: "append",
			Effect: "write", Text: "x", Digest: consent.Digest{n}, Offer: offer}))(t)
	}
	q := ask(1, string(offer))
	assert.Contains(t, v.see("approvals"), `Approve, and allow append in &#34;Projects&#34; for an hour, up to 20 notes`)
	_, _, body := v.do(http.MethodGet, v.send("approvals", "approvals/allow", url.Values{"code": {q.Code}}), nil)
	assert.Contains(t, body, "cursor may run append on up to 20 notes below")
	list, _, err := consent.OpenGrants(v.page.State, nil).List()
	require.NoError(t, err)
	require.Equal(t, len(list), 1)
	require.Equal(t, list[0].Expires.Sub(list[0].Made), time.Hour)
	questions, _, err := store.List()
	require.Equal(t, err, nil, "the call is not approved")
	assert.Equal(t, questions[0].State, consent.Approved, "the call is not approved")
	assert.Contains(t, v.see("agents"), "Left: 50 of 50 changes, 20 of 20 notes")
	_, _, body = v.do(http.MethodGet, v.send("agents", "agents/end-grant", url.Values{"grant": {list[0].ID}}), nil)
	assert.Contains(t, body, "The grant of cursor has ended.")
	assert.That(t, !strings.Contains(body, "Left: "), "%s", body)

	for name, offer := range map[string]string{"none": "", "another text": "{}", "terms that are none": `{"agent":"cursor","commands":["eval"]}`} {
		q := ask(byte(len(offer))+2, offer)
		shown := v.see("approvals")
		assert.That(t, !strings.Contains(shown, "allow-"+q.Code), "%s is offered", name)
		list, _, err := consent.OpenGrants(v.page.State, nil).List()
		require.Equal(t, err, nil, "%s", name)
		assert.Equal(t, len(list), 1, "%s", name)
	}
}
