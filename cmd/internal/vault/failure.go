package vault

import (
	"errors"
	"fmt"
	"io/fs"

	"vaultwicket/exec/frame"
)

// failureKind is a kind of failure: what a program is told of it. The sentence is for
// people. The zero value is that of a success.
type failureKind struct{ code, hint string }

var (
	notFound        = failureKind{frame.CodeNotFound, frame.HintNotFound}
	notFoundNearest = failureKind{frame.CodeNotFound, "the answer says what the note has"}
	alreadyExists   = failureKind{frame.CodeAlreadyExists, "choose another name"}
	ambiguous       = failureKind{frame.CodeAmbiguous, "name the note with path="}
	ambiguousText   = failureKind{frame.CodeAmbiguous, "give more of what stands around it"}
	conflict        = failureKind{frame.CodeConflict, "read the note again, and decide again"}
	inUseConflict   = failureKind{frame.CodeConflict, "try again in a moment; the user can close it there"}
	accessDenied    = failureKind{frame.CodeAccessDenied, "the user can raise the access in the table [vaults.access] of the settings file"}
	hardLinkDenied  = failureKind{frame.CodeAccessDenied, "the user can put a copy in the place of the hard link"}
	notConfigured   = failureKind{frame.CodeNotConfigured, "the user can set it in the settings of the vault"}
	needsApp        = failureKind{frame.CodeNeedsApp, "only the Obsidian app can do this; the user can start it and set backend to auto"}
	targetRequired  = failureKind{frame.CodeTargetRequired, "name the note with path= or file="}
	unapproved      = failureKind{frame.CodeUnconfirmed, "the note was changed meanwhile, or by an earlier operation; send the same call again, alone, so that the user can be asked"}
	noJournal       = failureKind{frame.CodeStateUnavailable, "the user can look at the folder of the journal and its limits; nothing was changed"}
	vaultNotFound   = failureKind{frame.CodeVaultNotFound, "compare the name with the list of the command vaults"}
	badValue        = failureKind{frame.CodeBadValue, ""}
	otherFailure    = failureKind{frame.CodeCLIError, ""}
)

// failure says that a request was right and could not be fulfilled.
func (k failureKind) failure(format string, args ...any) error {
	return &fault{status: failed, kind: k, text: "Error: " + fmt.Sprintf(format, args...)}
}

// kindOf returns the kind of an error that has no sentence of the app.
func kindOf(err error) failureKind {
	if errors.Is(err, fs.ErrExist) {
		return alreadyExists
	}
	return otherFailure
}

// failure returns what the gateway is told of a reply that was not successful.
func (r *reply) failure() frame.Failure {
	return frame.Failure{Code: r.kind.code, Hint: r.kind.hint, Reason: r.text}
}
