// Package session opens a vault and gives each call its view of it: the files that
// the access rules and the ignore file do not hide, under the names that the disk
// has for them.
//
// [Host] is what a process keeps between calls, [Vault] is the vault of one call.
package session

import (
	"context"
	"time"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/knowledge"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/tally"
	"vaultwicket/policy/access"
)

// Vault is an opened vault with everything that an answer depends on besides
// the request.
type Vault struct {
	Name string
	Path string // of the folder, absolute
	Disk *disk.Folder
	// Rules and sight say what may be done with which note, and which are there.
	Rules access.Rules
	Sight *Sight // nil if all are
	Host  *Host  // what is kept between calls
	// ForGateway says that the answer may be read by an agent.
	ForGateway bool
	// Ctx ends when nobody waits for the answer any more. A vault is made for one
	// call.
	Ctx context.Context

	Clock       func() time.Time
	DayStart    time.Duration   // how long after midnight a day begins
	Caller      string          // on whose behalf a call writes, "" for nobody known
	active      string          // the note that counts as focused; if empty the app's own record decides
	RandomIndex func(n int) int // an index below n, by chance

	Tally *tally.Tally // how far the call has come; nil if nobody wants to know

	Origin Origin // that the proposed change was made from
	// Changes is called before the first file is changed; nil tells no caller.
	Changes func()
}

// Index returns what the files of the vault contain.
func (v *Vault) Index() (*index.Index, error) { return v.Host.Knowledge.Index(v.View()) }

// View is the vault as the knowledge of earlier calls needs it.
func (v *Vault) View() knowledge.View {
	return knowledge.View{Ctx: v.Ctx, Folder: v.Disk, Path: v.Path, Env: v.Host.Env, Now: v.Host.Now, Tally: v.Tally}
}

// Origin is what a call made a note from.
type Origin struct {
	Text  string
	Timed bool // it was filled in with the date or the time
	// Left says what of it was not filled in, because only a plugin of the app knows it; ""
	// if nothing was left.
	Left string
}
