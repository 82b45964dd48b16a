package doctor

import (
	"context"
	"time"

	"vaultwicket/cmd/internal/clients"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/gateway"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/state/journal"
)

// Machine is the machine to check, and the functions that ask its programs. They must not be
// nil.
type Machine struct {
	OS      string // as runtime.GOOS
	Getenv  func(string) string
	Now     func() time.Time
	Version string // of this program
	// Built is when the source of this program was committed, zero if that is unknown.
	Built time.Time

	Settings settings.Settings
	// Invalid is why the settings cannot be used. Then nothing is checked that depends
	// on them.
	Invalid error
	// Known are the folders of the vaults that the app lists.
	Known []string

	// State is the state folder, "" for none; StateUnsafe and StateReadOnly say why it
	// cannot be used for anything, or for changes.
	State         string
	StateUnsafe   error
	StateReadOnly string
	Paused        func() bool
	Journal       func(v gateway.Vault) (*journal.Journal, error)

	// App asks the Obsidian CLI for the version of the app. Embedded returns what the
	// embedded CLI says it is locked into for a vault.
	App      func(ctx context.Context) (version string, failed *failure.Error)
	Embedded func(ctx context.Context, folder string) (sandbox string, err error)

	Clients clients.Installer
	// Start starts the command of a client's entry and returns the name and version that
	// the server tells in its answer to initialize.
	Start func(ctx context.Context, command []string) (name, version string, err error)

	// Listen tries whether a server can listen on an address of TCP.
	Listen func(ctx context.Context, addr string) error
	// Free returns how many bytes can be written to the file system of a folder.
	Free func(folder string) (bytes uint64, known bool)
	// Elevated reports whether this process has the rights of an administrator.
	Elevated func() bool
}

// Check runs all checks. It ends early with ctx.
func Check(ctx context.Context, m Machine) *Report {
	r := &Report{}
	for _, check := range []func(context.Context, *Report){
		m.settings, m.vaults, m.backends, m.state, m.logs, m.http, m.clients, m.system,
	} {
		if ctx.Err() == nil {
			check(ctx, r)
		}
	}
	return r
}

// hinted is an error with a hint.
type hinted interface {
	error
	Hint() string
}
