// Package approvals keeps a user's approval: bound to the exact call, expiring,
// valid for one call. What is not proved to be such an approval is refused.
//
// There are three of them. A [Sealer] makes the state that travels through a
// client which can ask the user itself, and comes back with the answer. A [Store]
// keeps questions in a folder for clients that cannot ask; the user answers them
// in a terminal, outside the model's reach. A [Standing] keeps an approval for one
// session and one folder, and never covers a destructive call.
//
// The package does not ask anybody, does not know what a call is, and does not
// judge one: it is given a digest of the call, and a text that was made fit to
// be shown. It protects against a client and a model, not against another
// program of the same user that writes to the folder: that program could as well
// change the vault itself.
//
// Of this program the package imports only gateway/state/private.
package approvals

import (
	"crypto/sha256"
	"time"
)

// Digest is the digest of an exact call. The zero Digest stands for none and is
// refused.
type Digest = [sha256.Size]byte

// maxLife is how long a question may wait for an answer. A user who was away
// for longer has to be shown it again: the notes may have changed.
const maxLife = time.Hour
