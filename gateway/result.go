package gateway

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// Result is the answer to a request in the form for callers. The first six fields are always present, the others
// only if they are set.
type Result struct {
	OK         bool   `json:"ok"`
	Command    string `json:"command"`
	Stdout     string `json:"stdout"`
	Stderr     string `json:"stderr"`
	ExitCode   int    `json:"exitCode"`   // -1 if no process ran
	DurationMs int64  `json:"durationMs"` // duration of the whole request
	Backend    string `json:"backend,omitempty"`
	Vault      string `json:"vault,omitempty"`
	Path       string `json:"path,omitempty"` // the note that the call was about, if it was about one
	Hash       string `json:"hash,omitempty"` // of the note as the caller reads it: the first 16 hex digits of SHA-256
	// SectionHash is the hash of the section, block or line that was read, for expectHash.
	SectionHash string     `json:"sectionHash,omitempty"`
	Truncated   *Truncated `json:"truncated,omitempty"`
	Notices     []string   `json:"notices,omitempty"`
	Change      *Change    `json:"change,omitempty"`
	Changed     *int       `json:"changed,omitempty"` // 0 for a change that changed no byte; otherwise nil
	// Unread is how many notes and folders could not be read for the answer. Hidden ones are not counted.
	Unread int            `json:"unread,omitempty"`
	Error  *failure.Error `json:"error,omitempty"`

	// Image is an image that the call has read, nil for none. It is not part of the JSON: clients receive it as an
	// image.
	Image *Image `json:"-"`
	// Difference is what a change has changed, see [Request.Shows].
	Difference []consent.Line `json:"-"`

	raw         string // Stdout before it was made safe to display
	missingPart string // which part is missing in raw, "" if it is complete
	form        pageForm
	rows        compactedRows // what is known about the rows of Stdout
	isNote      bool          // raw is the text of one note
	closed      string        // identifies which notes were hidden by their own properties, see [exec.Outcome]
	state       string        // identifies the data that the answer was made from, see [exec.Outcome]
	unchanged   bool          // the answer is the same as the earlier one, and Stdout was left out
	found       findings      // what the content rules found
	lost        bool          // the change removed so much that it was destructive
	divided     *divided      // the answer of which Stdout is the first part; nil if Stdout is complete
}

// Truncated means that Stdout is a part of a longer answer.
type Truncated struct {
	ShownBytes int   `json:"shownBytes"`
	TotalBytes int64 `json:"totalBytes"`
	// From and To are the numbers of the first and the last line or row of this part, counted from 1. Total is how
	// many the answer has. They are 0 if they are not known, and if no page follows.
	From  int `json:"from,omitempty"`
	To    int `json:"to,omitempty"`
	Total int `json:"total,omitempty"`
	// Cursor fetches the next part, see [Request]. It is "" on the last part, and if the rest is not stored.
	Cursor string `json:"cursor,omitempty"`
}

// outcome returns what observers of a call learn about its result.
func (r Result) outcome() telemetry.CallOutcome {
	return telemetry.CallOutcome{OK: r.OK, Error: r.Error, Backend: r.Backend, Bytes: len(r.Stdout)}
}

// endedIn ends the audit record of an admitted call with its result.
func (r Result) endedIn(line *audit.Record) Result {
	end := audit.End{
		Backend:  r.Backend,
		ExitCode: r.ExitCode,
		Lost:     r.lost,
		After:    r.Hash,
		Found:    r.found.found,
		Shadow:   r.found.shadow,
	}
	if r.Error != nil {
		end.Code = r.Error.Code
	}
	if r.Change != nil {
		end.Change = r.Change.ID
		end.Before = r.Change.Before
		end.After = r.Change.After
	}
	line.Ended(end)
	return r
}

// confirmedPath returns the path in a line such as "Created: Inbox/Plan.md", "" if there is none. The Obsidian CLI
// prints the path that it resolved.
func confirmedPath(call allowlist.Call, stdout string) string {
	line, _, _ := strings.Cut(stdout, "\n")
	for _, start := range call.Reply().Confirms {
		if rest, ok := strings.CutPrefix(line, start); ok && strings.HasSuffix(start, ": ") {
			if _, to, renamed := strings.Cut(rest, " -> "); renamed {
				rest = to
			}
			return strings.TrimRight(rest, "\r")
		}
	}
	return ""
}

// Reject returns the result of a request for which no process ran, because it was refused by the gateway or before
// it reached the gateway. err has a code and a hint, or is an internal error.
func Reject(command string, err error) Result {
	return Result{Command: shownCommand(command), ExitCode: -1, Error: failure.Of(err)}
}

// shownCommand returns the name of a command in a form that is safe to repeat in answers.
func shownCommand(name string) string { return sanitize.String(excerpt.Short(name)) }

// Fault returns the result of a request that failed because of an error in vaultwicket itself.
func Fault(command string) Result { return Reject(command, failure.ErrInternal) }

// Rows reports whether Stdout is complete JSON.
func (r Result) Rows() bool { return r.OK && r.form == formJSON }

// Output returns the standard output of the command byte for byte, even if Stdout was sanitized or truncated.
func (r Result) Output() string { return r.raw }

// Gap says which part is missing in Output, "" if it is complete: the middle of an answer that exceeds the limit is
// dropped.
func (r Result) Gap() string { return r.missingPart }

// Change is what a call did to the note that it was about. Hashes are like those of [Result]; "" means that there is
// no note.
type Change struct {
	ID     string `json:"id"` // the id with which undo undoes it
	Before string `json:"before"`
	After  string `json:"after"`
	// Added and Removed count the lines of all notes that the call changed. A modified line counts as removed and
	// added.
	Added   int `json:"added"`
	Removed int `json:"removed"`
}

// shown returns a text that is safe to display, and adds a notice about what was changed in it.
func (r *Result) shown(s, stream string) string {
	text, read, report := sanitize.Start(s, int(storeLimits.Bytes))
	if !report.None() {
		r.Notices = append(r.Notices, report.Notice(stream))
	}
	if read < len(s) { // a text of escapes can be eight times as long
		r.Truncated = &Truncated{ShownBytes: len(text), TotalBytes: int64(len(s))}
		r.Notices = append(
			r.Notices,
			fmt.Sprintf(
				"%s: the first %d of %d bytes can be shown; most of its characters are shown as escapes",
				stream,
				read,
				len(s),
			),
		)
	}
	return text
}

// minStderr is how many bytes of standard error are shown at least, so that a short message stays whole whatever the
// limit is.
const minStderr = 512

// cut returns the first page of a result, and where the next one begins; the zero position if there is none. A limit
// of 0 bytes means no limit. Standard error may have a sixteenth of the limit in addition.
func (r Result) cut(limit pageLimit) (Result, pagePosition, error) {
	if most := max(limit.Bytes/16, minStderr); limit.Bytes > 0 && len(r.Stderr) > most {
		end := most // moved back to a whole character, and to a whole line if that wastes no more than an eighth
		for end > 0 && !utf8.RuneStart(r.Stderr[end]) {
			end--
		}
		if newline := strings.LastIndexByte(r.Stderr[:end], '\n'); newline >= most-most/8 {
			end = newline + 1
		}
		shown := r.Stderr[:end]
		r.Notices = append(
			slices.Clone(r.Notices),
			fmt.Sprintf("stderr: truncated, the first %d of %d bytes are shown", len(shown), len(r.Stderr)),
		)
		r.Stderr = shown + "…"
	}
	if limit.Rows == 0 && (limit.Bytes == 0 || len(r.Stdout) <= limit.Bytes/2) {
		return r, pagePosition{}, nil // it fits in any case, even when escaped
	}
	page, err := cutForJSON(r.whole(), pagePosition{}, limit)
	if err != nil || page.Last() {
		return r, pagePosition{}, err
	}
	return r.showing(page), page.Next, nil
}

// whole returns the text of a result for cutting it into pages.
func (r Result) whole() wholeAnswer { return wholeAnswer{Text: r.Stdout, Form: r.form, Rows: r.rows} }

// counted returns the result with its rows counted. Every page reports their number.
func (r Result) counted() Result {
	whole, _ := r.whole().Counted()
	r.rows = whole.Rows
	return r
}

// showing returns the result with a page of its text in place of the whole.
func (r Result) showing(page pagePart) Result {
	total := int64(len(r.Stdout))
	switch {
	case r.divided != nil:
		total = int64(len(r.divided.out.Stdout))
		if r.form == formJSON {
			total-- // the line break after an array is not displayed
		}
	case r.Truncated != nil:
		total = r.Truncated.TotalBytes
	}
	if r.missingPart != "" {
		r.Notices = append(slices.Clone(r.Notices), r.missingPart)
	}
	// Clone the page, or it would keep the whole answer in memory.
	r.Stdout = strings.Clone(page.Text)
	r.rows = compactedRows{}
	r.Truncated = &Truncated{ShownBytes: len(page.Text), TotalBytes: total}
	if page.Partial {
		if r.form == formJSON {
			r.Notices = append(
				slices.Clone(r.Notices),
				"a row is larger than a page: this is a piece of it and no JSON by itself",
			)
		}
		if !r.form.HasLines() {
			r.form = formText
		}
	}
	return r
}

// Image is an image that a call has read.
type Image struct {
	MediaType string
	Base64    string // its bytes, encoded
}

// The methods Marked return an answer in which every text of notes is enclosed in marks with a random token, which
// no note can contain. This applies to output and differences as a whole, and in sentences (messages, hints,
// notices, reasons of rules) to what is in quotes. They are called once, when the answer leaves the gateway. A
// stored answer has no marks, because a note could copy them before the answer is shown again.
//
// JSON is marked as a whole, and is plain text then. A field that is just the name of a file stays unmarked, because
// calls are made with it.

// Marked returns the result with its texts marked.
func (r Result) Marked() Result {
	if r.Backend != "" || allowlist.OwnAnswerNamesNotes(r.Command) { // other answers are about vaultwicket itself
		if r.Stdout != "" {
			r.form = formText
		}
		r.Stdout = marked(r.Stdout)
		r.Stderr = marked(r.Stderr)
	}
	r.Notices, r.Error = markedSentences(r.Notices, r.Error)
	return r
}

// Marked returns the plan with its texts marked, without the parts that are only for people.
func (d DryRun) Marked() DryRun {
	d.Diff = marked(d.Diff)
	d.Shown = nil
	d.Notices, d.Error = markedSentences(d.Notices, d.Error)
	d.Rules = slices.Clone(d.Rules)
	for i, r := range d.Rules {
		why, _ := markedSentences([]string{r.Why}, nil)
		d.Rules[i].Why = why[0]
	}
	return d
}

// Marked returns the result with the texts of all operations marked.
func (r BatchResult) Marked() BatchResult {
	r.Results = slices.Clone(r.Results)
	for i, done := range r.Results {
		notice, _ := markedSentences([]string{done.Notice}, nil)
		r.Results[i].Notice = notice[0]
		if done.Result == nil {
			continue
		}
		answer := *done.Result
		if answer.Backend != "" || allowlist.OwnAnswerNamesNotes(answer.command) {
			answer.Stdout = marked(answer.Stdout)
			answer.Stderr = marked(answer.Stderr)
		}
		answer.Notices, answer.Error = markedSentences(answer.Notices, answer.Error)
		r.Results[i].Result = &answer
	}
	r.Notices, r.Error = markedSentences(r.Notices, r.Error)
	return r
}

// markedSentences returns notices, and an error unless it is nil, with marks around what is in quotes in them.
func markedSentences(notices []string, cause *failure.Error) ([]string, *failure.Error) {
	sentences := slices.Clone(notices)
	if cause != nil {
		sentences = append(sentences, cause.Message, cause.Hint)
	}
	fenced := sanitize.FenceNames(sentences)
	if cause != nil {
		explained := *cause
		explained.Message = fenced[len(notices)]
		explained.Hint = fenced[len(notices)+1]
		cause = &explained
	}
	return fenced[:len(notices):len(notices)], cause
}

// marked encloses a text in marks, unless it is empty.
func marked(text string) string {
	if text == "" {
		return ""
	}
	return sanitize.Fence(text)
}
