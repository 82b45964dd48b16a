package answer

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/vault/budget"
)

// Fault is an error whose sentence is what the app would print.
type Fault struct {
	Status  int
	kind    Kind
	Text    string
	missing Missing
}

// Missing is what a request names and the vault does not have, for whoever looks for
// names that are like it. The zero Missing is nothing.
type Missing struct {
	Typed  string // by the caller
	Folder bool
	Ext    string // of the files that it can be, "" for any
}

// Missing returns what was not found, the zero Missing for another failure.
func (f *Fault) Missing() Missing { return f.missing }

// WithHint returns the failure with another hint.
func (f *Fault) WithHint(hint string) *Fault {
	advised := *f
	advised.kind.Hint = hint
	return &advised
}

func (f *Fault) Error() string { return f.Text }

// Failure says that a request was right and could not be fulfilled.
func Failure(format string, args ...any) error {
	return OtherFailure.Failure(format, args...)
}

// Misuse says that a request was wrong.
func Misuse(format string, args ...any) error {
	return &Fault{Status: ExitMisuse, kind: BadValue, Text: "Error: " + fmt.Sprintf(format, args...)}
}

// MisuseWithHint is Misuse with what would be right, for programs.
func MisuseWithHint(hint, format string, args ...any) error {
	return &Fault{Status: ExitMisuse, kind: Kind{BadValue.Code, hint}, Text: "Error: " + fmt.Sprintf(format, args...)}
}

// Explain turns an error into what is printed.
func Explain(err error) Reply {
	var known *Fault
	if errors.As(err, &known) {
		return Reply{Status: known.Status, Kind: known.kind, Text: known.Text}
	}
	var over *budget.Overrun
	if errors.As(err, &over) {
		return Reply{Status: ExitFailed, Kind: Kind{over.Code(), over.Hint()}, Text: "Error: " + over.Error()}
	}
	return Reply{Status: ExitFailed, Kind: kindOf(err), Text: "Error: " + err.Error()}
}

// Verbatim is a name or a text in a sentence: of the caller, or of a note, whose writer may want
// it to read as a sentence of ours. It is printed in quotes that nothing in it can end, cut to
// what a sentence repeats, and with escapes for what is not printable.
type Verbatim string

// Format writes the text in quotes, for every verb.
func (v Verbatim) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, quote.Quoted(string(v))) }

// List writes the first of some names out, each as a [Verbatim].
func List(names []string, most int) string {
	quoted := make([]string, min(len(names), most))
	for i := range quoted {
		quoted[i] = quote.Quoted(names[i])
	}
	return strings.Join(quoted, ", ")
}

// Exit statuses.
const (
	ExitDone   = 0
	ExitFailed = 1 // the request was right and could not be fulfilled
	ExitMisuse = 2 // the request itself, or a variable of the environment, is wrong
)
