// Package protocol is the private protocol of the embedded program: what the gateway asks it on its standard
// input, and what it answers on its standard output. A process for one call is spoken to as the resident
// worker is: it takes one [Request] and ends. Both sides are the same binary, so the protocol may
// change with every release; the handshake refuses a binary that was replaced meanwhile.
//
// A [Request] says what is asked, a [Reply] how it ended. They, and nothing else, join the two programs:
// a command line that a person types is read into the same Request. Between them the bytes of an answer
// pass without escapes, in frames. Every frame has a bounded length, which is checked before
// anything is read or allocated for it.
package protocol

import (
	"cmp"
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf8"
)

// Version is the version of the protocol. The form of a [Hello] never changes.
const Version = 13

// Request is what is asked of the embedded program.
type Request struct {
	Ask     Ask
	Vault   *string  // the name or id by which the caller knows the vault, nil if he gave none
	Command string   // the name of a command
	Args    []string // its parameters as they are typed; or the paths or the tags of a question about notes
	// Input is the parameter whose value follows in frames of its own and is taken literally, "" for none.
	Input string
	Write Write
	Want  Want
	Batch Batch // that the call is an operation of, if that is planned before it is made; the zero Batch for none
}

// Batch is an atomic batch whose operations are worked out one after the other, each on the vault as those before it will
// leave it, and are then made together.
type Batch struct {
	ID      string
	Planned int // operations so far that change something
}

// Ask says what is asked.
type Ask uint8

// What can be asked.
const (
	AskCommand  Ask = iota // to carry out a command
	AskNarrowed            // which of the notes at some paths, or of all, narrow access to themselves, and to which level
	AskMarked              // which notes have one of some tags, or for "private" narrow access to themselves

	lastAsk = AskMarked
)

// Write says how a command that writes is carried out.
type Write struct {
	Allowed   bool // something may be changed; without it a command that writes is refused, unless it is only planned
	Task      Task
	Entry     string    // id of the entry in the journal, "" for a new one
	Expect    string    // the hash that the note must have, "" for any
	Approved  string    // the digest of the change that a user was shown, from its plan, "" for any
	Caller    string    // who makes the change, for the journal and the right to undo; "" if unknown
	Client    string    // the name that the client gave, "" for none
	Batch     string    // shared by all calls of a batch, "" for a single one
	Grant     string    // the grant of the owner that allows it, for the journal; "" for none
	Proposal  string    // the proposal of an agent that the owner has taken it from, for the journal; "" for none
	Alone     bool      // the caller has the lock of the journal
	Sparing   bool      // refuses a change that removes so much that it requires approval
	Addresses Addresses // what is done about text of another note in an address that is added
	// Restores says in words which version of a history of the app a call restores, "" for one of the journal. The
	// text of the version is then the input, in place of the value of a parameter.
	Restores string
	// Rests are the notes whose texts the operations of a batch have taken from the vault: for each its hash and its path, with a
	// NUL behind either. An empty hash and path stand for more than one note.
	Rests string
}

// VersionInput is the input of a request that restores a version of a history of the app. No parameter has this name.
const VersionInput = "the text of the version"

// Task is a part of carrying out a change.
type Task uint8

// The tasks.
const (
	Whole    Task = iota // carries out the call
	Plan                 // works out what the call would change, and changes nothing
	Rehearse             // does the same as an operation of a batch, whose next operations see it
	Begin                // does the same and records it in the journal, for a call that another program carries out
	End                  // compares the files with that record, and writes the outcome to the journal
	Sum                  // shows what the operations of the batch were worked out to do together; the call is any of them
	Commit               // makes what they were worked out to do
	Drop                 // forgets the operations of the batch

	lastTask = Drop
)

// Makes reports whether a call with this task may change something, in the vault or in the journal.
func (t Task) Makes() bool {
	switch t {
	case Plan, Rehearse, Sum, Drop:
		return false
	}
	return true
}

// Addresses says what is done about text of another note in an address that a change adds.
type Addresses uint8

// What can be done.
const (
	AddressesPass Addresses = iota // nothing is looked for
	AddressesAsk                   // it makes a change destructive
	AddressesLog                   // it is only reported

	lastAddresses = AddressesLog
)

// Want is what the caller wants back besides the output.
type Want struct {
	Facts   bool   // what the answer is about, for the gateway, whose answers agents read
	Compact bool   // a listing in JSON without the space between its tokens
	Unless  string // the state of the index from which nothing is to be answered, "" for none
	Millis  int    // the time limit of the call, in milliseconds; 0 if it is not known
}

// Reply is how a request ended. The output was sent before it.
type Reply struct {
	Status  uint8   // exit status of the call
	Unrun   bool    // nothing was begun: this worker takes no more calls, another one may be asked
	Last    bool    // the program ends now
	Facts   Facts   // of a call that succeeded, if they are wanted
	Failure Failure // of one that failed
	Partly  *Partly // of a change that was made in part, nil for others
	Panic   string  // the bug that the program died by, with its stack; "" for none
}

// Facts are what the embedded program reports about the answer of a successful call, so that the
// gateway need not parse it.
type Facts struct {
	Path      string  `json:"path"`
	Hash      string  `json:"hash"`                // of the content, "" if the note does not exist
	Part      string  `json:"part,omitempty"`      // hash of the section, block or line that was printed
	Before    *string `json:"before,omitempty"`    // hash before the call: nil if nothing was written, "" if the note was created
	Change    string  `json:"change,omitempty"`    // id of the journal entry, "" if nothing was written
	Added     int     `json:"added,omitempty"`     // lines in all files
	Removed   int     `json:"removed,omitempty"`   // lines in all files
	Loses     bool    `json:"loses,omitempty"`     // the change was destructive, whatever its command is
	Overtaken bool    `json:"overtaken,omitempty"` // another program changed the note right after the call
	Nothing   bool    `json:"nothing,omitempty"`   // the call asked for what is there already: no byte was changed
	Planned   int     `json:"planned,omitempty"`   // operations of the batch so far, see [Batch]
	Stale     bool    `json:"stale,omitempty"`     // nothing of the batch was made: its operations are to be worked out anew
	Unread    int     `json:"unread,omitempty"`    // notes and folders that could not be read for the answer
	Ambiguous bool    `json:"ambiguous,omitempty"` // the name of the note is that of other files, too; the notice names them
	LineEnds  bool    `json:"lineEnds,omitempty"`  // the text was converted to the line ends of the note
	Image     string  `json:"image,omitempty"`     // media type of an image, "" for none; its bytes are the last line of the answer, in base64
	State     string  `json:"state,omitempty"`     // of the index that the answer depends on, "" if it depends on more
	Closed    string  `json:"closed,omitempty"`    // which notes their own texts close; "" for none
	Unchanged bool    `json:"unchanged,omitempty"` // the state is the one that was asked about, and nothing was answered
	Rows      int     `json:"rows,omitempty"`      // of a listing; 0 if it has none, or is no listing
	Notice    string  `json:"notice,omitempty"`    // a remark: why the answer is empty, or how a query was read; no text of a note
}

// Failure is what the embedded program reports about a call that failed. The zero Failure is none.
type Failure struct {
	Code   string `json:"code,omitempty"`
	Hint   string `json:"hint,omitempty"`
	Reason string `json:"reason,omitempty"` // the first line of the error text, at most [MaxReason] bytes
}

// Partly are the files of a change that was made in part.
type Partly struct {
	Made   []string // paths of files that it changed
	Unmade []string // paths of files that are as before it, or as another program has made them
	Left   int      // how many files are in neither list, which are bounded
}

// maxPartly bounds each list of a [Partly], in bytes.
const maxPartly = 64 << 10

// bounded returns the lists cut to their bound.
func (p *Partly) bounded() *Partly {
	if p == nil {
		return nil
	}
	made := within(p.Made, maxPartly)
	unmade := within(p.Unmade, maxPartly)
	left := p.Left + len(p.Made) - len(made) + len(p.Unmade) - len(unmade)
	return &Partly{made, unmade, left}
}

// fields passes over all that a Partly has.
func (p *Partly) fields(f *form) {
	f.list(&p.Made)
	f.list(&p.Unmade)
	f.number(&p.Left)
}

// within returns the first texts of a list that have so many bytes together.
func within(all []string, bytes int) []string {
	for i, text := range all {
		if bytes -= len(text); bytes < 0 {
			return all[:i]
		}
	}
	return all
}

// MaxReason bounds the reason of a Failure, so that a report stays short.
const MaxReason = 256

// The longest texts of a Reply that nothing else bounds. What is longer is cut.
const (
	maxNotice = 64 << 10
	maxPanic  = 64 << 10
)

// short returns the failure with a reason of one line, within its bound.
func (f Failure) short() Failure {
	f.Reason, _, _ = strings.Cut(f.Reason, "\n")
	f.Reason = cut(f.Reason, MaxReason)
	return f
}

// cut returns the beginning of a text, in whole characters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// NewFailure returns a Failure that says the first line of a text.
func NewFailure(code, hint, text string) Failure {
	return Failure{Code: code, Hint: hint, Reason: text}.short()
}

// fields passes over all that a Request has.
func (q *Request) fields(f *form) {
	f.choice((*uint8)(&q.Ask), uint8(lastAsk))
	f.optional(&q.Vault)
	f.text(&q.Command)
	f.list(&q.Args)
	f.text(&q.Input)
	f.flag(&q.Write.Allowed)
	f.choice((*uint8)(&q.Write.Task), uint8(lastTask))
	f.text(&q.Write.Entry)
	f.text(&q.Write.Expect)
	f.text(&q.Write.Approved)
	f.text(&q.Write.Caller)
	f.text(&q.Write.Client)
	f.text(&q.Write.Batch)
	f.text(&q.Write.Grant)
	f.text(&q.Write.Proposal)
	f.flag(&q.Write.Alone)
	f.flag(&q.Write.Sparing)
	f.choice((*uint8)(&q.Write.Addresses), uint8(lastAddresses))
	f.text(&q.Write.Restores)
	f.text(&q.Write.Rests)
	f.flag(&q.Want.Facts)
	f.flag(&q.Want.Compact)
	f.text(&q.Want.Unless)
	f.number(&q.Want.Millis)
	f.text(&q.Batch.ID)
	f.number(&q.Batch.Planned)
}

// fields passes over all that a Reply has.
func (r *Reply) fields(f *form) {
	f.choice(&r.Status, math.MaxUint8)
	f.flag(&r.Unrun)
	f.flag(&r.Last)
	f.text(&r.Facts.Path)
	f.text(&r.Facts.Hash)
	f.text(&r.Facts.Part)
	f.optional(&r.Facts.Before)
	f.text(&r.Facts.Change)
	f.number(&r.Facts.Added)
	f.number(&r.Facts.Removed)
	f.flag(&r.Facts.Loses)
	f.flag(&r.Facts.Overtaken)
	f.flag(&r.Facts.Nothing)
	f.number(&r.Facts.Planned)
	f.flag(&r.Facts.Stale)
	f.number(&r.Facts.Unread)
	f.flag(&r.Facts.Ambiguous)
	f.flag(&r.Facts.LineEnds)
	f.text(&r.Facts.Image)
	f.text(&r.Facts.State)
	f.text(&r.Facts.Closed)
	f.flag(&r.Facts.Unchanged)
	f.number(&r.Facts.Rows)
	f.text(&r.Facts.Notice)
	f.text(&r.Failure.Code)
	f.text(&r.Failure.Hint)
	f.text(&r.Failure.Reason)
	f.text(&r.Panic)
	isPartly := r.Partly != nil
	f.flag(&isPartly)
	if isPartly {
		r.Partly = cmp.Or(r.Partly, &Partly{})
		r.Partly.fields(f)
	}
}

// AppendRequest appends q to b as a frame. ok is false if it is longer than MaxRequest.
func AppendRequest(b []byte, id uint32, q Request) (out []byte, ok bool) {
	return appendMessage(b, KindRequest, id, q.fields)
}

// ParseRequest reads a frame of that kind.
func ParseRequest(f Frame) (q Request, err error) {
	err = parseMessage(f, q.fields)
	return q, err
}

// fields passes over all that a Progress has. Operations are counted by the gateway and not sent.
func (p *Progress) fields(f *form) {
	changed := p.Of == FilesChanged
	f.flag(&changed)
	p.Of = FilesRead
	if changed {
		p.Of = FilesChanged
	}
	f.number(&p.Total)
	p.Done = int(f.size(uint64(p.Done), uint64(p.Total)))
}

// AppendProgress appends p to b as a frame.
func AppendProgress(b []byte, id uint32, p Progress) []byte {
	b, _ = appendMessage(b, KindProgress, id, p.fields)
	return b
}

// ParseProgress reads a frame of that kind.
func ParseProgress(f Frame) (p Progress, err error) {
	err = parseMessage(f, p.fields)
	return p, err
}

// AppendReply appends r to b as a frame. What is too long of it is cut.
func AppendReply(b []byte, id uint32, r Reply) []byte {
	r.Failure, r.Partly = r.Failure.short(), r.Partly.bounded()
	r.Facts.Notice, r.Panic = cut(r.Facts.Notice, maxNotice), cut(r.Panic, maxPanic)
	b, _ = appendMessage(b, KindReply, id, r.fields) // names of files and hashes fit
	return b
}

// ParseReply reads a frame of that kind.
func ParseReply(f Frame) (r Reply, err error) {
	err = parseMessage(f, r.fields)
	return r, err
}

// AppendChanging appends to b the frame that says that a request begins to change files, and how many.
func AppendChanging(b []byte, id uint32, files int) []byte {
	b, _ = appendMessage(b, KindChanging, id, func(f *form) { f.number(&files) })
	return b
}

// ParseChanging reads a frame of that kind.
func ParseChanging(f Frame) (files int, err error) {
	err = parseMessage(f, func(f *form) { f.number(&files) })
	return files, err
}

// AppendMore appends to b the frame that lets a request send so many further bytes of output.
func AppendMore(b []byte, id uint32, bytes int64) []byte {
	return Append(b, Frame{Kind: KindMore, ID: id, Payload: binary.BigEndian.AppendUint64(nil, uint64(bytes))})
}

// ParseMore reads a frame of that kind.
func ParseMore(f Frame) (bytes int64, err error) {
	if len(f.Payload) != maxMore || f.Payload[0] > math.MaxInt8 {
		return 0, Malformedf("sent a frame of kind %d in another form", f.Kind)
	}
	return int64(binary.BigEndian.Uint64(f.Payload)), nil
}

func appendMessage(b []byte, kind Kind, id uint32, fields func(*form)) (out []byte, ok bool) {
	start := len(b)
	writer := form{out: Append(b, Frame{Kind: kind, ID: id})}
	fields(&writer)
	size := len(writer.out) - start - headSize
	binary.BigEndian.PutUint32(writer.out[start:], uint32(size))
	return writer.out, size <= bounds[kind]
}

func parseMessage(frame Frame, fields func(*form)) error {
	reader := form{reading: true, in: string(frame.Payload)}
	fields(&reader)
	if reader.broken || reader.in != "" {
		return Malformedf("sent a frame of kind %d in another form", frame.Kind)
	}
	return nil
}

// form passes over the fields of a message, in the same order at both ends: one that writes appends each
// to out, one that reads takes each from in, and is broken if it is not there.
type form struct {
	reading bool
	out     []byte
	in      string
	broken  bool
}

// size passes over a number up to a bound.
func (f *form) size(n uint64, most uint64) uint64 {
	if !f.reading {
		f.out = binary.AppendUvarint(f.out, n)
		return n
	}
	n = 0
	for i := 0; i < min(len(f.in), binary.MaxVarintLen32); i++ {
		n |= uint64(f.in[i]&0x7f) << (7 * i)
		if f.in[i] >= 0x80 {
			continue
		}
		f.in = f.in[i+1:]
		if n > most {
			break
		}
		return n
	}
	f.broken = true
	f.in = ""
	return 0
}

func (f *form) number(n *int) { *n = int(f.size(uint64(*n), math.MaxInt32)) }

// choice passes over a value up to the last one.
func (f *form) choice(n *uint8, last uint8) { *n = uint8(f.size(uint64(*n), uint64(last))) }

func (f *form) flag(set *bool) {
	bit := uint8(0)
	if *set {
		bit = 1
	}
	f.choice(&bit, 1)
	*set = bit == 1
}

func (f *form) text(s *string) {
	n := f.size(uint64(len(*s)), uint64(len(f.in)))
	if !f.reading {
		f.out = append(f.out, *s...)
		return
	}
	if n > uint64(len(f.in)) { // without the bytes of its length
		f.broken = true
		f.in = ""
		return
	}
	*s = f.in[:n]
	f.in = f.in[n:]
}

// optional passes over a text that may be missing.
func (f *form) optional(s **string) {
	given := *s != nil
	if f.flag(&given); !given {
		return
	}
	if *s == nil {
		*s = new(string)
	}
	f.text(*s)
}

// list passes over texts. No more are made than there are bytes.
func (f *form) list(all *[]string) {
	n := f.size(uint64(len(*all)), uint64(len(f.in)))
	if f.reading && n > 0 {
		*all = make([]string, n)
	}
	for i := range *all {
		f.text(&(*all)[i])
	}
}
