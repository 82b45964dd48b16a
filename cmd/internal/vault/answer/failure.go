package answer

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"vaultwicket/allowlist/quote"
	"vaultwicket/exec/frame"
)

// Kind is a kind of failure: what a program is told of it. The sentence is for
// people. The zero value is that of a success.
type Kind struct{ Code, Hint string }

var (
	NotFound        = Kind{frame.CodeNotFound, frame.HintNotFound}
	NotFoundFolder  = Kind{frame.CodeNotFound, "names are case-sensitive; the command folders lists the folders"}
	NotFoundTag     = Kind{frame.CodeNotFound, "the command tags lists the tags of the vault"}
	NotFoundLine    = Kind{frame.CodeNotFound, "the command outline shows the lines of headings; wordcount tells how long the note is"}
	NotFoundText    = Kind{frame.CodeNotFound, "the text must be exactly that of the note, with its line breaks; read the note again"}
	NotFoundID      = Kind{frame.CodeNotFound, "the id of a change is change.id in the result that made it; leave id out to take back your latest change"}
	NotFoundNearest = Kind{frame.CodeNotFound, "use one that the error names, or read the note"}
	NotFoundHeading = Kind{frame.CodeNotFound, "use one that the error names; where text is added, create-heading makes a heading"}
	AlreadyExists   = Kind{frame.CodeAlreadyExists, "choose another name"}
	Ambiguous       = Kind{frame.CodeAmbiguous, "name the note with path="}
	AmbiguousText   = Kind{frame.CodeAmbiguous, "include more surrounding text"}
	Conflict        = Kind{frame.CodeConflict, "re-read the note and retry"}
	UndoConflict    = Kind{frame.CodeConflict, "undo the later change first, or ask the user which text to keep"}
	InUseConflict   = Kind{frame.CodeConflict, "try again in a moment; the user can close it there"}
	AccessDenied    = Kind{frame.CodeAccessDenied, "the user can raise the access in the table [vaults.access] of the settings file"}
	HardLinkDenied  = Kind{frame.CodeAccessDenied, "the user can put a copy in the place of the hard link"}
	NotConfigured   = Kind{frame.CodeNotConfigured, "the user can set it in the settings of the vault"}
	NeedsApp        = Kind{frame.CodeNeedsApp, "only the Obsidian app can do this; the user can start it and set backend to auto"}
	TargetRequired  = Kind{frame.CodeTargetRequired, "name the note with path= or file="}
	Unapproved      = Kind{frame.CodeUnconfirmed, "the note was changed meanwhile, or by an earlier operation; send the same call again, alone, so that the user can be asked"}
	NoJournal       = Kind{frame.CodeStateUnavailable, "the user can look at the folder of the journal and its limits; nothing was changed"}
	VaultNotFound   = Kind{frame.CodeVaultNotFound, "compare the name with the list of the command vaults"}
	AppDoesLess     = Kind{frame.CodeCLIError, frame.HintAppDoesLess}
	TooLong         = Kind{frame.CodeContentTooLong, "narrow it with folder= or query="}
	BadValue        = Kind{frame.CodeBadValue, ""}
	InCloud         = Kind{frame.CodeCLIError, HintInCloud}
	OtherFailure    = Kind{frame.CodeCLIError, ""}
)

// Failure says that a request was right and could not be fulfilled.
func (k Kind) Failure(format string, args ...any) error {
	return &Fault{Status: ExitFailed, kind: k, Text: "Error: " + fmt.Sprintf(format, args...)}
}

// Advise returns the kind with another hint.
func (k Kind) Advise(hint string) Kind { return Kind{k.Code, hint} }

// DidYouMean is Failure with the names that may have been meant in the hint, if there
// are any.
func (k Kind) DidYouMean(names []string, format string, args ...any) error {
	if hint := DidYouMean(names); hint != "" {
		k.Hint = hint
	}
	return k.Failure(format, args...)
}

// DidYouMean asks for one of some names, "" if there are none.
func DidYouMean(names []string) string {
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, fmt.Sprintf("%q", Verbatim(quote.Short(name))))
	}
	switch n := len(quoted); n {
	case 0:
		return ""
	case 1:
		return "did you mean " + quoted[0] + "?"
	default:
		return "did you mean " + strings.Join(quoted[:n-1], ", ") + " or " + quoted[n-1] + "?"
	}
}

// kindOf returns the kind of an error that has no sentence of the app.
func kindOf(err error) Kind {
	if errors.Is(err, fs.ErrExist) {
		return AlreadyExists
	}
	return OtherFailure
}

// Report returns what the gateway is told of a reply that was not successful.
func (r *Reply) Report() frame.Failure {
	return frame.Failure{Code: r.Kind.Code, Hint: r.Kind.Hint, Reason: r.Text}
}

// HintInCloud is for a note whose content is not on this disk.
const HintInCloud = "it is in the cloud and not on this disk; the user can have the program that synchronises the vault keep it on this device"
