// Package change is how a command of the embedded vault CLI changes the vault.
//
// A command that writes returns a [Proposal] and changes nothing itself. [Write]
// judges the proposal by the access rules, keeps the old texts in the journal, does
// the steps, reads the result back and closes the journal entry. The same proposal
// can be shown as a plan, or be carried out by the app and verified afterwards.
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

// Proposal is what a command that writes is about to do. It is complete before
// anything is done: so it can be shown in place of being carried out, kept in
// the journal beforehand, checked afterwards and taken back as a whole.
type Proposal struct {
	Steps   []Step // in this order
	Message string // what is printed once they are done
	Note    disk.Path
	Notice  string // what the caller has to know of it, "" for nothing
	// Already says, where no step changes anything, what is there already or is missing: the end of a sentence.
	Already string
	// Keeps says that what is taken from a note is put into another one.
	Keeps bool
	// Replaces says that what the note held is thrown away as a whole.
	Replaces bool
	// Ensures says that the call asks for something to be there, and not for a change.
	Ensures bool
	// Loss says what the call takes away from a value, in the words of a reason for which a change is destructive; "" for
	// nothing that the lines of the notes do not tell.
	Loss string
	// Raw says that bytes are written as they are, into a file of any kind.
	Raw bool
	// Undoes is the entry of the journal that this takes back, "" mostly.
	Undoes string
	Also   []string // further entries that are taken back together
	// Emptied are the folders that are removed if nothing is left in them, the deepest first.
	Emptied []disk.Path
	// OwnChange says that the caller made that change: who may make a note may
	// remove it again. Latest says that it is also the caller's last one.
	OwnChange, Latest bool
	// Outdated reports whether a change that another call made after this one was worked out makes it another one. Without it
	// every change of a proposal of several steps does.
	Outdated func(e journal.Entry) bool
	// lineEnds says that the text got the line ends of the note; asGiven is what the
	// note would hold without that.
	lineEnds bool
	asGiven  []byte
	// ReadAnswer is an answer that changes nothing, in place of steps.
	ReadAnswer *answer.Reply
	// Broken are the links of other notes that do not lead to their file any more. Followed are
	// those that were changed so that they do, in the notes that have them.
	Broken, Followed Links
	// rerouted are those that lead to another file than before.
	rerouted []rerouted
	// Mentions says which mentions in text are left, "" if there are none.
	Mentions string
	// AppDoesLess says what the app would leave out, so that it must not carry out the
	// change; nil if it does the same.
	AppDoesLess error
	// Restores says in words which version the change restores, "" for another change.
	Restores string
	// carried is what the addresses that are added carry.
	carried Carried
	// destroys says that the command removes or replaces something of its note by what it is, however
	// little that is.
	destroys bool
	// loses is why the change is destructive, "" if it is not. See [Proposal.assessLoss].
	loses string
}

// Links counts links, and says in which notes they are.
type Links struct {
	Count int
	Notes []string
	// Unread is how many notes and folders could not be read, so that it is not known which links they have.
	Unread int
}

// Add counts links of a note.
func (l *Links) Add(note disk.Path, links int) {
	if links > 0 {
		l.Count, l.Notes = l.Count+links, append(l.Notes, note.String())
	}
}

// String returns how many there are, in how many notes.
func (l Links) String() string {
	return answer.Count(l.Count, "link") + " in " + answer.Count(len(l.Notes), "note")
}

// breaks says which links the change breaks, "" if there are none.
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
		func(note string) string { return fmt.Sprint(named(note)) },
	)
	broken := "breaks " + l.String() + ": " + answer.AndMore(strings.Join(names, ", "), len(l.Notes)-maxBrokenNamed)
	if unknown != "" {
		broken += ", and " + unknown
	}
	return broken
}

const maxBrokenNamed = 5

// Step is what happens to one file: it is made, changed, moved as it is, or
// removed.
type Step struct {
	Path          disk.Path
	From          disk.Path // where it was, if it is moved
	Before, After FileState
	Trash         bool      // a removed file can be found in the trash of the vault
	TrashName     string    // under this name; a file that is made may lie there, too
	Modified      int64     // what the file gets as its time of modification, in Unix nanoseconds; 0 for now
	CopyOf        disk.Path // a large file with the content of one that is made
	of            []journal.Origin
	Told          []byte // what a plan shows of the bookmarks, where they may name hidden notes
	Mode          uint32 // the permission bits of a file that is made; 0 for those of a new note
	draft         disk.Draft
	weighed       *lostLines // see [Step.lost]; nil until it is worked out
}

// FileState is the content of a file. The zero value is that of no file.
type FileState struct {
	Exists bool
	Folder bool           // it is a folder
	Text   guard.Unjudged // as it is on the disk
	// Image is in place of the text of a large file that is no note, which is not in memory.
	Image journal.Image
	known string // the hash by which callers know it, with an Image
	// unread says more of a text that is not in memory; nil for another file. See [FileState.WithoutText].
	unread *unread
}

// Existing returns the state of a file with this text.
func Existing(text []byte) FileState {
	return FileState{Exists: true, Text: guard.NewUnjudged(text)}
}

// ExistingFolder is the state of a folder, whatever is in it.
var ExistingFolder = FileState{Exists: true, Folder: true}

// Equal reports whether both files exist with the same bytes, or neither exists.
func (c FileState) Equal(other FileState) bool {
	if c.Image.Exists || other.Image.Exists {
		return ImageOf(c) == ImageOf(other) && c.Folder == other.Folder
	}
	return c.Exists == other.Exists && c.Folder == other.Folder && c.Text.Equal(other.Text)
}

// content is what the file has to contain.
func (c FileState) content() disk.Content {
	if c.Image.Exists {
		return disk.Sum(c.Image.Hash, c.Image.Size)
	}
	return disk.Text(c.Text.ForProgram())
}

// hashAt is that by which callers know the file at path with this content, "" for none and for a folder.
func hashAt(v *call.Vault, path disk.Path, c FileState) string {
	switch {
	case !c.Exists || c.Folder:
		return ""
	case c.Image.Exists:
		return c.known
	case path == disk.Bookmarks() && v.Hides(): // it has what is hidden, too
		return answer.Digest(nil)
	}
	return answer.Digest(v.Shown(path, c.Text).Bytes())
}

// IsMove reports whether the step gives a file another path.
func (s Step) IsMove() bool { return s.From != (disk.Path{}) }

// source is where the file is before the step.
func (s Step) source() disk.Path {
	if s.IsMove() {
		return s.From
	}
	return s.Path
}

// IsNoop reports whether a step leaves everything as it is.
func (s Step) IsNoop() bool { return !s.IsMove() && s.Before.Equal(s.After) }

// ProposeChange returns the proposal to change the note at path, whose text is before.
// What is put into it gets its line ends.
func ProposeChange(path disk.Path, before, after []byte, said string) Proposal {
	kept, converted := edit.KeepLineEnds(before, after)
	return Proposal{
		Steps: []Step{
			{Path: path, Before: Existing(before), After: Existing(kept)},
		}, Message: said, Note: path, lineEnds: converted, asGiven: after,
	}
}

// ProposeEdit returns the proposal to change the note that a request means, which has to
// be Markdown.
func ProposeEdit(v *call.Vault, p call.Values, said string, edit func(text []byte) ([]byte, error)) (Proposal, error) {
	t, before, err := v.MarkdownNote(p)
	if err != nil {
		return Proposal{}, err
	}
	after, err := edit(before)
	if err != nil {
		return Proposal{}, err
	}
	return ProposeChange(t.Path, before, after, said+t.Path.String()), nil
}

// ShownState is [CurrentState] as the caller sees it: with marks in place of secrets, which are put
// back when the change is carried out.
func ShownState(v *call.Vault, path disk.Path) (FileState, error) {
	now, err := CurrentState(v, path)
	now.Text = guard.NewUnjudged(v.Judged(now.Text).Bytes())
	return now, err
}

// CurrentState returns the file at path as it is now, with its secrets. The text of a large file that is no
// note, canvas or base is not read into memory.
func CurrentState(v *call.Vault, path disk.Path) (FileState, error) {
	if isLarge(v, path) {
		file, err := v.Disk.Open(path)
		if err != nil {
			return FileState{}, err
		}
		defer file.Close()
		read := &io.LimitedReader{R: file, N: math.MaxInt64} // counts
		hash := sha256.New()
		seen := sha256.New()
		shown := io.TeeReader(read, hash)
		if file.Info.Size() <= disk.MaxNote { // who reads nothing of a larger one can try no guess by its hash
			shown = v.ShownFrom(path, shown)
		}
		_, err = io.Copy(seen, shown)
		image := journal.Image{Exists: true, Hash: hex.EncodeToString(hash.Sum(nil)), Size: math.MaxInt64 - read.N}
		return FileState{Exists: true, Image: image, known: hex.EncodeToString(seen.Sum(nil)[:8])}, err
	}
	raw, err := v.Disk.Raw().Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return FileState{}, nil
	}
	return FileState{Exists: true, Text: raw}, err
}

// isLarge reports whether the file at path is too large to be in memory, and has no links.
func isLarge(v *call.Vault, path disk.Path) bool {
	if HasLinks(path) {
		return false
	}
	info, err := v.Disk.Stat(path)
	return err == nil && info.Size() > maxHeld
}

// StateAt is [CurrentState] of a path in the journal, where that of a folder ends with a slash.
func StateAt(v *call.Vault, path disk.Path, kept string) (FileState, error) {
	if !strings.HasSuffix(kept, "/") {
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

// maxHeld is the size up to which every file is read into memory.
const maxHeld = 1 << 20

// HasLinks reports whether a file may have links.
func HasLinks(path disk.Path) bool { return slices.Contains(linking, path.Ext()) }

// linking are the extensions of the files with links.
var linking = []string{"md", "canvas", "base"}
