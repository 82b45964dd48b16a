package command

import (
	"time"

	"vaultwicket/cmd/internal/vault/session"
	"vaultwicket/gateway/state/journal"
)

// sweepAge is how old a temporary file has to be to count as left behind. No write
// of this program is under way when it is looked for; one of another machine on a
// shared folder may be, and ends within seconds.
const sweepAge = 10 * time.Minute

// sweep removes the temporary files, each a whole note, that a writer left in the
// vault when it was killed. The caller holds the lock of the journal and is about
// to write: a process that only reads removes nothing. The vault is searched if
// the journal tells of such a writer, and once by each worker, for those of which
// no journal tells.
func sweep(v *session.Vault, j *journal.Journal) {
	since, killed := j.Interrupted()
	due := killed && v.Host.Now().Sub(since) >= sweepAge
	first := v.Host.Knowledge.Resident && !v.Host.Swept.Swap(true)
	if !due && !first {
		return
	}
	left, err := v.Disk.Sweep(v.Host.Now().Add(-sweepAge))
	if due && left == 0 && err == nil {
		j.Swept()
	}
}
