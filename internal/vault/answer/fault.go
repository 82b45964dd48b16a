package answer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
)

// Fault is an error whose text is what the app would print. Only the functions of this package make one: of a format
// and of what callers may see, such as a [Verbatim] name.
type Fault struct {
	Status  int
	Kind    Kind
	text    string
	Missing Missing
	Part    Part
}

// Part has the files of a change that was made in part. The zero Part is that of any other change.
type Part struct {
	Made   []string // are changed
	Moved  []string // those of Made that are only moved, and have the old text
	Unmade []string // are unchanged
}

// Missing is a name that was not found, for the search of similar names. The zero Missing means none.
type Missing struct {
	Typed  string // as the caller wrote it
	Folder bool   // it is the name of a folder
	Ext    string // the required extension, "" for any
}

func (f *Fault) Error() string { return f.text }

// Failure returns the error of a valid request that could not be fulfilled.
func Failure(format string, args ...any) error {
	return OtherFailure.Failure(format, args...)
}

// Misuse returns the error of an invalid request.
func Misuse(format string, args ...any) error {
	return &Fault{Status: ExitMisuse, Kind: BadValue, text: "Error: " + fmt.Sprintf(format, printable(args)...)}
}

// MisuseWithHint is [Misuse] with a hint for programs.
func MisuseWithHint(hint, format string, args ...any) error {
	return &Fault{Status: ExitMisuse, Kind: Kind{BadValue.Code, hint}, text: "Error: " + fmt.Sprintf(format, printable(args)...)}
}

// InPart returns the error for a change that was made in part.
func (k Kind) InPart(part Part, format string, args ...any) error {
	return &Fault{Status: ExitFailed, Kind: k, text: "Error: " + fmt.Sprintf(format, printable(args)...), Part: part}
}

// Explain returns the reply that reports an error.
func Explain(err error) Reply {
	if fault, ok := errors.AsType[*Fault](err); ok {
		return Reply{Status: fault.Status, Kind: fault.Kind, text: fault.text, Part: fault.Part}
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

// Verbatim is untrusted text in a message: a name or a text of the caller or of a note, which could otherwise forge a
// part of the message (prompt injection). It is printed in quotes that the text cannot close, truncated, and with
// escapes for unprintable characters.
type Verbatim string

// Format writes the text in quotes, whatever the verb.
func (v Verbatim) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, excerpt.Quoted(string(v))) }

// List joins the first names of a list, at most most, each quoted like a [Verbatim].
func List(names []string, most int) string {
	return strings.Join(Map(names[:min(len(names), most)], excerpt.Quoted), ", ")
}

// Exit statuses.
const (
	ExitDone   = 0
	ExitFailed = 1 // the request is valid but could not be fulfilled
	ExitMisuse = 2 // the request itself, or an environment variable, is invalid
)

// Kind is a kind of failure, for programs: a stable code and a hint. The zero value means success.
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
	// NoJournal is for a journal that cannot be written or read.
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
	// Unsettled is for a change that may be partly made until the next call, because the disk failed during it.
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

// Failure returns the error of a valid request that could not be fulfilled. Errors among the arguments are printed
// without paths of the machine. If one of them is an error of the disk, OtherFailure becomes Unread.
func (k Kind) Failure(format string, args ...any) error {
	for _, arg := range args {
		err, isError := arg.(error)
		if isError && k == OtherFailure && !isWorded(err) && isOfDisk(err) {
			k = Unread
		}
	}
	return &Fault{Status: ExitFailed, Kind: k, text: "Error: " + fmt.Sprintf(format, printable(args)...)}
}

// Advise returns the kind with another hint.
func (k Kind) Advise(hint string) Kind { return Kind{k.Code, hint} }

// DidYouMean is [Kind.Failure] with a hint that suggests the names, if there are any.
func (k Kind) DidYouMean(names []string, format string, args ...any) error {
	if hint := DidYouMean(names); hint != "" {
		k.Hint = hint
	}
	return k.Failure(format, args...)
}

// DidYouMean returns a hint that suggests the names, "" if there are none.
func DidYouMean(names []string) string {
	quoted := Map(names, Quoted)
	switch n := len(quoted); n {
	case 0:
		return ""
	case 1:
		return "did you mean " + quoted[0] + "?"
	default:
		return "did you mean " + strings.Join(quoted[:n-1], ", ") + " or " + quoted[n-1] + "?"
	}
}

// hintLocked is for a file that macOS does not allow to be written. The folder may be protected, or the file locked in
// the Finder; the error is the same.
const hintLocked = "the user can unlock the file in the Finder (File, Get Info, Locked) if it is locked there; otherwise " +
	protocol.HintPrivacy

// hintControlled is for a file that Windows does not allow to be written although the permissions do: "controlled
// folder access" protects Documents and other folders from programs that are not on its list, see
// https://learn.microsoft.com/defender-endpoint/controlled-folders.
const hintControlled = "the user can let the program write there; in Documents and on the desktop that can also be controlled " +
	"folder access: Windows Security, Virus & threat protection, Ransomware protection, Allow an app"

// HintInCloud is for a note whose content is not on this disk.
const HintInCloud = "it is in the cloud and not on this disk; the user can have the program that synchronises the vault keep it on this device"

// FileNotFound returns the app's error for a file that is missing or hidden.
func FileNotFound(asTyped string) error {
	return &Fault{
		Status:  ExitFailed,
		Kind:    NotFound,
		text:    fmt.Sprintf("Error: File %q not found.", Verbatim(asTyped)),
		Missing: Missing{Typed: asTyped},
	}
}

// FolderNotFound returns the app's error for a folder that is missing or hidden.
func FolderNotFound(asTyped string) error {
	return &Fault{
		Status:  ExitFailed,
		Kind:    NotFoundFolder,
		text:    fmt.Sprintf("Error: Folder %q not found.", Verbatim(asTyped)),
		Missing: Missing{Typed: asTyped, Folder: true},
	}
}

// BaseNotFound returns the app's error for a base that is missing or hidden.
func BaseNotFound(asTyped string) error {
	return &Fault{
		Status:  ExitFailed,
		Kind:    NotFound,
		text:    "Error: Base file not found: " + asTyped,
		Missing: Missing{Typed: asTyped, Ext: "base"},
	}
}

// ReadError returns the error for a file that could not be read, nil for nil.
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

// FolderReadError returns the error for a folder whose contents could not be read, nil for nil.
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

// NoSuchFile returns the error for a named file that was not found: [ReadError] for an error of the disk, otherwise
// [FileNotFound].
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

// isOfDisk reports whether an error comes from the disk, except for a missing file.
func isOfDisk(err error) bool {
	_, isOfSystem := errors.AsType[syscall.Errno](err)
	isOfDisk := isOfSystem || excerpt.IsOfSystem(err)
	return isOfDisk && !disk.IsMissing(err)
}

// isWorded reports whether an error already has its message, or means that the call ended.
func isWorded(err error) bool {
	_, isFault := errors.AsType[*Fault](err)
	_, isOverrun := errors.AsType[*budget.Overrun](err)
	_, isTooLarge := errors.AsType[*disk.SizeError](err)
	isOurs := isFault || isOverrun || isTooLarge
	isEnd := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	return isOurs || isEnd
}

// reasonOf returns the cause of an error of the disk without the path, which may be that of a temporary file or of a
// folder outside the vault.
func reasonOf(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	if syscallErr, ok := errors.AsType[*os.SyscallError](err); ok {
		return syscallErr.Err
	}
	if linkErr, ok := errors.AsType[*os.LinkError](err); ok {
		return linkErr.Err
	}
	return err
}

// hardLinked returns the error for a file with several hard links. It is not read or changed, because its other names
// may be in hidden folders.
func hardLinked(path string) error {
	return HardLinkDenied.Failure(
		"Access denied: %q has more than one hard link, and a part of this vault is hidden.",
		Verbatim(path),
	)
}

// inUse returns the error for a file that another program has locked.
func inUse(path string) error {
	return InUseConflict.Failure("File %q is open in another program. Nothing was changed.", Verbatim(path))
}

// WriteError returns the error for a file that could not be written, nil for nil.
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

// VaultError returns the error for a vault whose folder cannot be opened. Only [ErrVaultNotFound] means that the caller
// should choose another vault.
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

// Unusable returns the error for a file, described by sentence, that an answer depends on and that cannot be used.
func Unusable(err error, sentence string, args ...any) error {
	return unusableOn(runtime.GOOS, err, fmt.Sprintf(sentence, printable(args)...))
}

func unusableOn(goos string, err error, sentence string) error {
	if protocol.IsClosedByMacOS(goos, err) {
		return ClosedByMacOS.Failure("%s: macOS does not allow it to be read.", sentence)
	}
	return Failure("%s: %v", sentence, err)
}

// isNoFolder reports whether an error means that the path of a folder is not a folder.
func isNoFolder(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || strings.Contains(fmt.Sprint(reasonOf(err)), "not a directory")
}

// ErrVaultNotFound is the only error of the app that does not begin with "Error:".
var ErrVaultNotFound error = &Fault{Status: ExitFailed, Kind: VaultNotFound, text: "Vault not found."}

// NoActiveFile returns the app's error for a call without a target while no note is open. The angle brackets are part
// of its text.
func NoActiveFile() error {
	return TargetRequired.Failure("No active file. Use file=<name> or path=<path> to specify a file.")
}

// Quoted returns a shortened name in quotes, for a message.
func Quoted(name string) string {
	return fmt.Sprintf("%q", Verbatim(excerpt.Short(name)))
}

// AllOf joins failures into one of the kind of the first, with one line per failure.
func AllOf(failures []error) error {
	lines := Map(failures, func(err error) string { return strings.TrimPrefix(Explain(err).text, "Error: ") })
	return Explain(failures[0]).Kind.Failure("%s", strings.Join(lines, "\n"))
}
