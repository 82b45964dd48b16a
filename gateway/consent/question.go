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

// Question is what the user is asked before a call.
type Question struct {
	Vault, Command string
	// Path is the note or file that the call is about, "" if it is not known.
	Path string
	// Folder contains all that the call would change, and [YesHere] approves changes in
	// it. It is "" if there is no such folder, what would change is not known, or the
	// caller is not one session.
	Folder string
	// Lines are the whole question as it may be shown, see [Draw]: what the call does, who asks, and every line that it
	// removes and adds. Text is what the call does and who asks, in a few rows. Unshown says why Lines are not all that
	// would be written, "" if they are: then nobody is asked.
	Lines   []Line
	Text    string
	Unshown string
	heading int // of Lines, those that are in Text
	// Requester is who asks, with the agent, and Client what the client calls itself.
	Requester, Client string
	why               string // it requires approval, in a few words
	// Does says what the call would do without the name of a note, see [Does].
	Does string
	// Links says what the change does to links, "" for nothing.
	Links string
	// Because says why a flow rule is about the call, "" where none is.
	Because string
	// OnPage leaves the question on a page, for an [Asker] that has the client open its link. It
	// reports false where no page of these kinds is open, see [Link], or links are no way to this question.
	OnPage func(kinds ...string) (Page, bool)
	Dialog *Dialog // for an [Asker] that has a client ask the user
	// Digest is that of the exact call, and of the notes as they are at the time of the
	// question. An approval is good for nothing else.
	Digest [sha256.Size]byte
	// Destructive says that the call removes, replaces or publishes: its approval is
	// good for no other call.
	Destructive bool
	Caller      string

	// Files are those that the call would change, as far as they are known. Rest counts those that are not
	// listed.
	Files []PlannedFile
	Rest  Rest
	// Offer is that of [StoredQuestion].
	Offer string
	// Identity is that of the vault, Call that of the call in it.
	Identity string
	Call     CallDigest
	// Change is the digest of the change, "" if the embedded program does not know it.
	// Then Spelled has the hashes of the notes that the call names, by their paths.
	Change  string
	Spelled map[string]string
}

// Heading is the first line of the question: what would be done, with which note or how many, in which vault.
func (q Question) Heading() string { return Draw(q.Lines[:min(1, len(q.Lines))]) }

// ID names the question for the agent that asks, and in the audit log. It is not the code with which it is approved.
func (q Question) ID() string { return StoredQuestion{Digest: q.Digest}.ID() }

// Page is a question on a page. The link gives no right to answer it.
type Page struct {
	Link, Ref string // see [StoredQuestion] for Ref
}

// SameAs returns an error unless an approval of q is one of again.
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
// It is "" for the root of the vault too: an approval for the root would be one for everything.
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

// CallDigest tells one call from every other one, whatever the notes contain.
type CallDigest [sha256.Size]byte

// PlannedFile is a file that would change. Before and After are the hashes of it as results have them;
// an empty one means no file.
type PlannedFile struct {
	Path   string `json:"path"`
	From   string `json:"from,omitempty"` // where it is before a move
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Size is how many bytes it has that would be deleted, or of which the plan of a very large change has no text.
	Size int64 `json:"size,omitempty"`
	// Raw are the SHA-256 of its bytes before and after, in hexadecimal, "" for no file. No caller is told
	// them, because by that of a note with a secret in it guesses of the secret could be tried. It is nil where
	// the plan has no text of it: the digest of the change stands for them.
	Raw *[2]string `json:"-"`
}

// Rest counts the files of a change that its plan does not list, because it is so large. The zero Rest is none.
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

// Files is how many files they are.
func (r Rest) Files() int { return r.Deleted + r.Moved + r.Changed + r.Made }

// Plus returns both together.
func (r Rest) Plus(other Rest) Rest {
	return Rest{
		Deleted: r.Deleted + other.Deleted, Moved: r.Moved + other.Moved, Changed: r.Changed + other.Changed, Made: r.Made + other.Made,
		Size: r.Size + other.Size, Added: r.Added + other.Added, Removed: r.Removed + other.Removed,
	}
}

// Does says without any name or text of a note what a call does to files, such as "delete 1 note
// and change 2 notes". Where they are not known it is the name of the command.
func Does(command string, files []PlannedFile, rest Rest) string {
	verbs := [...]string{"delete", "move", "change", "create"}
	counts := [len(verbs)]int{rest.Deleted, rest.Moved, rest.Changed, rest.Made}
	thing := "note"
	if rest.Files() > 0 { // some of them may be none
		thing = "file"
	}
	for _, f := range files {
		switch {
		case f.From != "":
			counts[1]++
		case f.Before == "":
			counts[3]++
		case f.After == "":
			counts[0]++
		default:
			counts[2]++
		}
		if !strings.EqualFold(path.Ext(f.Path), ".md") {
			thing = "file"
		}
	}
	var parts []string
	for i, n := range counts {
		if n > 0 {
			parts = append(parts, verbs[i]+" "+sanitize.Counted(n, thing))
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

// told is what a message to the owner says of a question, such as "A client that calls itself “Cursor” asks to delete
// 1 note in Work". What a client calls itself is its own word, and is said to be that. Of names that others have chosen only letters, digits, dashes and spaces are in it: it is
// shown by other programs, which may have a meaning for the rest.
func (q Question) told(by Requester) string {
	plain := func(name, fallback string) string {
		name = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
			if unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark) || r == '-' || r == '_' {
				return r
			}
			return ' '
		}, name)), " ")
		return cmp.Or(excerpt.Clip(strings.TrimLeft(name, "-_ "), maxTold), fallback)
	}
	who := "A client that gives no name"
	agent := plain(ownerfiles.AgentOf(by.Caller), "")
	client := plain(by.Client, "")
	switch {
	case agent != "":
		who = "The agent " + agent
	case client != "":
		who = fmt.Sprintf("A client that calls itself “%s”", client)
	}
	return fmt.Sprintf(
		"%s asks to %s in %s",
		who,
		q.Does,
		plain(q.Vault, "the vault of the app"),
	)
}

const maxTold = 60 // bytes of a name

// Places are the paths that the change touches.
func (f PlannedFile) Places() []string {
	if f.From == "" {
		return []string{f.Path}
	}
	return []string{f.Path, f.From}
}

// Named shows a label and its values, with the word "to" between two.
func Named(label string, values ...string) Line {
	shown := make([]string, len(values))
	for i, value := range values {
		shown[i] = quoted(value)
	}
	return Line{Text: sanitize.Line(label) + ": " + strings.Join(shown, " to ")}
}

// quoted shows a name or a short value on one line. Of a long one it shows the
// ends: the first folders and the name of the note. A quotation mark in it is escaped, so
// that none ends the quotation.
func quoted(s string) string { return quotedIn(s, maxShownName) }

// quotedIn is [quoted] for a name of which at most limit bytes are shown.
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
