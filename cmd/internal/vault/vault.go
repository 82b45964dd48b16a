package vault

import (
	"context"
	"time"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/index"
	"vaultwicket/policy/access"
)

// vault is an opened vault with everything that an answer depends on besides
// the request.
type vault struct {
	name string
	path string // of the folder, absolute
	disk *disk.Folder
	// rules and sight say what may be done with which note, and which are there.
	rules access.Rules
	sight *sight // nil if all are
	host  *host  // what is kept between calls
	// forGateway says that the answer may be read by an agent.
	forGateway bool
	// ctx ends when nobody waits for the answer any more. A vault is made for one
	// call.
	ctx context.Context

	clock  func() time.Time
	caller string          // on whose behalf a call writes, "" for nobody known
	active string          // the note that counts as focused; if empty the app's own record decides
	pick   func(n int) int // an index below n, by chance

	source origin // that the proposed change was made from
}

// index returns what the files of the vault contain.
func (v *vault) index() (*index.Index, error) { return v.host.known.of(v.view()) }

// view is the vault as the knowledge of earlier calls needs it.
func (v *vault) view() vaultView {
	return vaultView{v.ctx, v.disk, v.path, v.host.env, v.host.now}
}

// origin is what a call made a note from.
type origin struct {
	text  string
	timed bool // it was filled in with the date or the time
}
