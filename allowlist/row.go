package allowlist

import "github.com/vaultwicket/vaultwicket/tiers"

// row is everything that the gateway knows about one command. Rows are constant, unexported and
// never handed out: a table that its users could change would not be an allowlist.
type row struct {
	name    string
	summary string
	tier    tiers.Tier
	// effect is the effect without optional parameters; when lists the parameters that make it worse.
	// The effect of a call is the worst of those that apply.
	effect tiers.Effect
	when   []escalation

	shows       []string // parameters that also move the focus or open a view
	alwaysShows bool     // every call does
	sends       bool     // can carry data off the machine although its effect is not Publishes
	opensWeb    bool     // opens a web address, which can carry data to its owner
	target      target
	targets     []string // parameters that name the notes in place of one target
	reach       reach
	params      []param
	oneOf       [][]string // groups of which at least one parameter must be given
	// exclusive lists groups of which at most one parameter may be given. The help page lists
	// none of them; they follow from the meaning of the parameters.
	exclusive [][]string
	needs     []need  // parameters that have no meaning without another one
	since     release // first release with the parameters listed here; zero means 1.12.0
	reply     Reply
	verb      verb       // what it does, for people; set for every command that can be enabled
	naming    naming     // how its answer names the files that it is about; see [naming] for which rows must set it
	access    PathAccess // the access that the paths of a call need, if it does not follow from the effect
	steps     []rowStep  // the steps of a call when the app runs it

	newNote      string     // the parameter that names a note to create in the folder for new notes, "" for none
	printsNote   bool       // the answer is the complete text of one note
	printsPath   bool       // the answer is the path of one note
	printsValue  bool       // the answer is the value of a property, without its name
	random       bool       // the answer differs each time
	ownAnswer    OwnAnswer  // the answer that the gateway itself gives
	needsApp     bool       // only the app can answer it, or it only shows something there
	apart        bool       // runs in a process of its own, which is ended if it needs too much memory
	many         bool       // changes the notes that it finds in the vault
	embeddedOnly bool       // an extension that the official CLI does not have
	embeddedWith [][]string // groups of parameters that the app does not support together
	// followsLinks marks a command with which the embedded CLI does more than the app: it updates
	// the links to the moved file. The app runs it only if the folder of the vault is unknown.
	followsLinks bool
	builtIn      bool   // the app has it without any plugin: if a vault does not know it, it is still loading
	probes       bool   // the answer is the version of the program, which is checked before other calls
	listsVaults  bool   // reads the list of vaults that the app keeps outside of the vault
	undoes       bool   // undoes earlier changes
	wider        string // the command that may find something when this one finds nothing, "" for none
	maker        string // the command that creates the note that this one needs; "" if it does so itself, or none does
	ofFolders    string // the command that does the same to a folder, "" for none
	// versions is the history of the app whose versions the command is about; zero if it is not about versions. The
	// embedded CLI has versions in its journal.
	versions versions
	// searches marks a command of which an answer depends on texts that are not in it. The app searches
	// notes with their secrets, the embedded CLI without.
	searches bool
}

// release is a release of the app: major, minor and patch. It is an array, because a table of [tiers.Version]
// would have to be filled in at every start.
type release [3]int

// versions describes a history of the app.
type versions struct {
	of   string // its name within a sentence
	read string // for a command that restores a version: the command that prints the text of that version
}

const (
	historyOfApp  = "the file history of the app"
	historyOfSync = "the history of Obsidian Sync"
)

// escalation says that a call with param has at least this effect.
type escalation struct {
	param  string
	effect tiers.Effect
}

// need says that param is refused unless one of with is given, too.
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

	hint         string   // the word between angle brackets in usage lines of the app, "" for the default of the kind
	choices      []string // the values of a choice
	least, most  int64    // bounds of a number, inclusive; most 0 stands for maxNumber
	refused      string   // why it is never passed on although the CLI has it
	embeddedOnly bool     // the app would ignore it and work on another note than the one named
	rare         bool     // left out of a brief signature
	terse        bool     // its choices are left out of a brief signature
	ofFolder     bool     // the destination of a folder, whose name has no extension
	more         bool     // limit of a command that prints only a few rows by default
	asked        asked    // how a question to the user shows the value
}

// asked says how an approval question about a call shows the value of a parameter.
type asked uint8

// The zero value shows free text in full, and truncates values of other kinds, which are short.
const (
	askedInFull   asked = iota + 1 // it decides what is changed, so the question must contain all of it
	askedByChange                  // the question shows its effect instead: the changes to files, or their names
)

// verb words what a command does, see [Verb].
type verb struct{ wants, did, before string }

// naming says how the answer of a command names the files that it is about. Every row whose command prints
// something and may reach any note must set it, so that no listing is forgotten. An answer that is only a
// number, by the parameter total, never names files.
type naming struct {
	how   Naming
	forms []string // the values of format for which how applies, "" for none given; nil for all
	not   []string // parameters with which it does not apply
	plain bool     // it does not apply if a value calls a function, which could read any note
	// columns is the parameter that names the columns, "" for none: a column labelled path would replace
	// the path of the file.
	columns string
}

// Naming says how an answer names the files that it is about.
type Naming uint8

const (
	NamingUnstated   Naming = iota // the zero value: the answer may be about any note
	NamesNotAll                    // the answer may be about notes that it does not name
	NamesFiles                     // every row and every notice names the files that it is about
	NamesFilesInRows               // every row does, but a notice may contain words of any note
	NamesTags                      // every row is about the notes with the tag that it names
	NamesNothing                   // the answer is about no note
)

var (
	namesNotAll      = naming{how: NamesNotAll}
	namesFiles       = naming{how: NamesFiles}
	namesFilesInRows = naming{how: NamesFilesInRows}
	namesNothing     = naming{how: NamesNothing}
)

// kind is the type of a parameter. It decides which values are valid, see kind.go.
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
	kindNewPath                     // the vault path of a file that may have to be created
	kindDestination                 // the target of a move: a folder with a slash at its end, or the whole new path
	kindFolder                      // the vault path of a folder; "/" is the root
	kindRef                         // path:line
	kindNumber                      // an integer between two bounds
	kindDate                        // a day as YYYY-MM-DD, or in words, see package date
	kindAge                         // a number of days, or a day in the past
	kindChoice                      // one of a fixed list of words
	kindChar                        // exactly one character
	kindURL                         // a web address with the scheme http or https
	kindWord                        // a bare value without key=: the argument of help
)

// reach says which notes a command can read or change.
type reach uint8

// The zero value is any note of the vault.
const (
	reachNote    reach = iota + 1 // the one note that the call names by its path
	reachNothing                  // no note at all
)

// PathAccess says which access a call needs for a path that it names.
type PathAccess uint8

const (
	// AccessByEffect is the zero value: access to read, write or delete the note,
	// according to the effect of the call.
	AccessByEffect PathAccess = iota
	AccessToRead              // for a call that changes something other than the file at its path
	AccessToWrite             // for a call that removes only a part of the note
	// AccessToMove is access to write the note if it stays in its folder, and
	// access to delete it if it leaves the folder.
	AccessToMove
)

// OwnAnswer is an answer that the gateway itself gives, because no program knows it.
type OwnAnswer uint8

const (
	AnswersNothing   OwnAnswer = iota // the zero value: a program answers
	AnswersHelp                       // what the gateway allows
	AnswersUndoList                   // the caller's own changes
	AnswersApprovals                  // the caller's pending approvals
)

// Step is something that the gateway must find out before the app runs a call,
// because the app would not do exactly what the call says. A table in package gateway
// has for each step how it is carried out and how a dry run describes it.
type Step uint8

// The zero value is no step.
const (
	StepLocate Step = iota + 1 // asks which note a name refers to; the call then runs with the path of the note
	// StepLocateNew determines where a note that is named without a folder will be created. The call
	// then runs with that path.
	StepLocateNew
	// StepReadDaily asks for the path of the daily note, and reads the note at that path instead of running the call.
	StepReadDaily
	StepAbsent // asks whether the note that a call creates already exists
	// StepVersion asks for the text of the version that a call restores; the embedded CLI then writes that text.
	// Versions are numbered from the newest, so that the number would mean another version after the next change.
	StepVersion
)

// rowStep is a step of all calls of a command, except those with a certain parameter.
type rowStep struct {
	step    Step
	without string // the parameter, "" for no exception
}

var (
	// In the app, daily:read creates a missing note (recorded on 1.13.7).
	readsDailyByPath = []rowStep{{step: StepReadDaily}}
	// In the app, create makes a numbered copy if the note exists, and reports success (recorded on 1.12.7).
	createsIfAbsent = []rowStep{{StepAbsent, "overwrite"}}
	restoresText    = []rowStep{{step: StepVersion}}
)

// ReplyKind says what the CLI prints for a command, so that an answer can be distinguished from an error message:
// the CLI prints errors to standard output, too, with exit status 0 (recorded on 1.12.7 and 1.13.7).
type ReplyKind uint8

const (
	Unstated     ReplyKind = iota // the zero value: nothing is known about the output
	Content                       // text of a note. It may look like anything, even like an error.
	Paths                         // a list of vault paths, one per line
	Lines                         // a list of anything else: tags, tasks, names, rows
	Facts                         // a value or a few lines that the app composes itself
	Confirmation                  // one line that begins with one of Reply.Confirms
	Unpublished                   // the output is not documented anywhere, so that no answer proves anything
)

// Reply describes the output of one command.
type Reply struct {
	Kind ReplyKind
	// Empty is the whole sentence that is printed if nothing was found, such as "No matches found.".
	// If it is "", the output is empty in that case.
	Empty    string
	Confirms []string // how a success line may begin, such as "Created: "
	// Silent says that a success may print nothing. It is only set where this was recorded or described: a CLI that
	// crashed prints nothing, too.
	Silent   bool
	Form     Form     // how the first line looks
	JSON     bool     // the answer is JSON: by format=json, or by default
	Headings Headings // which lines of a text begin a group of rows
}

// Form is how the first line of an answer of the app looks, if that was recorded or described. Output of another
// form does not count as an answer: nothing says that the app has carried out the call.
type Form uint8

const (
	AnyForm   Form = iota // the zero value: the answer is text of a vault, or of an unknown form
	Fields                // the name of a fact, a tab and its value
	Labelled              // the name of a fact, a colon and its value
	Count                 // only a whole number
	NotePath              // only the path of a note
	TagLines              // "#" and the name of a tag
	TaskLines             // a list item with a mark in brackets
	Matches               // the path of a note, a colon, and what was found in it
	Ids                   // a name without blanks, and after a tab its details
	Tabs                  // the type of a view in brackets, and its title
)

// Headings says how the lines look that divide a listing into groups.
type Headings uint8

const (
	NoHeadings    Headings = iota // the zero value: each line is a row
	ArrowHeadings                 // "==> … <=="
	FileHeadings                  // every line that does not begin with a line number
)

// maxNumber is the largest number of a parameter. Many JSON decoders lose precision above it.
const maxNumber = 1 << 53
