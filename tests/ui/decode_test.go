package ui

import (
	"encoding/json"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// decode reads what the program printed.
func (w *world) decode(text string, into any) {
	w.t.Helper()
	err := json.Unmarshal([]byte(text), into)
	require.That(w.t, err == nil, "%v in %s", err, text)
}
