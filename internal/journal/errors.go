package journal

import (
	"fmt"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Errors for a journal that cannot be read or written, or whose lock another process holds.
type (
	Unusable = ownerfiles.Unusable
	Busy     = ownerfiles.Busy
)

var store = ownerfiles.Store{Name: "journal", Code: "journal"}

func unusable(path string, err error) error { return store.Unusable(path, err) }

// Damaged is the error for a record that differs from what was written.
type Damaged struct {
	What   string // a hash, an id, or the name of a file
	Reason string
}

// Code returns the name of the error for programs.
func (*Damaged) Code() string { return "journal_damaged" }

func (e *Damaged) Error() string { return fmt.Sprintf("journal: %q: %s", e.What, e.Reason) }

// Unknown is the error for an entry or object that does not exist, possibly because it was removed as too old.
type Unknown struct{ What string }

// Code returns the name of the error for programs.
func (*Unknown) Code() string { return "journal_unknown" }

func (e *Unknown) Error() string { return fmt.Sprintf("journal: %q not found", e.What) }

// TooLarge is the error for data that exceeds a limit of the journal. Nothing was written.
type TooLarge struct {
	What  string
	Limit int64
}

// Code returns the name of the error for programs.
func (*TooLarge) Code() string { return "journal_too_large" }

func (e *TooLarge) Error() string {
	return fmt.Sprintf("journal: %s: larger than the limit (%d)", e.What, e.Limit)
}

// Full is the error for a change for which there is no space: the entries are too young to be removed, or the
// caller has used its share. Nothing was written.
type Full struct{ Reason string }

// Code returns the name of the error for programs.
func (*Full) Code() string { return "journal_full" }

func (e *Full) Error() string { return "the journal is full: " + e.Reason }

// Invalid is the error for a value that does not fit into a record.
type Invalid struct{ Field, Value, Reason string }

// Code returns the name of the error for programs.
func (*Invalid) Code() string { return "journal_invalid" }

func (e *Invalid) Error() string {
	return fmt.Sprintf("journal: %s %.100q: %s", e.Field, e.Value, e.Reason)
}

// Changed is the error for a note whose bytes do not match the image, because it was changed meanwhile. Nothing
// was written.
type Changed struct{ Path string }

// Code returns the name of the error for programs.
func (*Changed) Code() string { return "journal_changed" }

func (e *Changed) Error() string {
	return fmt.Sprintf("journal: %q was changed while it was being saved", e.Path)
}

// KeyReused is the error for an idempotency key that was used for another call before.
type KeyReused struct{ ID string } // of the entry of that call

// Code returns the name of the error for programs.
func (*KeyReused) Code() string { return "key_reused" }

func (e *KeyReused) Error() string {
	return fmt.Sprintf("the idempotency key was used for another call, journal entry %q", e.ID)
}

// Unfinished is the error for an idempotency key whose call was begun and has no answer: it is in progress or
// was interrupted. The journal entry, if there is one, may have its outcome.
type Unfinished struct{ ID string }

// Code returns the name of the error for programs.
func (*Unfinished) Code() string { return "key_unfinished" }

func (e *Unfinished) Error() string {
	return fmt.Sprintf("the call with this idempotency key was begun and has no answer, journal entry %q", e.ID)
}
