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
	// Caller is the HTTP session, all clients of one token, the process that serves standard input, or the
	// terminal; "" if unknown.
	Caller  string   `json:"caller,omitempty"`
	Client  string   `json:"client,omitempty"`
	Command string   `json:"command,omitempty"`
	Params  []string `json:"params,omitempty"` // the names of parameters, never their values
	Backend string   `json:"backend,omitempty"`
	// Batch is the id that all entries of a batch share; "" for a single change.
	Batch string `json:"batch,omitempty"`
	Grant string `json:"grant,omitempty"` // of the owner, which allowed the change; "" if none did
	// Proposal is the id of the agent's proposal that the owner accepted; "" if there was none.
	Proposal string `json:"proposal,omitempty"`
	// Parts are the ids of the entries of a batch that this entry carries out as a whole. Its steps have the
	// same result, one for each file, and its id is that of the batch. Queries return the parts instead of this
	// entry, unless the batch failed.
	Parts  []string `json:"parts,omitempty"`
	Undoes string   `json:"undoes,omitempty"` // id of the entry that this one undoes; usually ""
	// Also has further entries that this one undoes: the entries of a batch are undone together.
	Also []string `json:"also,omitempty"`
	Note string   `json:"note,omitempty"` // a short remark, such as why it failed
	// Folders are the folders that the change creates for its files, the highest first. Emptied are the folders
	// that it removes if nothing remains in them, the deepest first.
	Folders []string `json:"folders,omitempty"`
	Emptied []string `json:"emptied,omitempty"`
	// Free has the paths, without a file when the change was begun, at which the app may create the new note
	// instead.
	Free []string `json:"free,omitempty"`

	// Steps are the changes in order. Count is their number.
	Steps []Step `json:"-"`
	Count int    `json:"-"`

	// State and UndoneBy come from later records, which may also replace Note.
	State    State  `json:"-"`
	UndoneBy string `json:"-"` // id of the entry that undid this one, if known
}

// Undoable reports whether the entry can be undone: it is neither undone nor an undo.
func (e Entry) Undoable() bool { return e.State != Undone && e.Undoes == "" }

// isForParts reports whether queries return the parts of the entry instead of the entry itself.
func (e Entry) isForParts() bool { return len(e.Parts) > 0 && e.State != Failed }

// By returns a text about who made the change: the agent, and the name that the client program gives itself;
// "-" if neither is known.
func (e Entry) By() string {
	agent := ownerfiles.AgentOf(e.Caller)
	client := strings.Join(strings.Fields(e.Client), " ") // the text comes from the client
	if agent != "" && client != "" {
		return agent + " (" + client + ")"
	}
	return cmp.Or(agent, client, "-")
}

// SeenBy reports whether sees returns true for all paths of the entry. Otherwise the entry must not be shown.
func (e Entry) SeenBy(sees func(path string) bool) bool {
	return !slices.ContainsFunc(e.Steps, func(s Step) bool {
		return !sees(strings.TrimSuffix(s.Path, "/")) || !sees(strings.TrimSuffix(s.Source(), "/"))
	})
}

// TakesBack returns the ids of all entries that this one undoes.
func (e Entry) TakesBack() []string {
	if e.Undoes == "" {
		return nil
	}
	return append([]string{e.Undoes}, e.Also...)
}

// Step is the change of one file.
type Step struct {
	// Path ends with a slash if it is the path of a folder. A folder has the image of an empty file.
	Path string `json:"path"`
	// From is the earlier path of a moved file, "" if it is not moved; Before is then the content at From. If a
	// move replaces a file at Path, that file needs a step of its own.
	From   string `json:"from,omitempty"`
	Before Image  `json:"before,omitzero"`
	// Of has the other notes from which the text of the step was copied; nil for none.
	Of []Origin `json:"of,omitempty"`
	// After is the expected image, or the actual one once the outcome is known.
	After Image `json:"after,omitzero"`
	// Modified is the modification time of the file before the step, in Unix nanoseconds; 0 if unknown. It is
	// encoded as a string, because not every reader of JSON supports such large numbers.
	Modified int64 `json:"modified,omitempty,string"`
	// Sets is the modification time that the step sets, in Unix nanoseconds; 0 sets none.
	Sets int64 `json:"sets,omitempty,string"`
	// Mode has the permission bits of the file before the step; 0 if unknown.
	Mode uint32 `json:"mode,omitempty"`
	// Draft is the path of the temporary file that the step uses, "" for none. It has the new text until the
	// step is made, and afterwards what the step replaced or removed.
	Draft string `json:"draft,omitempty"`
	// Trash is the name in the vault's trash of the file that the step puts there or restores from there; ""
	// for none.
	Trash string `json:"trash,omitempty"`
}

// isPureMove reports whether a step moves a file without changing its bytes. The journal does not keep these.
func (s Step) isPureMove() bool { return s.From != "" && s.Before == s.After }

// creates reports whether a step creates a file at a path where there was none.
func (s Step) creates() bool { return !s.Before.Exists && s.After.Exists }

// Image identifies the bytes of a file. The zero Image stands for a missing file.
type Image struct {
	Exists bool   `json:"-"`
	Hash   string `json:"hash,omitempty"` // SHA-256 in hexadecimal; may be "" in an expected image
	Size   int64  `json:"size"`
}

// UnmarshalJSON decodes an image; null is the image of a missing file.
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

// State is the progress of a change. The zero State means that its outcome is unknown.
type State uint8

// The states. A change can only go to a later one, see mayFollow.
const (
	Begun State = iota
	Done
	Failed // possibly made in part
	Undone
)

var stateNames = [...]string{"begun", "done", "failed", "undone"}

// String returns the name that [ParseState] accepts.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "State(" + strconv.Itoa(int(s)) + ")"
}

// ParseState returns the state with the name.
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
	maxPath    = 4096    // the limit of operating systems
	maxName    = 256     // of sessions, clients, commands and parameters
	maxParams  = 64
	maxFolders = 10_000   // that a change creates or removes
	maxAlso    = 1 << 10  // a batch has at most a hundred operations
	maxNote    = 1 << 10  // a remark is a sentence
	maxListing = 64 << 20 // bytes of the encoded steps of an entry
)

// check returns an error if e does not fit into a record.
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
	names := []string{e.Session, e.Caller, e.Client, e.Command, e.Backend, e.Batch, e.Grant, e.Proposal}
	for _, name := range slices.Concat(names, e.Params) {
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
	isValid := i == Image{}
	if i.Exists {
		isValid = i.Size >= 0 && (i.Hash == "" || isHash(i.Hash))
	}
	if !isValid {
		return &Invalid{"image", i.Hash, "is not an image"}
	}
	return nil
}

// Source returns the path of the file whose bytes are Before.
func (s Step) Source() string {
	if s.From != "" {
		return s.From
	}
	return s.Path
}

// An id is a time in UTC and a random suffix, so that ids sort by time and two processes do not generate the
// same one.
const (
	idTime   = "20060102T150405.000000000Z"
	idRandom = 4 // hexadecimal digits
	idLength = len(idTime) + len("-") + idRandom
)

// NewID returns a new id for an entry that begins now.
func NewID(now time.Time) string {
	var random [idRandom / 2]byte
	_, _ = rand.Read(random[:]) // it never fails
	return now.UTC().Format(idTime) + "-" + hex.EncodeToString(random[:])
}

// ParseID returns the time in an id. It accepts only ids in the format of [NewID], so an id can be part of a
// file name.
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
