package allowlist

import "github.com/vaultwicket/vaultwicket/tiers"

// row is everything the gateway knows about one command. Rows are constant data, unexported and
// never handed out: a table that its readers can change is no allowlist.
type row struct {
	name    string
	summary string
	tier    tiers.Tier
	// effect is that of the plain form; when lists the parameters that make it worse. The effect
	// of a call is the worst of those that apply.
	effect tiers.Effect
	when   []escalation

	shows       []string // parameters that also move the focus or open a view
	alwaysShows bool     // every call does
	sends       bool     // can carry data off the machine although its effect is not Publishes
	opensWeb    bool     // opens a web address, which can carry data to whom it belongs
	target      target
	targets     []string // parameters that name the notes in place of one target
	reach       reach
	params      []param
	oneOf       [][]string // groups of which at least one parameter must be given
	// exclusive lists groups of which at most one parameter may be given. The help page states
	// none; the groups are inferred from the meaning of the parameters.
	exclusive [][]string
	needs     []need  // parameters that mean nothing without another one
	since     release // first release that takes the parameters as given here; zero means 1.12.0
	reply     Reply
	verb      verb       // what it does, for people; every command that can be enabled has one
	naming    naming     // how its answer tells which files it is about; see there who has to state it
	access    PathAccess // of the paths of a call, where it does not follow from the effect
	steps     []rowStep  // that a call takes on the app

	newNote      string     // the parameter that names a note to be made in the folder for new notes, "" for none
	printsNote   bool       // the answer is the complete text of one note
	printsPath   bool       // the answer is the path of one note
	printsValue  bool       // the answer is the value of the property name, without the name
	random       bool       // the answer differs each time
	ownAnswer    OwnAnswer  // the answer of the gateway itself
	needsApp     bool       // only the app can answer it, or it only shows something there
	apart        bool       // answered by a process of its own, which ends if it needs too much memory
	many         bool       // changes the notes that it finds in the vault
	embeddedOnly bool       // an extension that the official CLI does not have
	embeddedWith [][]string // groups of parameters that the app does not take together
	// followsLinks marks a command of which the embedded CLI does more than the app: it changes
	// the links to the moved file. The app is asked only if the folder of the vault is unknown.
	followsLinks bool
	builtIn      bool   // the app has it without any plugin: a vault that does not know it is not ready
	probes       bool   // the answer is the version, by which a program is known before it answers others
	listsVaults  bool   // reads the list of vaults that the app keeps outside of the vault
	undoes       bool   // takes changes back
	wider        string // the command that may find something where this one finds nothing, "" for none
	maker        string // the command that makes the note that this one needs, "" if it does so itself, or none does
	ofFolders    string // the command that does the same to a folder, "" for none
	// versions says in which history of the app the versions are that the command is about; the zero value of one that
	// is about none. The embedded CLI has versions in its journal.
	versions versions
	// searches marks a command of which an answer depends on texts that are not in it. The app searches
	// notes with their secrets, the embedded CLI without.
	searches bool
}

// release is a release of the app: major, minor and patch. A table of [tiers.Version] would be filled at every start.
type release [3]int

// versions is a history of the app.
type versions struct {
	of   string // in words, in the middle of a sentence
	read string // of a command that restores one: the command that prints its text
}

const (
	historyOfApp  = "the file history of the app"
	historyOfSync = "the history of Obsidian Sync"
)

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

type target uint8

const (
	targetActive target = iota // the note, or base, that is open in the app
	targetNone                 // no note
	targetVault                // the whole vault unless told otherwise
	targetDaily                // today's daily note
)

type param struct {
	name     string
	kind     kind
	summary  string
	required bool

	hint         string   // the word between angle brackets in the usage lines of the app, "" for that of the kind
	choices      []string // the values of a choice
	least, most  int64    // bounds of a number; a most of 0 is maxNumber
	refused      string   // why it is never passed on although the CLI knows it
	embeddedOnly bool     // the app would ignore it and work on another note than the one named
	rare         bool     // left out of a brief signature
	terse        bool     // its choices are left out there
	ofFolder     bool     // a destination of a folder, whose name has no extension
	more         bool     // the limit of a command that prints few rows without it
	asked        asked    // how a question to the user shows the value
}

// asked says how a question about a call shows the value of a parameter.
type asked uint8

// The zero value shows free text in full, and of other kinds, which are short, what fits.
const (
	askedInFull   asked = iota + 1 // it decides what is changed: nothing is asked without all of it
	askedByChange                  // what it does is shown: the change of the files, or their names
)

// verb says what a command does, in the sentences of [Verb].
type verb struct{ wants, did, before string }

// naming says how the answer of a command tells which files it is about. Every command states how that
// shows something and of which the reach is any note, so that a listing cannot be forgotten. Answers that
// are a number, by the parameter total, never tell.
type naming struct {
	how   Naming
	forms []string // the values of format with which it is so, "" for none given; nil for all
	not   []string // parameters with which it is not so
	plain bool     // it is not so where a value calls a function, which can read any note
	// columns is the parameter that names the columns, "" for none: one labelled path takes the place
	// of the path of the file.
	columns string
}

// Naming is how an answer tells which files it is about.
type Naming uint8

const (
	NamingUnstated   Naming = iota // the zero value: the answer may be about any note
	NamesNotAll                    // the answer may be about notes that it does not name
	NamesFiles                     // every row is about the files that it names, and so are the notices
	NamesFilesInRows               // every row is; a notice can have words of any note
	NamesTags                      // every row is about the notes with the tag that it names
	NamesNothing                   // the answer is about no note
)

var (
	namesNotAll      = naming{how: NamesNotAll}
	namesFiles       = naming{how: NamesFiles}
	namesFilesInRows = naming{how: NamesFilesInRows}
	namesNothing     = naming{how: NamesNothing}
)

// kind is the type of a parameter and decides its bounds, see kind.go.
type kind uint8

const (
	kindFlag        kind = iota + 1 // a bare word: present or absent
	kindText                        // free text, such as a query, with or without line breaks
	kindContent                     // text that is written into a note
	kindData                        // bytes in base64
	kindName                        // the name or id of a tag, property, view or theme: one line
	kindLink                        // names a note as a wikilink does: no extension needed
	kindBase                        // names a base in the same way
	kindTitle                       // names a new file without its folder
	kindPath                        // the vault path of a file
	kindNewPath                     // the vault path of a file that may have to be made
	kindDestination                 // of a move: a folder with a slash at its end, or the whole new path
	kindFolder                      // the vault path of a folder; "/" is the root
	kindRef                         // path:line
	kindNumber                      // an integer between two bounds
	kindDate                        // a day as YYYY-MM-DD, or in words, see package date
	kindAge                         // a number of days, or the day that they are counted from
	kindChoice                      // one of a fixed list of words
	kindChar                        // exactly one character
	kindURL                         // a web address with the scheme http or https
	kindWord                        // a bare value without key=: the argument of help
)

// reach says which notes the answer of a command can depend on, and which it can touch.
type reach uint8

// The zero value is any note of the vault.
const (
	reachNote    reach = iota + 1 // the one note that the call names by its path
	reachNothing                  // no note at all
)

// PathAccess says which access a call needs for a path that it spells out.
type PathAccess uint8

const (
	// AccessByEffect is the zero value: to read, to write or to delete the note, as
	// the effect of the call says.
	AccessByEffect PathAccess = iota
	AccessToRead              // for a call that writes something else than what is at its path
	AccessToWrite             // for a call that removes no more than a part of the note
	// AccessToMove is that to write the note within its folder, and that to delete it
	// where it leaves the folder.
	AccessToMove
)

// OwnAnswer is what the gateway itself answers a call with, because no program knows it.
type OwnAnswer uint8

const (
	AnswersNothing   OwnAnswer = iota // the zero value: a program answers
	AnswersHelp                       // for a call that asks what the gateway allows
	AnswersUndoList                   // for a call that asks for the caller's own changes
	AnswersApprovals                  // for a call that asks for the caller's pending approvals
)

// Step is one thing that has to be found out from the app before it carries out a
// call, because the app would not do exactly what the call says. How a step is carried
// out, and how a dry run describes it, is in one table in package gateway.
type Step uint8

// The zero value is no step.
const (
	StepLocate Step = iota + 1 // asks which note a name refers to. The call is then run with the path of the note.
	// StepLocateNew works out where the note is going to be made that a call names
	// without a folder. The call is then run with its path.
	StepLocateNew
	// StepReadDaily asks for the path of the daily note, and reads the note at that path in place of the call.
	StepReadDaily
	StepAbsent // asks whether the note that a call makes exists already
	// StepVersion asks for the text of the version that a call restores. The embedded CLI writes that text: the
	// number of a version counts from the newest, and would mean another one after the next version.
	StepVersion
)

// rowStep is a step that all calls of a command take, but for those with a parameter.
type rowStep struct {
	step    Step
	without string // the parameter, "" for none
}

var (
	// In the app daily:read makes a missing note (recorded on 1.13.7).
	readsDailyByPath = []rowStep{{step: StepReadDaily}}
	// In the app create makes a numbered copy of a note that exists, and reports success (recorded on 1.12.7).
	createsIfAbsent = []rowStep{{StepAbsent, "overwrite"}}
	restoresText    = []rowStep{{step: StepVersion}}
)

// ReplyKind says what the CLI prints for a command, so that its answer can be told apart from an error message
// in the same place. Errors arrive on standard output with exit status 0 (recorded on 1.12.7 and 1.13.7).
type ReplyKind uint8

const (
	Unstated     ReplyKind = iota // the zero value: nothing is known about the output
	Content                       // text of a note. It may look like anything, an error included.
	Paths                         // a list of vault paths, one a line
	Lines                         // a list of anything else: tags, tasks, names, rows
	Facts                         // a value or a few lines that the app makes itself
	Confirmation                  // one line that begins with one of Reply.Confirms
	Unpublished                   // what it prints is known to nobody, so that no answer proves anything
)

// Reply describes the output of one command.
type Reply struct {
	Kind ReplyKind
	// Empty is the whole sentence printed when nothing was found, such as "No matches found.".
	// Without one an empty listing is empty output.
	Empty    string
	Confirms []string // the beginnings of a success line, such as "Created: "
	// Silent says that no output at all can be a success. Only what was recorded or described counts: a client that
	// crashed prints nothing, too.
	Silent   bool
	Form     Form     // how the first line looks
	JSON     bool     // this call answers in JSON: by format=json, or by default
	Headings Headings // the lines of a text that begin a group of rows
}

// Form is how the first line of an answer of the app looks, where it was recorded or described. An answer of another
// form is none: nothing says that the app has carried out the call.
type Form uint8

const (
	AnyForm   Form = iota // the zero value: the answer is text of a vault, or of an unknown form
	Fields                // the name of a fact, a tab and its value
	Labelled              // the name of a fact, a colon and its value
	Count                 // a whole number, alone
	NotePath              // the path of a note, alone
	TagLines              // "#" and the name of a tag
	TaskLines             // a list item with a mark in brackets
	Matches               // the path of a note, a colon, and what was found in it
	Ids                   // a name without blanks, and after a tab what belongs to it
	Tabs                  // the type of a view in brackets, and its title
)

// Headings is how the lines look that part a listing into groups.
type Headings uint8

const (
	NoHeadings    Headings = iota // the zero value: each line is a row
	ArrowHeadings                 // "==> … <=="
	FileHeadings                  // all lines that do not begin with the number of a line
)

// maxNumber is the largest number of a parameter: above it one is not exact in JSON readers.
const maxNumber = 1 << 53
