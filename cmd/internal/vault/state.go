package vault

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"vaultwicket/cmd/internal/vault/command"
)

// stateOf names the state from which a call is answered, "" if the answer depends on more
// than the index and the day, or if that is not known without looking at every file. The same
// call of the same state has the same answer. No two processes have a state in common.
func stateOf(v *command.Vault, line command.Line) string {
	row, err := lookUp(line.Command)
	if err != nil || !row.OfIndex && !row.OfFiles || !v.Host.Knowledge.Resident || slices.ContainsFunc(line.Args, isOfTheMoment) {
		return ""
	}
	state := v.Host.Knowledge.State
	if row.OfFiles {
		state = v.Host.Knowledge.StateIfCurrent
	}
	number, ok := state(v.View())
	if !ok {
		return ""
	}
	day := v.Clock().Add(-v.DayStart).Format(time.DateOnly)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s", processName(), number, day))
	return hex.EncodeToString(sum[:8])
}

// isOfTheMoment reports whether an argument is about the active note, or about today's,
// which the settings of the vault name.
func isOfTheMoment(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return name == "active" || name == "daily"
}

var processName = sync.OnceValue(rand.Text)
