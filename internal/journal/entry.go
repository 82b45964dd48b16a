package journal

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Entry is one change of one or more notes.
type Entry struct {
	ID      string    `json:"-"` // see [NewID]
	Time    time.Time `json:"time"`
	Session string    `json:"session,omitempty"` // of the process that made the change
	// Caller is the HTTP session, the clients of one token, the process that serves standard
	// input, or the terminal; "" if unknown.
	Caller  string   `json:"caller,omitempty"`
	Client  string   `json:"client,omitempty"`
	Command string   `json:"command,omitempty"`
	Params  []string `json:"params,omitempty"` // the names of parameters, never their values
	Backend string   `json:"backend,omitempty"`
	// Batch is the same for all entries of one batch, "" for a single change.
	Batch string `json:"batch,omitempty"`
	Grant string `json:"grant,omitempty"` // of the owner that allowed the change, "" for another way
	// Proposal is that of an agent which the owner has taken the change from, "" for another way.
	Proposal string `json:"proposal,omitempty"`
	// Parts are the entries of the batch that this one makes as a whole: it has the steps that lead to the same, one for
	// each file, and its id is that of the batch. It stands for them only if it was made in part; otherwise questions
	// are answered from its parts.
	Parts  []string `json:"parts,omitempty"`
	Undoes string   `json:"undoes,omitempty"` // the entry that this one takes back, "" mostly
	// Also are further entries that this one undoes: those of a batch are undone together.
	Also []string `json:"also,omitempty"`
	Note string   `json:"note,omitempty"` // a short remark, such as why it failed
	// Folders are those that the change makes for its files, the highest first, and Emptied those that it
	// removes if nothing is left in them, the deepest first.
	Folders []string `json:"folders,omitempty"`
	Emptied []string `json:"emptied,omitempty"`
	// Free are the paths, without a file when the change was begun, at which the app may make its new note instead.
	Free []string `json:"free,omitempty"`

	// Steps are the changes in their order, and Count is how many there are.
	Steps []Step `json:"-"`
	Count int    `json:"-"`

	// What comes from later records, which may have another Note, too.
	State    State  `json:"-"`
	UndoneBy string `json:"-"` // the entry that took this one back, if it is known
}

// Undoable reports whether the entry can be taken back: it is not undone, and no undo.
func (e Entry) Undoable() bool { return e.State != Undone && e.Undoes == "" }

// isForParts reports whether the parts of the entry are what is asked for, and not the entry itself.
func (e Entry) isForParts() bool { return len(e.Parts) > 0 && e.State != Failed }

// By says who made the change: the agent, and the client program as it calls itself; "-" if
// neither is known.
func (e Entry) By() string {
	agent := ownerfiles.AgentOf(e.Caller)
	client := strings.Join(strings.Fields(e.Client), " ") // it is text of the client's
	if agent != "" && client != "" {
		return agent + " (" + client + ")"
	}
	return cmp.Or(agent, client, "-")
}

// SeenBy reports whether sees is true of all paths that the entry concerns; otherwise it must not
// be shown.
func (e Entry) SeenBy(sees func(path string) bool) bool {
	return !slices.ContainsFunc(e.Steps, func(s Step) bool {
		return !sees(strings.TrimSuffix(s.Path, "/")) || !sees(strings.TrimSuffix(s.Source(), "/"))
	})
}

// TakesBack returns the ids of all entries that this one takes back.
func (e Entry) TakesBack() []string {
	if e.Undoes == "" {
		return nil
	}
	return append([]string{e.Undoes}, e.Also...)
}

// Step is the change of one file.
type Step struct {
	// Path ends with a slash if it is that of a folder, which has the image of an empty file.
	Path string `json:"path"`
	// From is the earlier path of a moved file, "" if it is not moved; Before is then the content
	// there. A file that the move replaces at Path needs a step of its own.
	From   string `json:"from,omitempty"`
	Before Image  `json:"before,omitzero"`
	// Of are other notes that the text of the step was made of, nil for none.
	Of []Origin `json:"of,omitempty"`
	// After is what is expected, and what was found once the outcome is known.
	After Image `json:"after,omitzero"`
	// Modified is when the file was modified before the step, in Unix nanoseconds; 0 if that is
	// not known. It is text: not every reader of JSON has such numbers.
	Modified int64 `json:"modified,omitempty,string"`
	// Sets is what the file or folder gets as its time of modification, in Unix nanoseconds; 0 leaves it as it is.
	Sets int64 `json:"sets,omitempty,string"`
	// Mode are the permission bits of the file before the step, 0 if they are not known.
	Mode uint32 `json:"mode,omitempty"`
	// Draft is the path of the temporary file that the step uses: with the new text until it is made, with what it
	// replaces or removes after that; "" if it uses none.
	Draft string `json:"draft,omitempty"`
	// Trash is the name in the trash of the vault of the file that the step puts there or takes out of it, "" if it
	// does neither.
	Trash string `json:"trash,omitempty"`
}

// isPureMove reports whether a step leaves the bytes unchanged. They are not kept then.
func (s Step) isPureMove() bool { return s.From != "" && s.Before == s.After }

// creates reports whether there was nothing at the path of a step before it.
func (s Step) creates() bool { return !s.Before.Exists && s.After.Exists }

// Image names the bytes of a file. The zero Image is that of no file.
type Image struct {
	Exists bool   `json:"-"`
	Hash   string `json:"hash,omitempty"` // the SHA-256 in hexadecimal; in what is expected it may be ""
	Size   int64  `json:"size"`
}

// UnmarshalJSON reads an image; null is that of no file.
func (i *Image) UnmarshalJSON(text []byte) error {
	type fields Image
	i.Exists = string(text) != "null"
	return json.Unmarshal(text, (*fields)(i))
}

// ImageOf returns the image of a file with these bytes.
func ImageOf(content []byte) Image {
	sum := sha256.Sum256(content)
	return Image{Exists: true, Hash: hex.EncodeToString(sum[:]), Size: int64(len(content))}
}

// State is how far a change has come. Of the zero State only the beginning is known.
type State uint8

// The states, in the order in which they may follow each other.
const (
	Begun State = iota
	Done
	Failed // it may have been done in part
	Undone
)

var stateNames = [...]string{"begun", "done", "failed", "undone"}

// String returns the name that [ParseState] takes.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "State(" + strconv.Itoa(int(s)) + ")"
}

// ParseState returns the state of that name.
func ParseState(name string) (State, error) {
	for i, known := range stateNames {
		if name == known {
			return State(i), nil
		}
	}
	return 0, &Invalid{"state", name, "is not a state"}
}

// mayFollow reports whether s is a valid outcome after the state before.
func (s State) mayFollow(before State) bool {
	switch s {
	case Done, Failed:
		return before == Begun
	case Undone:
		return before != Undone
	}
	return false
}

const (
	maxSteps   = 200_000 // a move may rewrite the links of every note
	maxPath    = 4096    // what systems take
	maxName    = 256     // of sessions, clients, commands, parameters
	maxParams  = 64
	maxFolders = 10_000   // that a change makes or removes beside its steps
	maxAlso    = 1 << 10  // a batch has a hundred operations
	maxNote    = 1 << 10  // a remark is a sentence
	maxListing = 64 << 20 // of the steps of an entry, as they are written
)

// check returns an error unless a record can hold e.
func (e Entry) check() error {
	if _, err := ParseID(e.ID); err != nil {
		return err
	}
	for _, id := range e.TakesBack() {
		if _, err := ParseID(id); err != nil {
			return err
		}
	}
	for _, id := range e.Parts {
		if _, err := ParseID(id); err != nil {
			return err
		}
	}
	if len(e.Parts) > maxAlso {
		return &TooLarge{"the number of entries of a batch", maxAlso}
	}
	if len(e.Also) > maxAlso {
		return &TooLarge{"the number of entries that are taken back", maxAlso}
	}
	if e.State != Begun || e.UndoneBy != "" {
		return &Invalid{"state", e.State.String(), "is not how an entry begins"}
	}
	if len(e.Params) > maxParams {
		return &TooLarge{"the number of parameters", maxParams}
	}
	if len(e.Steps) > maxSteps {
		return &TooLarge{"the number of steps", maxSteps}
	}
	for _, name := range append([]string{e.Session, e.Caller, e.Client, e.Command, e.Backend, e.Batch, e.Grant, e.Proposal}, e.Params...) {
		if err := checkText("name", name, maxName); err != nil {
			return err
		}
	}
	if err := checkText("note", e.Note, maxNote); err != nil {
		return err
	}
	if len(e.Folders) > maxFolders || len(e.Emptied) > maxFolders {
		return &TooLarge{"the number of folders", maxFolders}
	}
	for _, folder := range slices.Concat(e.Folders, e.Emptied) {
		if err := checkText("folder", folder, maxPath); err != nil {
			return err
		}
	}
	for _, step := range e.Steps {
		if err := step.check(); err != nil {
			return err
		}
	}
	return nil
}

func checkText(field, text string, limit int) error {
	if !utf8.ValidString(text) {
		return &Invalid{field, text, "is not UTF-8"}
	}
	if len(text) > limit {
		return &TooLarge{fmt.Sprintf("%s %.50q", field, text), int64(limit)}
	}
	return nil
}

func (s Step) check() error {
	if s.Path == "" {
		return &Invalid{"path", "", "is empty"}
	}
	for _, path := range []string{s.Path, s.From, s.Draft, s.Trash} {
		if err := checkText("path", path, maxPath); err != nil {
			return err
		}
	}
	if len(s.Of) > maxOrigins {
		return &TooLarge{"the number of notes that a text was made of", maxOrigins}
	}
	for _, origin := range s.Of {
		if len(origin.Marks) > maxMarks {
			return &TooLarge{"the number of marks", maxMarks}
		}
		for _, text := range append([]string{origin.Path}, origin.Marks...) {
			if err := checkText("origin", text, maxPath); err != nil {
				return err
			}
		}
	}
	if s.Before.Exists && s.Before.Size > maxObject && !s.isPureMove() {
		return &TooLarge{fmt.Sprintf("%.100q", s.Path), maxObject}
	}
	if s.Before.Exists && s.Before.Hash == "" {
		return &Invalid{"image", s.Path, "has no hash"}
	}
	if err := s.Before.check(); err != nil {
		return err
	}
	return s.After.check()
}

func (i Image) check() error {
	sound := i == Image{}
	if i.Exists {
		sound = i.Size >= 0 && (i.Hash == "" || isHash(i.Hash))
	}
	if !sound {
		return &Invalid{"image", i.Hash, "is not an image"}
	}
	return nil
}

// Source says where the bytes of Before are.
func (s Step) Source() string {
	if s.From != "" {
		return s.From
	}
	return s.Path
}

// An id is a moment in UTC and a random suffix, so that ids sort by
// time and two processes do not make the same.
const (
	idTime   = "20060102T150405.000000000Z"
	idRandom = 4 // hexadecimal digits
	idLength = len(idTime) + len("-") + idRandom
)

// NewID makes the id of an entry that begins now.
func NewID(now time.Time) string {
	var random [idRandom / 2]byte
	_, _ = rand.Read(random[:]) // it never fails
	return now.UTC().Format(idTime) + "-" + hex.EncodeToString(random[:])
}

// ParseID returns the time in an id. It takes nothing but what [NewID] makes, so
// an id can be part of a file name.
func ParseID(id string) (time.Time, error) {
	if len(id) != idLength {
		return time.Time{}, &Invalid{"id", id, "is not the id of an entry"}
	}
	moment := id[:len(idTime)]
	random := id[len(idTime):]
	t, err := time.Parse(idTime, moment)
	isMoment := err == nil && t.Format(idTime) == moment
	isRandom := random[0] == '-' && isHex(random[1:])
	if !isMoment || !isRandom {
		return time.Time{}, &Invalid{"id", id, "is not the id of an entry"}
	}
	return t, nil
}
