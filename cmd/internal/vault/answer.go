package vault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"vaultwicket/cmd/internal/vault/disk"
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

// answer carries out one request. Every error becomes a reply here.
func answer(v *vault, r request) reply {
	row, err := lookUp(r.command)
	if err != nil {
		return explain(err)
	}
	values, err := row.parse(r)
	if err != nil {
		return explain(err)
	}
	if err := r.mayRun(row, values); err != nil {
		return explain(err)
	}
	said, err := reply{}, error(nil)
	switch {
	case row.writes():
		v.caller = r.how.caller
		said, err = v.write(row, values, r.how)
	case r.how != (manner{}):
		err = misuse("%s changes nothing: it takes no %s.", row.name, r.how.given())
	default:
		said, err = row.run(v, values)
	}
	if err != nil {
		return explain(err)
	}
	return said
}

// fault is an error whose sentence is what the app would print.
type fault struct {
	status int
	kind   failureKind
	text   string
}

func (f *fault) Error() string { return f.text }

// failure says that a request was right and could not be fulfilled.
func failure(format string, args ...any) error {
	return otherFailure.failure(format, args...)
}

// misuse says that a request was wrong.
func misuse(format string, args ...any) error {
	return &fault{status: wrong, kind: badValue, text: "Error: " + fmt.Sprintf(format, args...)}
}

// explain turns an error into what is printed.
func explain(err error) reply {
	var known *fault
	if errors.As(err, &known) {
		return reply{status: known.status, kind: known.kind, text: known.text}
	}
	return reply{status: failed, kind: kindOf(err), text: "Error: " + err.Error()}
}

// fileNotFound is the app's sentence for a target that cannot be seen.
func fileNotFound(asTyped string) error {
	return notFound.failure("File %q not found.", verbatim(asTyped))
}

// verbatim is printed in quotes as it is, without escapes.
type verbatim string

func (v verbatim) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, `"`+string(v)+`"`) }

// unreadable explains why a file could not be opened for reading.
func unreadable(asTyped string, err error) error {
	switch {
	case disk.IsHardLinked(err):
		return hardLinked(asTyped)
	case disk.IsMissing(err):
		return fileNotFound(asTyped)
	case errors.Is(err, disk.ErrInUse):
		return inUse(asTyped)
	case errors.Is(err, fs.ErrPermission):
		return failure("File %q cannot be read: permission denied.", verbatim(asTyped))
	}
	return err
}

// hardLinked explains why a file with further names is left alone: the rules say
// nothing about the places that these may be in.
func hardLinked(path string) error {
	return hardLinkDenied.failure("Access denied: %q has more than one hard link, and a part of this vault is hidden.", verbatim(path))
}

// inUse says that another program keeps a file from being opened or changed.
func inUse(path string) error {
	return inUseConflict.failure("File %q is open in another program. Nothing was changed.", verbatim(path))
}

// unwritten explains why a note could not be written.
func unwritten(path string, err error) error {
	var refusal *disk.Refusal
	switch {
	case err == nil:
		return nil
	case disk.IsHardLinked(err):
		return hardLinked(path)
	case errors.As(err, &refusal):
		return failure("File %q cannot be written: %q %s.", verbatim(path), verbatim(refusal.Path), refusal.Reason)
	case errors.Is(err, disk.ErrInUse):
		return inUse(path)
	case errors.Is(err, disk.ErrChanged):
		return conflict.failure("File %q was changed by somebody else at the same time. Nothing was written.", verbatim(path))
	case errors.Is(err, fs.ErrPermission):
		return failure("File %q cannot be written: permission denied.", verbatim(path))
	}
	return err
}
