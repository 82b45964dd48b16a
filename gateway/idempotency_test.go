package gateway

import (
	"crypto/sha256"
	"errors"
	"path/filepath"
	"testing"

	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/state/journal"
	"vaultwicket/tests/require"
)

func TestAKeyIsCarriedOutOnce(t *testing.T) {
	kept := keyJournal(t)
	call, other := keyDigest(sha256.Sum256([]byte("call"))), keyDigest(sha256.Sum256([]byte("other")))
	if got := recallKey(kept, "k", call); got != nil {
		t.Fatalf("recalled %q before the call", got)
	}
	claim, answer, err := takeKey(kept, "me", "k", call)
	if err != nil || answer != nil || claim.ID == "" {
		t.Fatalf("got the claim %q, %q, %v", claim.ID, answer, err)
	}
	expectKeyCode(t, kept, "k", call, failure.CodeUnknown) // it is under way
	require.NoError(t, claim.Settle(keyRemember, "done"))
	if _, answer, err := takeKey(kept, "me", "k", call); string(answer) != `"done"` || err != nil {
		t.Errorf("the second time it is %q, %v", answer, err)
	}
	if got := recallKey(kept, "k", call); string(got) != `"done"` {
		t.Errorf("recalled %q", got)
	}
	expectKeyCode(t, kept, "k", other, failure.CodeBadRequest)
	if got := recallKey(kept, "k", other); got != nil {
		t.Errorf("recalled %q for another call", got)
	}
}

// What was not carried out may be tried again, and what is unknown may not.
func TestWhatBecomesOfAKey(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cause *failure.Error
		want  keyDisposition
		again string // the code of the next call, "" where it may be carried out
	}{
		{"nothing ran", &failure.Error{Code: failure.CodeRateLimited}, keyForget, ""},
		{"not found", &failure.Error{Code: failure.CodeNotFound}, keyForget, ""},
		{"cancelled", &failure.Error{Code: failure.CodeCancelled}, keyForget, ""},
		{"unknown", &failure.Error{Code: failure.CodeUnknown}, keyStaysClaimed, failure.CodeUnknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			kept := keyJournal(t)
			call := keyDigest(sha256.Sum256([]byte("call")))
			claim, _, err := takeKey(kept, "me", "k", call)
			require.NoError(t, err)
			got := dispositionOf(tt.cause, false)
			if got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			require.NoError(t, claim.Settle(got, "answer"))
			expectKeyCode(t, kept, "k", call, tt.again)
		})
	}
	for _, cause := range []*failure.Error{nil, {Code: failure.CodeNotFound}} {
		if got := dispositionOf(cause, true); got != keyRemember {
			t.Errorf("%v: got %v", cause, got)
		}
	}
}

func keyJournal(t *testing.T) *journal.Journal {
	t.Helper()
	return journal.OpenAs(filepath.Join(t.TempDir(), "journal"), "vault", "")
}

func expectKeyCode(t *testing.T, kept *journal.Journal, key string, digest keyDigest, want string) {
	t.Helper()
	_, _, err := takeKey(kept, "me", key, digest)
	var cause *failure.RequestError
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && (!errors.As(err, &cause) || cause.Code() != want):
		t.Errorf("got %v, want %s", err, want)
	}
}
