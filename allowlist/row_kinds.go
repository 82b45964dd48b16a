package allowlist

// reach says which notes the answer of a command can depend on, and which it can
// touch.
type reach uint8

// The zero value is any note of the vault.
const (
	// reachNote is the one note that the call names by its path.
	reachNote reach = iota + 1
	// reachNothing is no note at all.
	reachNothing
)

// PathAccess says which access a call needs for a path that it spells out.
type PathAccess uint8

const (
	// AccessByEffect is the zero value: to read, to write or to delete the note, as
	// the effect of the call says.
	AccessByEffect PathAccess = iota
	// AccessToRead is for a call that writes something else than what is at its path.
	AccessToRead
	// AccessToWrite is for a call that removes no more than a part of the note.
	AccessToWrite
	// AccessToMove is that to write the note within its folder, and that to delete it
	// where it leaves the folder.
	AccessToMove
)

// OwnAnswer is what the gateway itself answers a call with, because no program knows it.
type OwnAnswer uint8

const (
	// AnswersNothing is the zero value: a program answers.
	AnswersNothing OwnAnswer = iota
	// AnswersHelp is for a call that asks what the gateway allows.
	AnswersHelp
	// AnswersUndoList is for a call that asks for the changes of who asks.
	AnswersUndoList
	// AnswersApprovals is for a call that asks for the questions of who asks.
	AnswersApprovals
)

// Step is one thing that has to be found out from the app before it carries out a
// call, because the app would not do exactly what the call says. How a step is carried
// out, and how a dry run describes it, is in one table in package gateway.
type Step uint8

// The zero value is no step.
const (
	// StepLocate asks which note a name stands for. The call is then run with the
	// path of the note.
	StepLocate Step = iota + 1
	// StepLocateNew works out where the note is going to be made that a call names
	// without a folder. The call is then run with its path.
	StepLocateNew
	// StepReadDaily asks for the path of the daily note, and reads the note at that
	// path in place of the call.
	StepReadDaily
	// StepAbsent asks whether the note that a call makes exists already.
	StepAbsent
)

// rowStep is a step that all calls of a command take, but for those with a parameter.
type rowStep struct {
	step    Step
	without string // the parameter, "" for none
}

var (
	// daily:read of the app makes a missing note (recorded on 1.13.7).
	readsDailyByPath = []rowStep{{step: StepReadDaily}}
	// create of the app makes a numbered copy beside a note that exists, and reports
	// success (recorded on 1.12.7).
	createsIfAbsent = []rowStep{{StepAbsent, "overwrite"}}
)

// ReplyKind says what the CLI prints for a command, so that its answer can be
// told apart from an error message in the same place. Errors arrive on standard
// output with exit status 0 (recorded on 1.12.7 and 1.13.7).
type ReplyKind uint8

const (
	// Unstated is the zero value: nothing is known about the output.
	Unstated ReplyKind = iota
	// Content is text of a note. It may look like anything, an error included.
	Content
	// Paths is a list of vault paths, one a line.
	Paths
	// Lines is a list of anything else: tags, tasks, names, rows.
	Lines
	// Facts is a value or a few lines that the app makes itself.
	Facts
	// Confirmation is one line that begins with one of Reply.Confirms.
	Confirmation
	// Quiet commands may print nothing at all.
	Quiet
)

// Reply describes the output of one command.
type Reply struct {
	Kind ReplyKind
	// Empty is the whole sentence printed when nothing was found, such as
	// "No matches found.". Without one an empty listing is empty output.
	Empty string
	// Confirms lists what a success line begins with, such as "Created: ".
	Confirms []string
	// Silent says that no output at all can be a success.
	Silent bool
	// JSON says that this call answers in JSON: it asked for format=json, or
	// named no format and JSON is what the command prints then.
	JSON bool
	// Headings says which lines of a text are no rows but begin a group of them.
	Headings Headings
}

// Headings is how the lines look that part a listing into groups.
type Headings uint8

const (
	// NoHeadings is the zero value: each line is a row.
	NoHeadings Headings = iota
	// ArrowHeadings are "==> … <==".
	ArrowHeadings
	// FileHeadings are all lines that do not begin with the number of a line.
	FileHeadings
)

// maxNumber is the largest number of a parameter: above it one is not exact in JSON readers.
const maxNumber = 1 << 53
