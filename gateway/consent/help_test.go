package consent

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// clock is a clock that stops until it is set.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 8, 1, 9, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func newStore(t testing.TB) (*Store, *clock) {
	t.Helper()
	c := newClock()
	return OpenStore(filepath.Join(t.TempDir(), "state", "approvals"), c.now), c
}

// about makes a question about the n-th call.
func about(n byte) StoredQuestion {
	return StoredQuestion{
		Session: "session-1", Client: "an agent", Vault: "Notes", Command: "delete", Effect: "destroys",
		Text: "delete <Inbox/Plan.md>?\n\t\"milk & eggs\"\n", Digest: Digest{n, 1},
	}
}

func ask(t testing.TB, d *Store, q StoredQuestion) StoredQuestion {
	t.Helper()
	return require.Value(d.Ask(q))(t)
}

func redeem(d *Store, q StoredQuestion) (StoredQuestion, error) {
	return d.Redeem(q.Vault, q.Digest, q.Call, q.Session)
}

// wantUngranted fails unless redeeming says this.
func wantUngranted(t testing.TB, d *Store, q StoredQuestion, want State) {
	t.Helper()
	grant, err := redeem(d, q)
	var ungranted *Ungranted
	if grant.State == Approved || !errors.As(err, &ungranted) || ungranted.State != want {
		t.Errorf("redeemed %v, %v, want %v", grant.State == Approved, err, want)
	}
}

// fileOf returns the path of the file of a question, and what is in it.
func fileOf(t testing.TB, d *Store, q StoredQuestion) (path string, data []byte) {
	t.Helper()
	path = d.path(q.Code)
	data = require.Value(os.ReadFile(path))(t)
	return path, data
}

func listed(t testing.TB, d *Store) (questions []StoredQuestion, damaged []*Damaged) {
	t.Helper()
	questions, damaged, err := d.List()
	require.NoError(t, err)
	return questions, damaged
}
