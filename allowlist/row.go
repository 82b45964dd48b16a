package allowlist

import "vaultwicket/tiers"

// row is everything the gateway knows about one command. Rows are constant
// data, unexported and never handed out: a table that its readers can change
// is no allowlist.
type row struct {
	name    string
	summary string
	tier    tiers.Tier
	// effect is what the plain form does; when lists the parameters that make
	// it worse. A call's effect is the worst of those that apply.
	effect tiers.Effect
	when   []escalation
	// shows lists the parameters that also move the focus or open a view;
	// alwaysShows says that every call of the command does.
	shows       []string
	alwaysShows bool
	// sends marks a command that can carry data off the machine although its
	// effect is not Publishes, such as opening a web address.
	sends  bool
	target target
	// targets are parameters that name the notes in place of one target.
	targets []string
	reach   reach
	params  []param
	// oneOf lists groups of which at least one parameter must be given.
	oneOf [][]string
	// exclusive lists groups of which at most one parameter may be given. The
	// help page states none; the groups are inferred from what the parameters
	// mean.
	exclusive [][]string
	// needs lists parameters that mean nothing without another one.
	needs []need
	// since is the first release in which the command takes the parameters of
	// this row with the meaning given here. The zero value means 1.12.0.
	since tiers.Version
	reply Reply
	// access says which access a path of the call needs, where that does not follow
	// from the effect.
	access PathAccess
	// steps are what the call takes on the app, see steps.go.
	steps []rowStep
	// newNote is the parameter that names a note to be made in the folder for new
	// notes, "" if there is none.
	newNote string
	// printsNote says that the answer is the text of one note, from its first byte to
	// its last.
	printsNote bool
	// random says that the answer is another one each time.
	random bool
	// ownAnswer says what the gateway itself answers the call with.
	ownAnswer OwnAnswer
	// needsApp marks a command that only the app can answer, or that shows something
	// there and has nothing else to say.
	needsApp bool
	// many marks a command that changes the notes that it looks for in the vault.
	many bool
	// embeddedOnly marks an extension that the official CLI does not have.
	embeddedOnly bool
	// followsLinks marks a command of which the embedded CLI does more than the app: it changes
	// the links to what moves. The app is asked only where the folder of the vault is not known.
	followsLinks bool
	// embeddedWith lists groups of parameters that the app does not take together.
	embeddedWith [][]string
}

// escalation says that a call carrying param has at least this effect.
type escalation struct {
	param  string
	effect tiers.Effect
}

// need says that param is refused unless one of with is given too.
type need struct {
	param string
	with  []string
}

// target says which note a call without an explicit target works on.
type target uint8

const (
	// targetActive is the zero value: the note, or base, that the person has
	// open.
	targetActive target = iota
	// targetNone commands have no note as target.
	targetNone
	// targetVault commands cover the whole vault unless told otherwise.
	targetVault
	// targetDaily commands work on today's daily note.
	targetDaily
)

// param is one parameter of a row.
type param struct {
	name     string
	kind     kind
	summary  string
	required bool
	// hint is the word between angle brackets in the usage lines of the app, where it is
	// not that of the kind.
	hint string
	// choices lists the values of a choice.
	choices []string
	// least and most are the bounds of a number; a most of 0 is maxNumber.
	least, most int64
	// refused is the reason why the parameter is never passed on although the
	// CLI knows it.
	refused string
	// embeddedOnly marks an extension that only the embedded vault CLI knows. The app
	// would ignore it and work on another note than the one named.
	embeddedOnly bool
	// rare leaves the parameter out of [Command.Brief], and terse the choices of one.
	rare, terse bool
	// ofFolder says that a destination is that of a folder, whose name has no extension.
	ofFolder bool
	// more marks the limit of a command that without it prints few rows only.
	more bool
}

// kind is the type of a parameter and decides its bounds, see kind.go.
type kind uint8

const (
	// kindFlag is a bare word: present or absent.
	kindFlag kind = iota + 1
	// kindText is free text, such as a query. It may contain line breaks.
	kindText
	// kindContent is text that ends up in a note.
	kindContent
	// kindName is the name or id of a tag, property, view or theme: one line.
	kindName
	// kindLink names a note as a wikilink does: no extension needed.
	kindLink
	// kindBase names a base in the same way.
	kindBase
	// kindTitle names a file that is to be made, without its folder.
	kindTitle
	// kindPath is the vault path of a file.
	kindPath
	// kindNewPath is the vault path of a file that may have to be made.
	kindNewPath
	// kindDestination is where a file is moved to: a folder with a slash at its
	// end, or the whole new path.
	kindDestination
	// kindFolder is the vault path of a folder; "/" is the root.
	kindFolder
	// kindRef is path:line.
	kindRef
	// kindNumber is an integer between two bounds.
	kindNumber
	// kindDate is a day as YYYY-MM-DD, or in words, see package day.
	kindDate
	// kindAge is a number of days, or the day that they are counted from.
	kindAge
	// kindChoice is one of a fixed list of words.
	kindChoice
	// kindChar is exactly one character.
	kindChar
	// kindURL is a web address with the scheme http or https.
	kindURL
	// kindWord is a bare value without key=: the argument of help.
	kindWord
)

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
	// AnswersUndoList is for a call that asks for the caller's own changes.
	AnswersUndoList
	// AnswersApprovals is for a call that asks for the caller's pending approvals.
	AnswersApprovals
)

// Step is one thing that has to be found out from the app before it carries out a
// call, because the app would not do exactly what the call says. How a step is carried
// out, and how a dry run describes it, is in one table in package gateway.
type Step uint8

// The zero value is no step.
const (
	// StepLocate asks which note a name refers to. The call is then run with the
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
	// In the app daily:read makes a missing note (recorded on 1.13.7).
	readsDailyByPath = []rowStep{{step: StepReadDaily}}
	// In the app create makes a numbered copy beside a note that exists, and reports
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
