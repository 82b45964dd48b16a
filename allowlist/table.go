package allowlist

import "github.com/vaultwicket/vaultwicket/tiers"

// table holds all rows, by tier. It is not a map: comparing every name costs
// less than initialising a map of rows at every start.
var table = [...]struct{ rows []row }{{v0Rows}, {v1Rows}, {v1ContentRows}, {v2Rows}, {v3Rows}, {restrictedRows}}

// find returns the row of the command with exactly this name, or nil. It does not trim, fold case or match
// prefixes: "delete:permanent" is not "delete", although the app itself would run delete.
func find(name string) *row {
	for _, part := range table {
		for i := range part.rows {
			if part.rows[i].name == name {
				return &part.rows[i]
			}
		}
	}
	return nil
}

// Names returns the names of all commands in table order: by tier, then in the order of the help page.
func Names() []string {
	var names []string
	for _, part := range table {
		for i := range part.rows {
			names = append(names, part.rows[i].name)
		}
	}
	return names
}

// param returns the parameter with exactly this name, or nil.
func (r *row) param(name string) *param {
	for i := range r.params {
		if r.params[i].name == name {
			return &r.params[i]
		}
	}
	return nil
}

// RowLimit says how a caller can limit the number of rows of an answer.
type RowLimit uint8

const (
	NoRowLimit  RowLimit = iota // the zero value: the command is unknown, or does more than read
	PagedRows                   // the gateway truncates the answer; the command has no parameter limit
	LimitedRows                 // by the parameter limit; the default is all rows
	FewRows                     // by the parameter limit; the default is a few rows
)

// LimitOf returns how the rows of a command can be limited.
func LimitOf(name string) RowLimit {
	r := find(name)
	if r == nil || r.effect != tiers.Reads {
		return NoRowLimit
	}
	p := r.param("limit")
	if p == nil {
		return PagedRows
	}
	if p.more {
		return FewRows
	}
	return LimitedRows
}

// The variables below are shared by several rows and must not be modified. Choice lists have names of their own,
// and no package variable calls a function or append: that way the compiler lays out the whole table, and nothing
// is copied when the program starts.

var (
	tableForms = []string{"json", "tsv", "csv"}
	textOrJSON = []string{"text", "json"}
	countOnly  = []string{"count"}
	panes      = []string{"tab", "split", "window"}
	origins    = []string{"core", "community"}
	sides      = []string{"before", "after"}
	viewTypes  = []string{"table", "cards", "list", "kanban", "map"}
	nodeSides  = []string{"top", "right", "bottom", "left"}

	linkChoices = []string{"update", "keep", "hold"}

	taskPriorities = []string{"highest", "high", "medium", "normal", "low", "lowest"}
	taskOrders     = []string{"due", "priority", "path"}
	taskGroups     = []string{"due", "note", "file", "folder", "heading", "tag", "property:NAME"}
	notePeriods    = []string{"day", "week", "month", "quarter", "year"}
	taskDates      = []string{"due", "scheduled", "start"}

	baseFormats = []string{"json", "csv", "tsv", "md", "paths"}
	textOrTyped = []string{"text", "typed"}
)

var (
	noteByName = param{name: "file", kind: kindLink, summary: "The note by its name, as in a link"}
	noteByPath = param{name: "path", kind: kindPath, summary: "The note by its path in the vault"}
	baseByName = param{name: "file", kind: kindBase, summary: "The base by its name, as in a link"}
	baseByPath = param{name: "path", kind: kindPath, summary: "The base by its path in the vault"}

	// In the app, base:views only lists the views of the open base.
	ourBaseByName = param{
		name:         "file",
		kind:         kindBase,
		embeddedOnly: true,
		summary:      "The base by its name, as in a link",
	}
	ourBaseByPath = param{
		name:         "path",
		kind:         kindPath,
		embeddedOnly: true,
		summary:      "The base by its path in the vault",
	}

	canvasByName = param{name: "file", kind: kindLink, summary: "The canvas by its name, as in a link"}
	canvasByPath = param{name: "path", kind: kindPath, summary: "The canvas by its path in the vault"}
	nodeID       = param{
		name:     "id",
		kind:     kindText,
		asked:    askedByChange,
		required: true,
		summary:  "Its id, or what the card or group shows",
	}
	cardText = param{name: "text", kind: kindContent, asked: askedByChange, summary: "The text of a card"}
	cardNote = param{name: "note", kind: kindLink, summary: "The note or file that a card shows, as in a link"}
	cardURL  = param{
		name:    "url",
		kind:    kindURL,
		asked:   askedByChange,
		rare:    true,
		summary: "The web address that a card shows",
	}
	nodeLabel = param{
		name:    "label",
		kind:    kindText,
		asked:   askedByChange,
		summary: "The label of a group; in canvas:set also of an edge",
	}
	nodeX = param{
		name:    "x",
		kind:    kindNumber,
		least:   -maxPixels,
		most:    maxPixels,
		rare:    true,
		summary: "Its left side in pixels",
	}
	nodeY = param{
		name:    "y",
		kind:    kindNumber,
		least:   -maxPixels,
		most:    maxPixels,
		rare:    true,
		summary: "Its top in pixels",
	}
	nodeWidth = param{
		name:    "width",
		kind:    kindNumber,
		least:   1,
		most:    maxPixels,
		rare:    true,
		summary: "Its width in pixels",
	}
	nodeHeight = param{
		name:    "height",
		kind:    kindNumber,
		least:   1,
		most:    maxPixels,
		rare:    true,
		summary: "Its height in pixels",
	}
	nodeColor = param{name: "color", kind: kindName, rare: true, summary: "Its color: 1 to 6, #rrggbb or none"}

	viewNamed   = param{name: "view", kind: kindName, required: true, summary: "The view by its name or number"}
	viewType    = param{name: "type", kind: kindChoice, rare: true, choices: viewTypes, summary: "How it is shown"}
	viewFilters = param{
		name:    "filters",
		kind:    kindText,
		asked:   askedByChange,
		rare:    true,
		summary: "Its filters: an expression, or in JSON a list or and, or, not",
	}
	viewOrder = param{
		name:    "order",
		kind:    kindText,
		asked:   askedByChange,
		rare:    true,
		summary: "Its columns, with commas between",
	}
	viewSort = param{
		name:    "sort",
		kind:    kindText,
		asked:   askedByChange,
		rare:    true,
		summary: "Its order: properties with commas between, each with asc or desc",
	}
	viewGroup = param{
		name:    "group",
		kind:    kindText,
		asked:   askedByChange,
		rare:    true,
		summary: "The property by which rows are grouped, with asc or desc",
	}
	viewLimit = param{
		name:    "limit",
		kind:    kindNumber,
		rare:    true,
		most:    maxRows,
		summary: "Maximum number of rows; 0 for none",
	}
	viewSummaries = param{
		name:    "summaries",
		kind:    kindText,
		asked:   askedByChange,
		rare:    true,
		summary: "Its summaries, such as rating: Average, pages: Sum",
	}

	onlyTotal   = param{name: "total", kind: kindFlag, summary: "Answer with the number only"}
	rareTotal   = param{name: "total", kind: kindFlag, rare: true, summary: "Answer with the number only"}
	onlyActive  = param{name: "active", kind: kindFlag, rare: true, summary: "Only the note that is open in the app"}
	asTable     = param{name: "format", kind: kindChoice, rare: true, choices: tableForms, summary: "Output format"}
	withCounts  = param{name: "counts", kind: kindFlag, summary: "Add how often each occurs"}
	sortByCount = param{
		name:    "sort",
		kind:    kindChoice,
		choices: countOnly,
		rare:    true,
		summary: "Most frequent first instead of by name",
	}

	// Another day than today is an extension of the embedded vault CLI: the app
	// ignores date= and answers with today's note (reported on 1.12).
	onDay = param{
		name:         "date",
		kind:         kindDate,
		embeddedOnly: true,
		summary:      "The note of this day, such as 2026-11-21, yesterday, -3d or monday",
	}
	rareDay = param{
		name:         "date",
		kind:         kindDate,
		rare:         true,
		embeddedOnly: true,
		summary:      "The note of this day instead of today's, such as tomorrow",
	}
	daysAway = param{
		name:         "offset",
		kind:         kindNumber,
		rare:         true,
		least:        -maxDays,
		most:         maxDays,
		embeddedOnly: true,
		summary:      "Days from today; -1 is yesterday",
	}

	ensuredDay  = param{name: "date", kind: kindDate, summary: "The note of this day, such as tomorrow"}
	whichPeriod = param{
		name:     "period",
		kind:     kindChoice,
		choices:  notePeriods,
		required: true,
		summary:  "The period of the note",
	}
	tersePeriod = param{
		name:     "period",
		kind:     kindChoice,
		choices:  notePeriods,
		required: true,
		terse:    true,
		summary:  "The period of the note",
	}
	dayInPeriod = param{
		name:    "date",
		kind:    kindDate,
		summary: "A day in it, such as 2026-W47 or last month (default: today)",
	}

	newText = param{
		name:     "content",
		kind:     kindContent,
		asked:    askedByChange,
		required: true,
		summary:  "The text to add",
	}
	inlineEnd   = param{name: "inline", kind: kindFlag, rare: true, summary: "Continue the last line"}
	inlineStart = param{name: "inline", kind: kindFlag, rare: true, summary: "Add no line break after the text"}
	openAfter   = param{name: "open", kind: kindFlag, rare: true, summary: "Show the note afterwards"}
	openNewTab  = param{name: "newtab", kind: kindFlag, rare: true, summary: "With open: in a new tab"}
	openPane    = param{name: "paneType", kind: kindChoice, choices: panes, rare: true, summary: "With open: where"}
	inNewTab    = param{name: "newtab", kind: kindFlag, rare: true, summary: "In a new tab"}

	// An extension: the app ignores heading= and writes at the end of the note.
	belowHeading = param{
		name:         "heading",
		kind:         kindName,
		embeddedOnly: true,
		summary:      "Below this heading, before the next one; A#B is B below A",
	}

	// For changes across the vault. A rename is rarely meant for one folder only.
	inFolder = param{name: "folder", kind: kindFolder, rare: true, summary: "Only notes in this folder and below"}
	ofSearch = param{
		name:    "query",
		kind:    kindText,
		asked:   askedInFull,
		rare:    true,
		summary: "Only notes that this search finds",
	}
	newName   = param{name: "to", kind: kindName, required: true, summary: "The new name"}
	setFolder = param{
		name:         "folder",
		kind:         kindFolder,
		embeddedOnly: true,
		rare:         true,
		summary:      "Instead of one note: all notes in this folder and below",
	}
	leaveEmbed  = param{name: "embed", kind: kindFlag, rare: true, summary: "Leave an embed instead of a link"}
	theProperty = param{name: "name", kind: kindName, required: true, summary: "The property"}
	itemsOfList = param{
		name:     "value",
		kind:     kindText,
		asked:    askedByChange,
		required: true,
		summary:  "The items; commas separate them, quotation marks keep one together",
	}
	newFolder = param{
		name:     "to",
		kind:     kindDestination,
		required: true,
		ofFolder: true,
		summary:  "Folder/ to keep the name, or the new path",
	}
	theFolder = param{name: "path", kind: kindFolder, required: true, summary: "The folder"}
	linksToo  = param{
		name:         "links",
		kind:         kindChoice,
		choices:      linkChoices,
		embeddedOnly: true,
		rare:         true,
		summary:      "Change the links to the file (default), keep them, or hold others, too",
	}
	linksHeld = param{
		name:         "links",
		kind:         kindChoice,
		choices:      []string{"hold"},
		embeddedOnly: true,
		rare:         true,
		summary:      "First rewrite links that the new name would take over as paths",
	}
	setResults = param{
		name:         "query",
		kind:         kindText,
		asked:        askedInFull,
		embeddedOnly: true,
		rare:         true,
		summary:      "Instead of one note: all notes that this search finds",
	}

	makeHeading = param{
		name:    "create-heading",
		kind:    kindFlag,
		rare:    true,
		summary: "Make the heading if it is missing",
	}
	createHeading = param{
		name:         "create-heading",
		kind:         kindFlag,
		embeddedOnly: true,
		rare:         true,
		summary:      "Make the heading if it is missing",
	}

	dueDay     = param{name: "due", kind: kindDate, summary: "Its due date"}
	plannedDay = param{name: "scheduled", kind: kindDate, rare: true, summary: "Its scheduled date"}
	firstDay   = param{name: "start", kind: kindDate, rare: true, summary: "Its start date"}

	taskByText = param{
		name:         "text",
		kind:         kindText,
		asked:        askedByChange,
		embeddedOnly: true,
		rare:         true,
		summary:      "The one task with all these words",
	}
	inToday     = param{name: "daily", kind: kindFlag, summary: "In today's daily note, created if it is missing"}
	partHeading = param{name: "heading", kind: kindName, summary: "The section of this heading; A#B is B below A"}
	partBlock   = param{name: "block", kind: kindName, summary: "The block with this id"}
	partLines   = param{name: "lines", kind: kindName, summary: "These lines, such as 12-20"}

	pluginID     = param{name: "id", kind: kindName, required: true, summary: "The id of the plugin"}
	pluginFilter = param{
		name:    "filter",
		kind:    kindChoice,
		choices: origins,
		rare:    true,
		summary: "Only plugins of this origin",
	}
	themeName = param{name: "name", kind: kindName, required: true, summary: "The name of the theme"}
	switchOn  = param{name: "on", kind: kindFlag, summary: "Switch it on"}
	switchOff = param{name: "off", kind: kindFlag, summary: "Switch it off"}
)

var (
	fileOrPath          = [][]string{{"file", "path"}}
	oneOfNotes          = [][]string{{"file", "path", "active"}}
	oneOfParts          = [][]string{{"heading", "block", "lines"}}
	namedPart           = [][]string{{"file", "path", "daily"}, {"heading", "block", "lines"}}
	onOrOff             = [][]string{{"on", "off"}}
	tabNeeds            = []need{{"newtab", []string{"open"}}}
	paneAndHeadingNeeds = []need{{"paneType", []string{"open"}}, {"create-heading", []string{"heading"}}}

	headingNeeds = []need{{"create-heading", []string{"heading"}}}
	paneNeeds    = []need{{"paneType", []string{"open"}}}
	showsOpen    = []string{"open"}
	showsNewTab  = []string{"open", "newtab"}
)

const (
	maxDays     = 36525 // a century in days
	maxBriefing = 100
	maxPixels   = 1_000_000
	maxRandom   = 20   // more notes than an agent reads at once
	maxRecent   = 1000 // the same as a page of a listing
)

var (
	dayOrOffset     = [][]string{{"date", "offset"}}
	inlineOrHeading = [][]string{{"heading", "inline"}}
)

// The parameters of a query: of the command query, or in addition to the view of a base.
var (
	queryWhere = param{
		name:         "where",
		kind:         kindText,
		embeddedOnly: true,
		summary:      "One more filter, a Bases expression",
	}
	querySelect = param{
		name:         "select",
		kind:         kindText,
		embeddedOnly: true,
		summary:      "Columns, each a property or \"label: expression\"",
	}
	querySort = param{
		name:         "sort",
		kind:         kindText,
		embeddedOnly: true,
		summary:      "Properties or expressions, such as \"due desc, file.name\"",
	}
	queryGroup = param{
		name:         "group",
		kind:         kindText,
		embeddedOnly: true,
		rare:         true,
		summary:      "Property or expression to group by",
	}
	queryLimit = param{
		name:         "limit",
		kind:         kindNumber,
		least:        1,
		most:         maxRows,
		embeddedOnly: true,
		summary:      "Maximum number of rows",
	}
	queryOffset = param{
		name:         "offset",
		kind:         kindNumber,
		most:         maxRows,
		embeddedOnly: true,
		rare:         true,
		summary:      "Rows to leave out at the beginning",
	}
	queryValues = param{
		name:         "values",
		kind:         kindChoice,
		choices:      textOrTyped,
		embeddedOnly: true,
		rare:         true,
		summary:      "JSON values as text or in their own types",
	}
	queryGroups = param{
		name:         "groups",
		kind:         kindFlag,
		embeddedOnly: true,
		rare:         true,
		summary:      "Add the groups to JSON",
	}
	querySummaries = param{
		name:         "summaries",
		kind:         kindFlag,
		embeddedOnly: true,
		rare:         true,
		summary:      "Add the summaries to JSON",
	}
	queryExplain = param{
		name:         "explain",
		kind:         kindFlag,
		embeddedOnly: true,
		rare:         true,
		summary:      "Add to JSON how many rows each filter dropped",
	}
	queryThis = param{
		name:         "this",
		kind:         kindPath,
		embeddedOnly: true,
		rare:         true,
		summary:      "The note that this refers to, default: the base",
	}
)

const maxRows = 1_000_000 // more than any vault has files

// When the answers of certain commands name the files that they are about.
var (
	// JSON rows contain the path of the file, text rows only the columns. What is added besides the rows is about
	// all files.
	queryNaming = naming{how: NamesFiles, forms: rowsWithPaths, not: besidesRows, plain: true, columns: "select"}
	tasksNaming = naming{how: NamesFiles, forms: onlyJSON}
	tagsNaming  = naming{how: NamesTags, forms: textTables}

	rowsWithPaths = []string{"", "json", "paths"}
	besidesRows   = []string{"groups", "summaries", "explain"}
	onlyJSON      = []string{"json"}
	textTables    = []string{"", "tsv", "csv"}
)
