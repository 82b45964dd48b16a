// Package change carries out the changes that commands of the embedded vault CLI make to a vault.
//
// A command that writes returns a [Proposal] and changes nothing itself. [Write] checks the proposal against
// the access rules, keeps the old texts in the journal, carries out the steps, reads the result back and closes
// the journal entry. The same proposal can be shown as a plan, or be carried out by the app and verified
// afterwards.
package change

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
)

// Proposal is the complete plan of a change. It is made before anything is written, so it can be shown instead
// of being carried out, recorded in the journal beforehand, verified afterwards, and undone as a whole.
type Proposal struct {
	Steps   []Step        // in the order in which they are carried out
	Message string        // the output once they are done
	Note    disk.Path     // the note that the answer is about; the zero Path if there is not exactly one
	Notice  answer.Notice // what the caller should know about the change
	// Already is used if no step changes anything: the end of a sentence about what already exists or is
	// missing.
	Already string
	// Keeps is set if text that is removed from one note is added to another.
	Keeps bool
	// Replaces is set if the old content of the note is discarded as a whole.
	Replaces bool
	// Ensures is set if the call asks for a state rather than for a change.
	Ensures bool
	// Loss is the reason for which a change is destructive although the lines of the notes do not show it, such
	// as text removed from a value; usually "".
	Loss string
	// Raw is set if bytes are written unchanged, into a file of any kind.
	Raw bool
	// Undoes is the ID of the journal entry that the proposal undoes; usually "".
	Undoes string
	Also   []string // further entries that are undone together with it
	// Emptied lists the folders to remove if nothing remains in them, the deepest first.
	Emptied []disk.Path
	// OwnChange is set if the caller made the change that is undone: a caller who may create a note may remove
	// it again. Latest is set if that was also the caller's last change.
	OwnChange, Latest bool
	// Outdated reports whether a later change by another call would alter the proposal. If it is nil, any such
	// change outdates a proposal of several steps.
	Outdated func(e journal.Entry) bool
	// lineEnds is set if the text was converted to the line ends of the note. asGiven is the text of the note
	// without that conversion.
	lineEnds bool
	asGiven  []byte
	// ReadAnswer is the answer of a call that changes nothing; the proposal then has no steps.
	ReadAnswer *answer.Reply
	// Broken counts the links in other notes that no longer lead to their file. Followed counts the links that
	// were updated, in the notes that have them.
	Broken, Followed Links
	// rerouted has the links that lead to another file than before.
	rerouted []rerouted
	// Mentions describes the mentions in plain text that are left unchanged, "" if there are none.
	Mentions string
	// AppDoesLess is the error that prevents the app from carrying out the change, because it would leave a
	// part out; nil if it does the same.
	AppDoesLess error
	// Restores describes the version that the change restores, "" for any other change.
	Restores string
	// carried is what the URLs that the change adds may reveal: text of other notes, or secrets.
	carried Carried
	// destroys is set if the command by its nature removes or replaces a part of its note, however small.
	destroys bool
	// loses is the reason why the change is destructive, "" if it is not. [Proposal.assessLoss] sets it.
	loses string
}

// Links counts links, and lists the notes that have them.
type Links struct {
	Count int
	Notes []string
	// Unread is the number of notes and folders that could not be read, whose links are therefore unknown.
	Unread int
}

// Add counts links in a note.
func (l *Links) Add(note disk.Path, links int) {
	if links > 0 {
		l.Count += links
		l.Notes = append(l.Notes, note.String())
	}
}

// String returns the number of links and of notes.
func (l Links) String() string {
	return answer.Count(l.Count, "link") + " in " + answer.Count(len(l.Notes), "note")
}

// breaks describes the links that the change breaks, "" if there are none.
func (l Links) breaks() string {
	unknown := ""
	if l.Unread > 0 {
		unknown = "may break links in what cannot be read (" + answer.NotesOrFolders(l.Unread) + ")"
	}
	if l.Count == 0 {
		return unknown
	}
	names := answer.Map(
		l.Notes[:min(len(l.Notes), maxBrokenNamed)],
		func(note string) string { return fmt.Sprint(quotable(note)) },
	)
	broken := "breaks " + l.String() + ": " + answer.AndMore(strings.Join(names, ", "), len(l.Notes)-maxBrokenNamed)
	if unknown != "" {
		broken += ", and " + unknown
	}
	return broken
}

// maxBrokenNamed is how many notes with broken links a message names.
const maxBrokenNamed = 5

// Step is the change of one file: it is created, changed, moved, or removed.
type Step struct {
	Path          disk.Path
	From          disk.Path // its path before a move; the zero Path without one
	Before, After FileState
	Trash         bool             // a removed file goes to the trash of the vault
	TrashName     string           // name in the trash, also of a file that is restored from there
	Modified      int64            // modification time to set, in Unix nanoseconds; 0 for the current time
	CopyOf        disk.Path        // a large new file is a copy of this file; the zero Path for any other
	origins       []journal.Origin // files from which the text was copied
	Told          []byte           // text of the bookmarks to show in a plan, if they may name hidden notes
	Mode          uint32           // permission bits of a new file; 0 for the default
	draft         disk.Draft       // has the new text before the step is made, and what was replaced after it
	cachedLosses  *lostLines       // cache of [Step.lost]
}

// FileState is the content of a file. The zero value is that of a missing file.
type FileState struct {
	Exists bool
	Folder bool           // it is a folder
	Text   guard.Unjudged // as on the disk
	// Image replaces the text of a large file without links, which is not in memory.
	Image journal.Image
	known string // the hash that callers see, if Image is set
	// unread has facts about a text that is not in memory, see [FileState.WithoutText]; otherwise nil.
	unread *unread
}

// Existing returns the state of a file with the text.
func Existing(text []byte) FileState {
	return FileState{Exists: true, Text: guard.NewUnjudged(text)}
}

// ExistingFolder is the state of a folder, whatever its contents.
var ExistingFolder = FileState{Exists: true, Folder: true}

// Equal reports whether both files exist with the same bytes, or neither exists.
func (c FileState) Equal(other FileState) bool {
	if c.Image.Exists || other.Image.Exists {
		return ImageOf(c) == ImageOf(other) && c.Folder == other.Folder
	}
	return c.Exists == other.Exists && c.Folder == other.Folder && c.Text.Equal(other.Text)
}

// content returns the content that the file must have.
func (c FileState) content() disk.Content {
	if c.Image.Exists {
		return disk.Sum(c.Image.Hash, c.Image.Size)
	}
	return disk.Text(c.Text.ForProgram())
}

// hashAt returns the hash that callers see for the file at path with this content; "" for a missing file and
// for a folder.
func hashAt(v *call.Vault, path disk.Path, c FileState) string {
	switch {
	case !c.Exists || c.Folder:
		return ""
	case c.Image.Exists:
		return c.known
	case path == disk.Bookmarks() && v.Hides(): // it may name hidden notes
		return answer.Digest(nil)
	}
	return answer.Digest(v.Shown(path, c.Text).Bytes())
}

// IsMove reports whether the step moves a file to another path.
func (s Step) IsMove() bool { return s.From != (disk.Path{}) }

// source returns the path of the file before the step.
func (s Step) source() disk.Path {
	if s.IsMove() {
		return s.From
	}
	return s.Path
}

// IsNoop reports whether a step changes nothing.
func (s Step) IsNoop() bool { return !s.IsMove() && s.Before.Equal(s.After) }

// ProposeChange returns the proposal to change the note at path from before to after. Inserted text is
// converted to the line ends of the note.
func ProposeChange(path disk.Path, before, after []byte, message string) Proposal {
	text, converted := edit.KeepLineEnds(before, after)
	return Proposal{
		Steps:    []Step{{Path: path, Before: Existing(before), After: Existing(text)}},
		Message:  message,
		Note:     path,
		lineEnds: converted,
		asGiven:  after,
	}
}

// ProposeEdit returns the proposal to edit the note that a request names, which must be Markdown. The message
// is prefix followed by the path.
func ProposeEdit(v *call.Vault, p call.Values, prefix string, editText func(text []byte) ([]byte, error)) (Proposal, error) {
	t, before, err := v.MarkdownNote(p)
	if err != nil {
		return Proposal{}, err
	}
	after, err := editText(before)
	if err != nil {
		return Proposal{}, err
	}
	return ProposeChange(t.Path, before, after, prefix+t.Path.String()), nil
}

// ShownState is [CurrentState] as the caller sees it: with marks in place of secrets. The secrets are put back
// when the change is carried out.
func ShownState(v *call.Vault, path disk.Path) (FileState, error) {
	now, err := CurrentState(v, path)
	now.Text = guard.NewUnjudged(v.Judged(now.Text).Bytes())
	return now, err
}

// CurrentState returns the current state of the file at path, including its secrets. The text of a large file
// without links is not read into memory.
func CurrentState(v *call.Vault, path disk.Path) (FileState, error) {
	if isLarge(v, path) {
		file, err := v.Disk.Open(path)
		if err != nil {
			return FileState{}, err
		}
		defer file.Close()
		read := &io.LimitedReader{R: file, N: math.MaxInt64} // counts the bytes
		hash := sha256.New()
		shownHash := sha256.New()
		shown := io.TeeReader(read, hash)
		// Callers cannot read a larger file at all, so its hash does not help them to guess a secret.
		if file.Info.Size() <= disk.MaxNote {
			shown = v.ShownFrom(path, shown)
		}
		_, err = io.Copy(shownHash, shown)
		image := journal.Image{Exists: true, Hash: hex.EncodeToString(hash.Sum(nil)), Size: math.MaxInt64 - read.N}
		return FileState{Exists: true, Image: image, known: hex.EncodeToString(shownHash.Sum(nil)[:8])}, err
	}
	raw, err := v.Disk.Raw().Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return FileState{}, nil
	}
	return FileState{Exists: true, Text: raw}, err
}

// isLarge reports whether the file at path is too large for memory and has no links.
func isLarge(v *call.Vault, path disk.Path) bool {
	if HasLinks(path) {
		return false
	}
	info, err := v.Disk.Stat(path)
	return err == nil && info.Size() > maxHeld
}

// StateAt is [CurrentState] for a path in the journal, where the path of a folder ends with a slash. recorded
// is the path as the journal has it.
func StateAt(v *call.Vault, path disk.Path, recorded string) (FileState, error) {
	if !strings.HasSuffix(recorded, "/") {
		return CurrentState(v, path)
	}
	_, err := v.Disk.FolderInfo(path)
	switch {
	case err == nil:
		return ExistingFolder, nil
	case disk.IsUnread(err):
		return FileState{}, err
	}
	return FileState{}, nil
}

// maxHeld is the size in bytes up to which a file without links is read into memory.
const maxHeld = 1 << 20

// HasLinks reports whether files of this kind may have links.
func HasLinks(path disk.Path) bool { return slices.Contains(linkingExtensions, path.Ext()) }

// linkingExtensions has the extensions of files with links.
var linkingExtensions = []string{"md", "canvas", "base"}
