package answer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
)

// Fault is an error whose sentence is what the app would print.
type Fault struct {
	Status  int
	Kind    Kind
	Text    string
	Missing Missing
	// Made and Unmade are the files of a change that was made in part: those that it changed, and the others.
	Made, Unmade []string
}

// Missing is a name that was not found, for the search of similar names. The zero Missing is none.
type Missing struct {
	Typed  string // by the caller
	Folder bool
	Ext    string // of the files that it can be, "" for any
}

func (f *Fault) Error() string { return f.Text }

// Failure says that a request was right and could not be fulfilled.
func Failure(format string, args ...any) error {
	return OtherFailure.Failure(format, args...)
}

// Misuse says that a request was wrong.
func Misuse(format string, args ...any) error {
	return &Fault{Status: ExitMisuse, Kind: BadValue, Text: "Error: " + fmt.Sprintf(format, args...)}
}

// MisuseWithHint is Misuse with what would be right, for programs.
func MisuseWithHint(hint, format string, args ...any) error {
	return &Fault{Status: ExitMisuse, Kind: Kind{BadValue.Code, hint}, Text: "Error: " + fmt.Sprintf(format, args...)}
}

// Explain turns an error into what is printed.
func Explain(err error) Reply {
	if known, ok := errors.AsType[*Fault](err); ok {
		return Reply{Status: known.Status, Kind: known.Kind, text: known.Text, Made: known.Made, Unmade: known.Unmade}
	}
	if over, ok := errors.AsType[*budget.Overrun](err); ok {
		return Reply{Status: ExitFailed, Kind: Kind{over.Code(), over.Hint()}, text: "Error: " + over.Error()}
	}
	kind := OtherFailure
	text := "Error: " + excerpt.Reason(err)
	switch {
	case errors.Is(err, fs.ErrExist):
		kind = AlreadyExists
	case !isWorded(err) && isOfDisk(err):
		kind = Unread
		text = fmt.Sprintf("Error: A file or folder of the vault cannot be read: %v.", reasonOf(err))
	}
	return Reply{Status: ExitFailed, Kind: kind, text: text}
}

// Verbatim is a name or a text of the caller or of a note in a sentence, which it could forge
// (prompt injection). It is printed in quotes that nothing in it can end, truncated, and with
// escapes for unprintable characters.
type Verbatim string

// Format writes the text in quotes, for every verb.
func (v Verbatim) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, excerpt.Quoted(string(v))) }

// List writes the first of some names out, each as a [Verbatim].
func List(names []string, most int) string {
	return strings.Join(Map(names[:min(len(names), most)], excerpt.Quoted), ", ")
}

// Exit statuses.
const (
	ExitDone   = 0
	ExitFailed = 1 // the request was right and could not be fulfilled
	ExitMisuse = 2 // the request itself, or a variable of the environment, is wrong
)

// Kind is a kind of failure, for programs. The sentence is for
// people. The zero value is that of a success.
type Kind struct{ Code, Hint string }

var (
	NotFound       = Kind{protocol.CodeNotFound, protocol.HintNotFound}
	NotFoundFolder = Kind{protocol.CodeNotFound, "names are case-sensitive; the command folders lists the folders"}
	NotFoundTag    = Kind{protocol.CodeNotFound, "the command tags lists the tags of the vault"}
	NotFoundLine   = Kind{
		protocol.CodeNotFound,
		"the command outline shows the lines of headings; wordcount tells how long the note is",
	}
	NotFoundText = Kind{
		protocol.CodeNotFound,
		"the text must be exactly that of the note, with its line breaks; read the note again",
	}
	NotFoundID = Kind{
		protocol.CodeNotFound,
		"the id of a change is change.id in the result that made it; leave id out to take back your latest change",
	}
	NotFoundNearest = Kind{protocol.CodeNotFound, "use one that the error names, or read the note"}
	NotFoundHeading = Kind{
		protocol.CodeNotFound,
		"use one that the error names; where text is added, create-heading makes a heading",
	}
	AlreadyExists = Kind{protocol.CodeAlreadyExists, "choose another name"}
	Ambiguous     = Kind{protocol.CodeAmbiguous, "name the note with path="}
	AmbiguousText = Kind{protocol.CodeAmbiguous, "include more surrounding text"}
	Conflict      = Kind{protocol.CodeConflict, "re-read the note and retry"}
	UndoConflict  = Kind{protocol.CodeConflict, "undo the later change first, or ask the user which text to keep"}
	InUseConflict = Kind{protocol.CodeConflict, "try again in a moment; the user can close it there"}
	AccessDenied  = Kind{
		protocol.CodeAccessDenied,
		"the user can raise the access in the table [vaults.access] of the settings file",
	}
	HardLinkDenied = Kind{protocol.CodeAccessDenied, "the user can put a copy in the place of the hard link"}
	NotYet         = Kind{protocol.CodeTimeout, "ask again in a moment: what was read is kept"}
	NotConfigured  = Kind{protocol.CodeNotConfigured, "the user can set it in the settings of the vault"}
	NeedsApp       = Kind{
		protocol.CodeNeedsApp,
		"only the Obsidian app can do this; the user can start it and set backend to auto",
	}
	TargetRequired = Kind{protocol.CodeTargetRequired, "name the note with path= or file="}
	Unapproved     = Kind{
		protocol.CodeUnconfirmed,
		"the note was changed meanwhile, or by an earlier operation; send the same call again, alone, so that the user can be asked",
	}
	// NoJournal is for a journal that cannot take a change, or be read.
	NoJournal = Kind{
		protocol.CodeStateUnavailable,
		"the user can look at the folder of the journal and its limits; nothing was changed",
	}
	Unfinished = Kind{
		protocol.CodeStateUnavailable,
		"the user can make room in the vault, or let the program write there; the next call tries again",
	}
	Unread = Kind{
		protocol.CodeVaultUnreadable,
		"try again; if it stays so, the user can let the program read it: vaultwicket doctor names what it cannot read",
	}
	ClosedByMacOS = Kind{protocol.CodeVaultUnreadable, protocol.HintPrivacy}
	Unwritable    = Kind{
		protocol.CodeVaultUnwritable,
		"the user can make room on the disk of the vault, or let the program write there; vaultwicket doctor looks at both",
	}
	// Unsettled is for a change of which a part may be made for now, because the disk fails in the middle of it.
	Unsettled = Kind{
		protocol.CodeOutcomeUnknown,
		"the next call takes it back, or completes it, once the disk of the vault lets it; the user can make room there, or let the program write there",
	}
	PartlyApplied = Kind{protocol.CodePartlyApplied, ""}
	NotApplied    = Kind{protocol.CodeNotApplied, "send the batch again"}
	VaultNotFound = Kind{protocol.CodeVaultNotFound, "compare the name with the list of the command vaults"}
	AppDoesLess   = Kind{protocol.CodeCLIError, protocol.HintAppDoesLess}
	TooLong       = Kind{protocol.CodeContentTooLong, "narrow it with folder= or query="}
	BadValue      = Kind{protocol.CodeBadValue, ""}
	InCloud       = Kind{protocol.CodeVaultUnreadable, HintInCloud}
	OtherFailure  = Kind{protocol.CodeCLIError, ""}
)

// Failure says that a request was right and could not be fulfilled. Errors among the arguments are told without the paths of
// the machine; one of the disk gives a failure that has no code of its own that of a vault that cannot be read.
func (k Kind) Failure(format string, args ...any) error {
	told := slices.Clone(args)
	for i, arg := range args {
		err, isError := arg.(error)
		if !isError {
			continue
		}
		told[i] = excerpt.Reason(err)
		if k == OtherFailure && !isWorded(err) && isOfDisk(err) {
			k = Unread
		}
	}
	return &Fault{Status: ExitFailed, Kind: k, Text: "Error: " + fmt.Sprintf(format, told...)}
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
	all := Map(names, Quoted)
	switch n := len(all); n {
	case 0:
		return ""
	case 1:
		return "did you mean " + all[0] + "?"
	default:
		return "did you mean " + strings.Join(all[:n-1], ", ") + " or " + all[n-1] + "?"
	}
}

// hintLocked is for a file that macOS does not let be written: its place is closed, or the Finder has locked it, which is
// the same error.
const hintLocked = "the user can unlock the file in the Finder (File, Get Info, Locked) if it is locked there; otherwise " +
	protocol.HintPrivacy

// hintControlled is for a file that Windows does not let be written although the program has the right to: "controlled
// folder access" closes Documents and other folders to programs that are not on its list, see
// https://learn.microsoft.com/defender-endpoint/controlled-folders.
const hintControlled = "the user can let the program write there; in Documents and on the desktop that can also be controlled " +
	"folder access: Windows Security, Virus & threat protection, Ransomware protection, Allow an app"

// HintInCloud is for a note whose content is not on this disk.
const HintInCloud = "it is in the cloud and not on this disk; the user can have the program that synchronises the vault keep it on this device"

// FileNotFound is the app's sentence for a target that cannot be seen.
func FileNotFound(asTyped string) error {
	return &Fault{
		Status:  ExitFailed,
		Kind:    NotFound,
		Text:    fmt.Sprintf("Error: File %q not found.", Verbatim(asTyped)),
		Missing: Missing{Typed: asTyped},
	}
}

// FolderNotFound is the app's sentence for a folder that cannot be seen.
func FolderNotFound(asTyped string) error {
	return &Fault{
		Status:  ExitFailed,
		Kind:    NotFoundFolder,
		Text:    fmt.Sprintf("Error: Folder %q not found.", Verbatim(asTyped)),
		Missing: Missing{Typed: asTyped, Folder: true},
	}
}

// BaseNotFound is the app's sentence for a base that cannot be seen.
func BaseNotFound(asTyped string) error {
	return &Fault{
		Status:  ExitFailed,
		Kind:    NotFound,
		Text:    "Error: Base file not found: " + asTyped,
		Missing: Missing{Typed: asTyped, Ext: "base"},
	}
}

// ReadError explains why a file could not be opened for reading.
func ReadError(asTyped string, err error) error { return readErrorOn(runtime.GOOS, asTyped, err) }

func readErrorOn(goos, asTyped string, err error) error {
	switch {
	case disk.IsHardLinked(err):
		return hardLinked(asTyped)
	case disk.IsMissing(err):
		return FileNotFound(asTyped)
	case errors.Is(err, system.ErrInUse):
		return inUse(asTyped)
	case system.IsFetching(err):
		return InCloud.Failure("File %q is in the cloud and could not be fetched.", Verbatim(asTyped))
	case protocol.IsClosedByMacOS(goos, err):
		return ClosedByMacOS.Failure("File %q cannot be read: macOS does not allow it.", Verbatim(asTyped))
	case errors.Is(err, fs.ErrPermission):
		return Unread.Failure("File %q cannot be read: permission denied.", Verbatim(asTyped))
	case err == nil || isWorded(err):
		return err
	}
	return Unread.Failure("File %q cannot be read: %v.", Verbatim(asTyped), reasonOf(err))
}

// FolderReadError explains why what is in a folder cannot be told.
func FolderReadError(asTyped string, err error) error {
	return folderReadErrorOn(runtime.GOOS, asTyped, err)
}

func folderReadErrorOn(goos, asTyped string, err error) error {
	switch {
	case disk.IsMissing(err):
		return FolderNotFound(asTyped)
	case err == nil || isWorded(err):
		return err
	case protocol.IsClosedByMacOS(goos, err):
		return ClosedByMacOS.Failure("Folder %q cannot be read: macOS does not allow it.", Verbatim(asTyped))
	}
	return Unread.Failure("Folder %q cannot be read: %v.", Verbatim(asTyped), reasonOf(err))
}

// NoSuchFile explains why the path of a file that was named cannot be found: there is no such file, or the disk cannot tell.
func NoSuchFile(asTyped string, err error) error {
	if isOfDisk(err) {
		return ReadError(asTyped, err)
	}
	return FileNotFound(asTyped)
}

// NoSuchFolder is [NoSuchFile] for a folder.
func NoSuchFolder(asTyped string, err error) error {
	if isOfDisk(err) {
		return FolderReadError(asTyped, err)
	}
	return FolderNotFound(asTyped)
}

// isOfDisk reports whether an error is one of the disk, and not that of a name.
func isOfDisk(err error) bool {
	_, isOfSystem := errors.AsType[syscall.Errno](err)
	isOfDisk := isOfSystem || excerpt.IsOfSystem(err)
	return isOfDisk && !disk.IsMissing(err)
}

// isWorded reports whether an error has its sentence already, or is the end of a call.
func isWorded(err error) bool {
	_, isFault := errors.AsType[*Fault](err)
	_, isOverrun := errors.AsType[*budget.Overrun](err)
	_, isTooLarge := errors.AsType[*disk.SizeError](err)
	isOurs := isFault || isOverrun || isTooLarge
	isEnd := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	return isOurs || isEnd
}

// reasonOf returns what an error of the disk says without the path of the file, which may be that of a temporary file, or
// of a folder outside the vault.
func reasonOf(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		return call.Err
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		return link.Err
	}
	return err
}

// hardLinked explains why a file with further names is left alone: the rules say
// nothing about the places that these may be in.
func hardLinked(path string) error {
	return HardLinkDenied.Failure(
		"Access denied: %q has more than one hard link, and a part of this vault is hidden.",
		Verbatim(path),
	)
}

// inUse says that another program keeps a file from being opened or changed.
func inUse(path string) error {
	return InUseConflict.Failure("File %q is open in another program. Nothing was changed.", Verbatim(path))
}

// WriteError explains why a note could not be written.
func WriteError(path string, err error) error { return writeErrorOn(runtime.GOOS, path, err) }

func writeErrorOn(goos, path string, err error) error {
	var refusal *disk.Refusal
	switch {
	case err == nil:
		return nil
	case disk.IsHardLinked(err):
		return hardLinked(path)
	case errors.As(err, &refusal):
		return Failure("File %q cannot be written: %q %s.", Verbatim(path), Verbatim(refusal.Path), refusal.Reason)
	case errors.Is(err, system.ErrInUse):
		return inUse(path)
	case errors.Is(err, disk.ErrChanged):
		return Conflict.Failure(
			"File %q was changed by another program at the same time. Nothing was written.",
			Verbatim(path),
		)
	case isWorded(err) || disk.IsMissing(err) || errors.Is(err, fs.ErrExist):
		return err
	case protocol.IsClosedByMacOS(goos, err):
		return Unwritable.Advise(hintLocked).
			Failure("File %q cannot be written: macOS does not allow it.", Verbatim(path))
	case goos == "windows" && errors.Is(err, fs.ErrPermission):
		return Unwritable.Advise(hintControlled).
			Failure("File %q cannot be written: permission denied.", Verbatim(path))
	}
	return Unwritable.Failure("File %q cannot be written: %v.", Verbatim(path), reasonOf(err))
}

// VaultError explains why the folder of a vault cannot be opened. Only one that is not there is to be replaced by another
// one.
func VaultError(err error) error { return vaultErrorOn(runtime.GOOS, err) }

func vaultErrorOn(goos string, err error) error {
	if err == nil || errors.Is(err, fs.ErrNotExist) || isNoFolder(err) {
		return ErrVaultNotFound
	}
	if protocol.IsClosedByMacOS(goos, err) {
		return ClosedByMacOS.Failure("The folder of the vault cannot be opened: macOS does not allow it.")
	}
	return Unread.Failure("The folder of the vault cannot be opened: %v.", reasonOf(err))
}

// Unusable explains in a sentence why a file that an answer depends on cannot be used.
func Unusable(err error, sentence string, args ...any) error {
	return unusableOn(runtime.GOOS, err, fmt.Sprintf(sentence, args...))
}

func unusableOn(goos string, err error, sentence string) error {
	if protocol.IsClosedByMacOS(goos, err) {
		return ClosedByMacOS.Failure("%s: macOS does not allow it to be read.", sentence)
	}
	return Failure("%s: %v", sentence, err)
}

// isNoFolder reports whether there is something else at the path of a folder.
func isNoFolder(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || strings.Contains(fmt.Sprint(reasonOf(err)), "not a directory")
}

// ErrVaultNotFound is the one answer of the app that does not begin with
// "Error:".
var ErrVaultNotFound error = &Fault{Status: ExitFailed, Kind: VaultNotFound, Text: "Vault not found."}

// NoActiveFile is the app's sentence for a call without a target while no
// note is open; the angle brackets are part of it.
func NoActiveFile() error {
	return TargetRequired.Failure("No active file. Use file=<name> or path=<path> to specify a file.")
}

// Quoted is a shortened name in quotes, for a sentence.
func Quoted(name string) string {
	return fmt.Sprintf("%q", Verbatim(excerpt.Short(name)))
}

// AllOf returns one failure of the kind of the first that says what all of them
// say, a line for each.
func AllOf(failures []error) error {
	lines := Map(failures, func(err error) string { return strings.TrimPrefix(Explain(err).text, "Error: ") })
	return Explain(failures[0]).Kind.Failure("%s", strings.Join(lines, "\n"))
}
