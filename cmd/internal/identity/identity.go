// Package identity names this process and the user at its terminal, as the journal, the
// audit log and the approvals have them.
package identity

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
)

// AtTerminal is the caller, the client and the surface of a command that is typed
// in a terminal. It is the same for all of them, so that an approval given with
// "vaultwicket approve" in one window is valid for the command that is typed again
// in another.
const AtTerminal = "terminal"

// Session names what this process does.
var Session = sync.OnceValue(func() string { return fmt.Sprintf("%d-%08x", os.Getpid(), rand.Uint32()) })
