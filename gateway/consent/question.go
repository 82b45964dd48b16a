package consent

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// Question is a question to the user about a call.
type Question struct {
	Vault, Command string
	// Path is the note or file that the call is about, "" if unknown.
	Path string
	// Folder contains everything that the call would change, and [YesHere] approves changes in
	// it. It is "" if there is no such folder, the changes are unknown, or the caller is not one
	// session.
	Folder string
	// Lines are the whole question for display, see [Draw]: what the call does, who asks, and every line that it
	// removes and adds. Text is what the call does and who asks, in a few rows. Unshown is the reason why Lines do not
	// show everything that would be written, "" if they do; a question with such a reason is not asked.
	Lines   []Line
	Text    string
	Unshown string
	heading int // how many of Lines are in Text
	// Requester is the caller that asks, with its agent, and Client the name that the client gives itself.
	Requester, Client string
	why               string // why it requires approval, in a few words
	// Does is what the call would do, without names of notes, see [Does].
	Does string
	// Links is what the change does to links, "" for nothing.
	Links string
	// Because is why a flow rule applies to the call, "" if none does.
	Because string
	// OnPage returns the question on a page, for an [Asker] that makes the client open its link. It returns
	// false if no page of these kinds is open, see [Link], or the question must not be answered by a link.
	OnPage func(kinds ...string) (Page, bool)
	Dialog *Dialog // for an [Asker] that has a client ask the user
	// Digest covers the exact call, and the notes as they are at the time of the question. An
	// approval is good for nothing else.
	Digest [sha256.Size]byte
	// Destructive is set if the call removes, replaces or publishes: its approval is
	// good for no other call.
	Destructive bool
	Caller      string

	// Files are the files that the call would change, as far as they are known. Rest counts those that are
	// not listed.
	Files []PlannedFile
	Rest  Rest
	// Offer is the offered grant, see [StoredQuestion].
	Offer string
	// Identity identifies the vault, and Call the call in it.
	Identity string
	Call     CallDigest
	// Change is the digest of the change, "" if the embedded program does not know it.
	// In this case, Spelled has the hashes of the notes that the call names, by path.
	Change  string
	Spelled map[string]string
}

// Heading returns the first line of the question: what the call would do, to which note or how many, in which vault.
func (q Question) Heading() string { return Draw(q.Lines[:min(1, len(q.Lines))]) }

// ID returns the name of the question for the agent that asks and in the audit log. It is not the code with which the
// user approves it.
func (q Question) ID() string { return StoredQuestion{Digest: q.Digest}.ID() }

// Page is a question on a page. Knowing the link does not permit anyone to answer it.
type Page struct {
	Link, Ref string // see [StoredQuestion] for Ref
}

// SameAs returns an error unless an approval of q also approves again.
func (q Question) SameAs(again Question) error {
	if q.Digest == again.Digest {
		return nil
	}
	return ChangedSince(q.Command)
}

// ChangedSince returns the error of a call that is not carried out because notes were
// changed after the user was asked.
func ChangedSince(command string) error {
	return failure.New(
		failure.CodeConflict,
		"read the notes again; the same call asks the user again, with the notes as they are now",
		"command %q: notes were changed after the user was asked",
		command,
	)
}

// FolderOfAll returns the folder of the first file if it contains all of them, and otherwise "".
// It also returns "" for the root of the vault: an approval for the root would cover everything.
func FolderOfAll(files []PlannedFile) string {
	if len(files) == 0 {
		return ""
	}
	folder := files[0].Path[:max(0, strings.LastIndexByte(files[0].Path, '/'))]
	for _, f := range files {
		for _, path := range f.Places() {
			if folder == "" || !strings.HasPrefix(path, folder+"/") {
				return ""
			}
		}
	}
	return folder
}

// DigestOfCalls returns the digest of several calls together, in any order.
func DigestOfCalls(calls []CallDigest) CallDigest {
	calls = slices.Clone(calls)
	slices.SortFunc(calls, func(a, b CallDigest) int { return slices.Compare(a[:], b[:]) })
	hash := sha256.New()
	for _, call := range slices.Compact(calls) {
		hash.Write(call[:])
	}
	return CallDigest(hash.Sum(nil))
}

// CallDigest identifies a call, whatever the notes contain.
type CallDigest [sha256.Size]byte

// PlannedFile is a file that a call would change. Before and After are its hashes in the form of results;
// "" means that there is no file.
type PlannedFile struct {
	Path   string `json:"path"`
	From   string `json:"from,omitempty"` // its path before a move
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Size is the size in bytes of a file that would be deleted, or whose text the plan of a very large change omits.
	Size int64 `json:"size,omitempty"`
	// Raw has the SHA-256 of its bytes before and after, in hexadecimal, "" for no file. Callers must not see
	// them: with the digest of a note that contains a secret, they could verify guesses of the secret. Raw is nil
	// if the plan omits the text; then the digest of the change covers it.
	Raw *[2]string `json:"-"`
}

// Rest counts the files of a very large change that its plan does not list. The zero Rest counts none.
type Rest struct {
	Deleted int   `json:"deleted,omitempty"`
	Moved   int   `json:"moved,omitempty"`
	Changed int   `json:"changed,omitempty"`
	Made    int   `json:"made,omitempty"`
	Size    int64 `json:"size,omitempty"` // bytes of the files before the change
	// Added and Removed count lines.
	Added   int `json:"added,omitempty"`
	Removed int `json:"removed,omitempty"`
}

// Files returns the number of files.
func (r Rest) Files() int { return r.Deleted + r.Moved + r.Changed + r.Made }

// Plus returns the sum of both counts.
func (r Rest) Plus(other Rest) Rest {
	return Rest{
		Deleted: r.Deleted + other.Deleted,
		Moved:   r.Moved + other.Moved,
		Changed: r.Changed + other.Changed,
		Made:    r.Made + other.Made,
		Size:    r.Size + other.Size,
		Added:   r.Added + other.Added,
		Removed: r.Removed + other.Removed,
	}
}

// Does describes what a call does to files, such as "delete 1 note and change 2 notes", without any
// name or text of a note. If the files are unknown, it names the command.
func Does(command string, files []PlannedFile, rest Rest) string {
	deleted := rest.Deleted
	moved := rest.Moved
	changed := rest.Changed
	made := rest.Made
	noun := "note"
	if rest.Files() > 0 { // some of them may not be notes
		noun = "file"
	}
	for _, f := range files {
		switch {
		case f.From != "":
			moved++
		case f.Before == "":
			made++
		case f.After == "":
			deleted++
		default:
			changed++
		}
		if !strings.EqualFold(path.Ext(f.Path), ".md") {
			noun = "file"
		}
	}
	var parts []string
	for _, act := range []struct {
		verb  string
		count int
	}{
		{"delete", deleted},
		{"move", moved},
		{"change", changed},
		{"create", made},
	} {
		if act.count > 0 {
			parts = append(parts, act.verb+" "+sanitize.Counted(act.count, noun))
		}
	}
	switch n := len(parts); n {
	case 0:
		return "run " + command
	case 1:
		return parts[0]
	default:
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
}

// messageFor returns a message to the owner about a question, such as "A client that calls itself “Cursor” asks to
// delete 1 note in Work". The message makes clear that the name of a client is its own claim. Names that others chose
// are reduced to letters, digits, marks, dashes, underscores and spaces: the programs that display the message may
// interpret other characters.
func (q Question) messageFor(requester Requester) string {
	who := "A client that gives no name"
	agent := plainName(ownerfiles.AgentOf(requester.Caller))
	client := plainName(requester.Client)
	switch {
	case agent != "":
		who = "The agent " + agent
	case client != "":
		who = fmt.Sprintf("A client that calls itself “%s”", client)
	}
	vault := cmp.Or(plainName(q.Vault), "the vault of the app")
	return fmt.Sprintf("%s asks to %s in %s", who, q.Does, vault)
}

// plainName reduces a name to letters, digits, marks, dashes, underscores and single spaces.
func plainName(name string) string {
	plain := strings.Map(func(r rune) rune {
		isOfWord := unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark)
		if isOfWord || r == '-' || r == '_' {
			return r
		}
		return ' '
	}, name)
	plain = strings.Join(strings.Fields(plain), " ")
	return excerpt.Clip(strings.TrimLeft(plain, "-_ "), maxMessageName)
}

const maxMessageName = 60 // bytes of a name

// Places returns the paths that the change touches.
func (f PlannedFile) Places() []string {
	if f.From == "" {
		return []string{f.Path}
	}
	return []string{f.Path, f.From}
}

// Named returns a line with a label and its quoted values, joined by "to".
func Named(label string, values ...string) Line {
	shown := make([]string, len(values))
	for i, value := range values {
		shown[i] = quoted(value)
	}
	return Line{Text: sanitize.Line(label) + ": " + strings.Join(shown, " to ")}
}

// quoted quotes a name or short value on one line. A long one is reduced to its start and
// end: the first folders and the name of the note. Quotation marks in it are escaped, so that
// none ends the quotation.
func quoted(s string) string { return quotedIn(s, maxShownName) }

// quotedIn is [quoted] with at most limit bytes of the name.
func quotedIn(s string, limit int) string {
	s = strings.ReplaceAll(sanitize.Line(s), `"`, `\"`)
	if len(s) > limit {
		end := len(s) - limit/2
		for !utf8.RuneStart(s[end]) {
			end++
		}
		s = excerpt.Clip(s, limit/2) + strings.TrimPrefix(s[end:], `"`) // not the half of an escape
	}
	return `"` + s + `"`
}
