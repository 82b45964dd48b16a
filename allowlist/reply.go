package allowlist

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
