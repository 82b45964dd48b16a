package consent

import (
	"testing"
	"time"

	"vaultwicket/gateway/state/audit"
	"vaultwicket/tests/require"
)

func TestADecisionIsInTheAuditLog(t *testing.T) {
	for _, approve := range []bool{true, false} {
		state := t.TempDir()
		store := OpenStore(Folder(state), time.Now)
		q, err := store.Ask(StoredQuestion{Session: "s1", Client: "agent", Vault: "Notes", Command: "delete", Text: "Allow?", Digest: Digest{1}})
		require.NoError(t, err)
		if _, err := Decide(state, Answer{Code: q.Code, Approve: approve, By: "page", Session: "p1"}); err != nil {
			t.Fatal(err)
		}
		want := audit.Line{Kind: "approval", Decision: "deny", By: "page", Session: "p1", Client: "agent", Vault: "Notes", Command: "delete"}
		state2 := Denied
		if approve {
			want.Decision, state2 = "approve", Approved
		}
		lines := 0
		for line, err := range audit.Lines(state, audit.Filter{}) {
			if err != nil || line.Kind != want.Kind || line.Decision != want.Decision || line.By != want.By || line.Client != want.Client || line.Command != want.Command || line.Vault != want.Vault || line.Session != want.Session {
				t.Errorf("line %+v, %v", line, err)
			}
			lines++
		}
		list, _, err := store.List()
		if err != nil || len(list) != 1 || list[0].State != state2 || list[0].By != "page" || lines != 1 {
			t.Errorf("%+v, %v, %d lines", list, err, lines)
		}
		if _, err := Decide(state, Answer{Code: q.Code, Approve: true, By: "page"}); err == nil {
			t.Error("a question is answered twice")
		}
	}
}
