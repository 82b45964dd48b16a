// Package protocol is the private protocol between the gateway and the embedded program: requests on
// its standard input, answers on its standard output. A process for a single call speaks the same
// protocol as the resident worker: it reads one [Request] and exits. Both sides are the same binary,
// so the protocol may change with every release; the handshake rejects a binary that was replaced
// in the meantime.
//
// A [Request] describes a call, a [Reply] its outcome. Nothing else connects the two programs: a
// command line that a person types is parsed into the same Request. Before the reply, the output is
// sent in frames, as raw bytes. Every frame has a maximum length, which is checked before anything
// is read or allocated for it.
package protocol

import (
	"cmp"
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf8"
)

// Version is the version of the protocol. The encoding of a [Hello] never changes.
const Version = 13

// Request asks the embedded program to carry out a command, or to answer a question about notes.
type Request struct {
	Ask     Ask
	Vault   *string  // the name or id of the vault that the caller gave, nil if none
	Command string   // the name of a command
	Args    []string // its parameters as they are typed; or the paths or tags of a question about notes
	// Input is the parameter whose value follows in frames of its own and is used literally, "" for
	// none.
	Input string
	Write Write
	Want  Want
	// Batch is the batch of which the call is an operation, if the batch is planned before it is
	// applied; zero for none.
	Batch Batch
}

// Batch identifies an atomic batch. Its operations are planned one after the other, each on the vault
// as the earlier ones will leave it, and are then applied together.
type Batch struct {
	ID      string
	Planned int // operations planned so far that change something
}

// Ask is the kind of a request.
type Ask uint8

// Kinds of requests.
const (
	AskCommand  Ask = iota // carry out a command
	AskNarrowed            // which notes at the given paths, or of all, restrict access to themselves, and to which level
	AskMarked              // which notes have one of the given tags, or for "private" restrict access to themselves

	lastAsk = AskMarked
)

// Unread is in place of a level in the answer to [AskNarrowed], for a note or folder that cannot be read. It counts as no
// access.
const Unread = "unread"

// Write controls how a command that writes is carried out.
type Write struct {
	Allowed   bool // permits changes; without it a command that writes is refused, unless it is only planned
	Task      Task
	Entry     string    // id of the entry in the journal, "" for a new one
	Expect    string    // the hash that the note must have, "" for any
	Approved  string    // digest, from the plan, of the change that the user was shown; "" for any
	Caller    string    // who makes the change, for the journal and the right to undo; "" if unknown
	Client    string    // the name that the client gave, "" for none
	Batch     string    // id that all calls of any batch share, "" for a single call; see also [Request.Batch]
	Grant     string    // id of the owner's grant that allows the change, for the journal; "" for none
	Proposal  string    // id of the agent's proposal that the owner accepted, for the journal; "" for none
	Alone     bool      // the caller holds the lock of the journal
	Sparing   bool      // refuse a change that removes so much that it requires approval
	Addresses Addresses // what to do if an added URL contains text of another note
	// Restores describes the version in the app's file history that the call restores; "" for a version
	// in the journal. The text of that version is then the input, in place of a parameter's value.
	Restores string
	// Rests encodes the notes whose text the operations of a batch took from the vault: the hash and the
	// path of each, both followed by a NUL. An empty hash and path stand for more than one note.
	Rests string
}

// VersionInput is the value of Input in a request that restores a version in the app's file history.
// No parameter has this name.
const VersionInput = "the text of the version"

// Task is the step of carrying out a change that a request asks for.
type Task uint8

// Whole, Plan, Begin and End are steps of a call; Rehearse, Sum, Commit and Drop those of an atomic batch, see [Batch].
const (
	Whole    Task = iota // carry out the call
	Plan                 // plan the call, and change nothing
	Rehearse             // plan the call as an operation of a batch, so that later operations see its result
	Begin                // plan the call and record it in the journal, for a call that another program carries out
	End                  // compare the files with that record, and write the outcome to the journal
	Sum                  // show the combined change of all planned operations; the call is any one of them
	Commit               // apply the planned operations of the batch
	Drop                 // discard the planned operations of the batch

	lastTask = Drop
)

// Makes reports whether a call with this task may change the vault or the journal.
func (t Task) Makes() bool {
	switch t {
	case Plan, Rehearse, Sum, Drop:
		return false
	}
	return true
}

// Addresses selects what to do if a URL that a change adds contains text of another note.
type Addresses uint8

// Treatments of such a URL.
const (
	AddressesPass Addresses = iota // do not search URLs
	AddressesAsk                   // count the change as destructive
	AddressesLog                   // only report it

	lastAddresses = AddressesLog
)

// Want selects what the caller wants besides the output.
type Want struct {
	Facts   bool   // include Facts in the reply
	Compact bool   // omit white space between the tokens of JSON listings
	Unless  string // send no output if the index is still in this state, "" for none
	Millis  int    // time limit of the call in milliseconds; 0 if unknown
}

// Reply is the outcome of a request. It follows the output.
type Reply struct {
	Status  uint8   // exit status of the call
	Unrun   bool    // the call was not started: this worker accepts no more calls, another one may
	Last    bool    // the program exits after this reply
	Facts   Facts   // facts about a successful call, if requested
	Failure Failure // the failure of a failed call
	Partly  *Partly // the files of a change that was only made in part, nil otherwise
	Panic   string  // message and stack of a panic that ended the program, "" for none
}

// Facts describes the answer of a successful call, so that the gateway need not parse the answer.
type Facts struct {
	Path      string  `json:"path"`
	Hash      string  `json:"hash"`                // of the content, "" if the note does not exist
	Part      string  `json:"part,omitempty"`      // hash of the section, block or line that the answer shows
	Before    *string `json:"before,omitempty"`    // hash before the call: nil if nothing was written, "" if the note was created
	Change    string  `json:"change,omitempty"`    // id of the journal entry, "" if nothing was written
	Added     int     `json:"added,omitempty"`     // lines in all files
	Removed   int     `json:"removed,omitempty"`   // lines in all files
	Loses     bool    `json:"loses,omitempty"`     // the change was destructive, whatever the command
	Overtaken bool    `json:"overtaken,omitempty"` // another program changed the note right after the call
	Nothing   bool    `json:"nothing,omitempty"`   // the vault was already as the call wanted it: no byte was changed
	Planned   int     `json:"planned,omitempty"`   // operations of the batch planned so far, see [Batch]
	Stale     bool    `json:"stale,omitempty"`     // nothing of the batch was applied: its operations must be planned again
	Unread    int     `json:"unread,omitempty"`    // notes and folders that could not be read for the answer
	Ambiguous bool    `json:"ambiguous,omitempty"` // other files have the same name as the note; the notice lists them
	LineEnds  bool    `json:"lineEnds,omitempty"`  // the text was converted to the line endings of the note
	Image     string  `json:"image,omitempty"`     // media type of an image, "" for none; its bytes are the last line of the answer, in base64
	State     string  `json:"state,omitempty"`     // state of the index, "" if the answer depends on more than the index
	Closed    string  `json:"closed,omitempty"`    // digest of the paths of the notes that hide themselves, "" for none
	Unchanged bool    `json:"unchanged,omitempty"` // the index is still in the state Want.Unless, and no output was sent
	Rows      int     `json:"rows,omitempty"`      // rows of a listing; 0 if it is empty or not a listing
	Notice    string  `json:"notice,omitempty"`    // why the answer is empty, or how a query was interpreted; contains no note text
}

// Failure describes why a call failed. The zero Failure means that it did not.
type Failure struct {
	Code   string `json:"code,omitempty"`
	Hint   string `json:"hint,omitempty"`
	Reason string `json:"reason,omitempty"` // the first line of the error text, at most [MaxReason] bytes
}

// Partly lists the files of a change that was only made in part.
type Partly struct {
	Made   []string // paths of files that the change was applied to
	Moved  []string // those of Made that are only moved, and have the old text
	Unmade []string // paths of files that are unchanged, or that another program has changed
	Left   int      // number of files omitted from the lists, which are bounded
}

// maxPartly bounds each list of a [Partly], in bytes.
const maxPartly = 64 << 10

// bounded returns p with its lists shortened to maxPartly.
func (p *Partly) bounded() *Partly {
	if p == nil {
		return nil
	}
	made := within(p.Made, maxPartly)
	moved := within(p.Moved, maxPartly)
	unmade := within(p.Unmade, maxPartly)
	left := p.Left + len(p.Made) - len(made) + len(p.Unmade) - len(unmade)
	return &Partly{Made: made, Moved: moved, Unmade: unmade, Left: left}
}

// fields codes all fields of a Partly.
func (p *Partly) fields(c *codec) {
	c.list(&p.Made)
	c.list(&p.Moved)
	c.list(&p.Unmade)
	c.number(&p.Left)
}

// within returns the longest prefix of a list whose texts together have at most limit bytes.
func within(texts []string, limit int) []string {
	total := 0
	for i, text := range texts {
		total += len(text)
		if total > limit {
			return texts[:i]
		}
	}
	return texts
}

// MaxReason bounds the reason of a Failure, so that a report stays short.
const MaxReason = 256

// Maximum lengths, in bytes, of texts in a Reply that nothing else bounds. Longer texts are truncated.
const (
	maxNotice = 64 << 10
	maxPanic  = 64 << 10
)

// short returns the failure with its reason shortened to one line of at most MaxReason bytes.
func (f Failure) short() Failure {
	f.Reason, _, _ = strings.Cut(f.Reason, "\n")
	f.Reason = cut(f.Reason, MaxReason)
	return f
}

// cut shortens a text to at most the given number of bytes, at a character boundary.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// NewFailure returns a Failure whose reason is the first line of text.
func NewFailure(code, hint, text string) Failure {
	return Failure{Code: code, Hint: hint, Reason: text}.short()
}

// fields codes all fields of a Request.
func (q *Request) fields(c *codec) {
	c.choice((*uint8)(&q.Ask), uint8(lastAsk))
	c.optional(&q.Vault)
	c.text(&q.Command)
	c.list(&q.Args)
	c.text(&q.Input)
	c.flag(&q.Write.Allowed)
	c.choice((*uint8)(&q.Write.Task), uint8(lastTask))
	c.text(&q.Write.Entry)
	c.text(&q.Write.Expect)
	c.text(&q.Write.Approved)
	c.text(&q.Write.Caller)
	c.text(&q.Write.Client)
	c.text(&q.Write.Batch)
	c.text(&q.Write.Grant)
	c.text(&q.Write.Proposal)
	c.flag(&q.Write.Alone)
	c.flag(&q.Write.Sparing)
	c.choice((*uint8)(&q.Write.Addresses), uint8(lastAddresses))
	c.text(&q.Write.Restores)
	c.text(&q.Write.Rests)
	c.flag(&q.Want.Facts)
	c.flag(&q.Want.Compact)
	c.text(&q.Want.Unless)
	c.number(&q.Want.Millis)
	c.text(&q.Batch.ID)
	c.number(&q.Batch.Planned)
}

// fields codes all fields of a Reply.
func (r *Reply) fields(c *codec) {
	c.choice(&r.Status, math.MaxUint8)
	c.flag(&r.Unrun)
	c.flag(&r.Last)
	c.text(&r.Facts.Path)
	c.text(&r.Facts.Hash)
	c.text(&r.Facts.Part)
	c.optional(&r.Facts.Before)
	c.text(&r.Facts.Change)
	c.number(&r.Facts.Added)
	c.number(&r.Facts.Removed)
	c.flag(&r.Facts.Loses)
	c.flag(&r.Facts.Overtaken)
	c.flag(&r.Facts.Nothing)
	c.number(&r.Facts.Planned)
	c.flag(&r.Facts.Stale)
	c.number(&r.Facts.Unread)
	c.flag(&r.Facts.Ambiguous)
	c.flag(&r.Facts.LineEnds)
	c.text(&r.Facts.Image)
	c.text(&r.Facts.State)
	c.text(&r.Facts.Closed)
	c.flag(&r.Facts.Unchanged)
	c.number(&r.Facts.Rows)
	c.text(&r.Facts.Notice)
	c.text(&r.Failure.Code)
	c.text(&r.Failure.Hint)
	c.text(&r.Failure.Reason)
	c.text(&r.Panic)
	isPartly := r.Partly != nil
	c.flag(&isPartly)
	if isPartly {
		r.Partly = cmp.Or(r.Partly, &Partly{})
		r.Partly.fields(c)
	}
}

// AppendRequest appends q to b as a frame. ok is false if it is longer than MaxRequest.
func AppendRequest(b []byte, id uint32, q Request) (out []byte, ok bool) {
	return appendMessage(b, KindRequest, id, q.fields)
}

// ParseRequest decodes a request frame. The error is a [*Malformed].
func ParseRequest(f Frame) (q Request, err error) {
	err = parseMessage(f, q.fields)
	return q, err
}

// fields codes a Progress of files. Operations are counted by the gateway and are never sent.
func (p *Progress) fields(c *codec) {
	isChanged := p.Of == FilesChanged
	c.flag(&isChanged)
	p.Of = FilesRead
	if isChanged {
		p.Of = FilesChanged
	}
	c.number(&p.Total)
	p.Done = int(c.uvarint(uint64(p.Done), uint64(p.Total)))
}

// AppendProgress appends p to b as a frame.
func AppendProgress(b []byte, id uint32, p Progress) []byte {
	b, _ = appendMessage(b, KindProgress, id, p.fields)
	return b
}

// ParseProgress decodes a progress frame. The error is a [*Malformed].
func ParseProgress(f Frame) (p Progress, err error) {
	err = parseMessage(f, p.fields)
	return p, err
}

// AppendReply appends r to b as a frame. It shortens texts and lists that are too long.
func AppendReply(b []byte, id uint32, r Reply) []byte {
	r.Failure = r.Failure.short()
	r.Partly = r.Partly.bounded()
	r.Facts.Notice = cut(r.Facts.Notice, maxNotice)
	r.Panic = cut(r.Panic, maxPanic)
	b, _ = appendMessage(b, KindReply, id, r.fields) // fits: all other fields are short or bounded
	return b
}

// ParseReply decodes a reply frame. The error is a [*Malformed].
func ParseReply(f Frame) (r Reply, err error) {
	err = parseMessage(f, r.fields)
	return r, err
}

// AppendChanging appends to b a frame that reports that a request starts to change files, with their
// number.
func AppendChanging(b []byte, id uint32, files int) []byte {
	b, _ = appendMessage(b, KindChanging, id, func(c *codec) { c.number(&files) })
	return b
}

// ParseChanging decodes a changing frame. The error is a [*Malformed].
func ParseChanging(f Frame) (files int, err error) {
	err = parseMessage(f, func(c *codec) { c.number(&files) })
	return files, err
}

// AppendMore appends to b a frame that permits a request to send further bytes of output.
func AppendMore(b []byte, id uint32, bytes int64) []byte {
	return Append(b, Frame{Kind: KindMore, ID: id, Payload: binary.BigEndian.AppendUint64(nil, uint64(bytes))})
}

// ParseMore decodes a more frame. The error is a [*Malformed].
func ParseMore(f Frame) (bytes int64, err error) {
	// With the highest bit set, the number would be negative.
	if len(f.Payload) != maxMore || f.Payload[0] > math.MaxInt8 {
		return 0, Malformedf("sent a frame of kind %d in another form", f.Kind)
	}
	return int64(binary.BigEndian.Uint64(f.Payload)), nil
}

func appendMessage(b []byte, kind Kind, id uint32, fields func(*codec)) (out []byte, ok bool) {
	start := len(b)
	writer := codec{out: Append(b, Frame{Kind: kind, ID: id})}
	fields(&writer)
	size := len(writer.out) - start - headSize
	binary.BigEndian.PutUint32(writer.out[start:], uint32(size))
	return writer.out, size <= maxPayloads[kind]
}

func parseMessage(frame Frame, fields func(*codec)) error {
	reader := codec{reading: true, in: string(frame.Payload)}
	fields(&reader)
	if reader.broken || reader.in != "" {
		return Malformedf("sent a frame of kind %d in another form", frame.Kind)
	}
	return nil
}

// codec writes or reads the fields of a message, in the same order on both sides. When writing, it
// appends each field to out; when reading, it removes each from in, and is broken if that fails.
type codec struct {
	reading bool
	out     []byte
	in      string
	broken  bool
}

// uvarint codes a number. When reading, it fails if the number is above limit; when writing, limit is ignored.
func (c *codec) uvarint(n uint64, limit uint64) uint64 {
	if !c.reading {
		c.out = binary.AppendUvarint(c.out, n)
		return n
	}
	head := c.in[:min(len(c.in), binary.MaxVarintLen32)]
	n, size := binary.Uvarint([]byte(head))
	if size <= 0 || n > limit {
		c.fail()
		return 0
	}
	c.in = c.in[size:]
	return n
}

// fail marks a reading codec as broken.
func (c *codec) fail() {
	c.broken = true
	c.in = ""
}

func (c *codec) number(n *int) { *n = int(c.uvarint(uint64(*n), math.MaxInt32)) }

// choice codes an enumerated value from 0 to last.
func (c *codec) choice(n *uint8, last uint8) { *n = uint8(c.uvarint(uint64(*n), uint64(last))) }

func (c *codec) flag(isSet *bool) {
	bit := uint8(0)
	if *isSet {
		bit = 1
	}
	c.choice(&bit, 1)
	*isSet = bit == 1
}

func (c *codec) text(s *string) {
	n := c.uvarint(uint64(len(*s)), uint64(len(c.in)))
	if !c.reading {
		c.out = append(c.out, *s...)
		return
	}
	if n > uint64(len(c.in)) { // the bound above still included the bytes of the length itself
		c.fail()
		return
	}
	*s = c.in[:n]
	c.in = c.in[n:]
}

// optional codes a text that may be missing.
func (c *codec) optional(s **string) {
	isGiven := *s != nil
	c.flag(&isGiven)
	if !isGiven {
		return
	}
	if *s == nil {
		*s = new(string)
	}
	c.text(*s)
}

// list codes a list of texts. Each takes at least one byte, so the remaining bytes bound the
// allocation.
func (c *codec) list(texts *[]string) {
	n := c.uvarint(uint64(len(*texts)), uint64(len(c.in)))
	if c.reading && n > 0 {
		*texts = make([]string, n)
	}
	for i := range *texts {
		c.text(&(*texts)[i])
	}
}
