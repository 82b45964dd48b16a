package consent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"vaultwicket/allowlist"
	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/failure"
	"vaultwicket/tiers"
)

// MaxText bounds the text of a question: what the store takes.
const MaxText = 16 << 10

// How much a user is shown before they decide. More is not read.
const (
	maxShownLines    = 24
	briefLines       = 10 // of the question in a dialog, where it can be told in so many
	briefFiles       = 3
	maxShownBytes    = 2 << 10
	MaxShownFiles    = 8
	maxShownName     = 512     // bytes of a path, of which the ends say most
	maxShownTogether = 8 << 10 // bytes of the excerpts of several questions
	fullLines        = 2000    // on a page, which can be scrolled
	fullBytes        = 12 << 10
)

// Describe fills in the texts of a question about a call, which is one of several that are
// asked together. diff is the difference in the notes, "" if it is not known. The error
// says that the text is too long.
func (q *Question) Describe(call allowlist.Call, diff string, together int) error {
	bytes := min(maxShownBytes, maxShownTogether/together)
	q.Text = questionText(*q, call, diff, extent{MaxShownFiles, maxShownLines, bytes})
	q.Brief = brief(*q, call, diff, extent{briefFiles, briefLines / together, bytes})
	if len(q.Text) > MaxText {
		return failure.New(failure.CodeUnconfirmed, "make it several calls", "command %q requires user approval, and the question is too long to read", q.Command)
	}
	if full := questionText(*q, call, diff, extent{MaxShownFiles, fullLines, fullBytes / together}); len(full) <= MaxText && full != q.Text {
		q.Full = full
	}
	return nil
}

// brief writes a question in as many lines as show has. Of the difference in one file it
// leaves out the heading: the file is named above it.
func brief(q Question, call allowlist.Call, diff string, show extent) string {
	if _, body, found := strings.Cut(diff, " @@\n"); found && len(q.Files) == 1 {
		diff = body
	}
	facts := questionText(q, call, "", extent{show.files, 0, show.bytes})
	show.lines = max(1, show.lines-strings.Count(facts, "\n")-1)
	return questionText(q, call, diff, show)
}

// extent is how much a question shows: files, and lines and bytes of texts.
type extent struct{ files, lines, bytes int }

// questionText writes a question. Everything that is not from this program is in
// quotation marks on one line, or behind bars.
func questionText(q Question, call allowlist.Call, diff string, show extent) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Allow %q in the vault %s?\n", q.Command, quoted(cmp.Or(q.Vault, "of the app")))
	fmt.Fprintf(&b, "It %s.\n", cmp.Or(call.Loss(), whatItDoes(call.Effect())))
	for i, f := range q.Files {
		if i == show.files {
			fmt.Fprintf(&b, "and %d more files\n", len(q.Files)-i)
			break
		}
		b.WriteString(f.Row())
	}
	if len(q.Files) == 0 && q.Path != "" {
		b.WriteString(Row("path", q.Path))
	}
	params := call.Params()
	for _, name := range slices.Sorted(maps.Keys(params)) {
		value, _ := call.Param(name)
		switch {
		case value == "":
			fmt.Fprintf(&b, "%s\n", name)
		case value == q.Path, len(q.Files) > 0 && value == q.Files[0].From: // it is in the text already
		case len(value) > 80 || strings.ContainsAny(value, "\r\n"):
			fmt.Fprintf(&b, "%s: %d bytes\n", name, len(value))
			if diff == "" {
				b.WriteString(clean.Excerpt(value, show.lines, show.bytes))
			}
		default:
			b.WriteString(Row(name, value))
		}
	}
	if diff != "" {
		b.WriteString(clean.Excerpt(diff, show.lines, show.bytes))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func whatItDoes(e tiers.Effect) string {
	switch e {
	case tiers.Writes:
		return "changes notes"
	case tiers.Destroys:
		return "deletes or overwrites notes"
	case tiers.Publishes:
		return "changes what is published"
	}
	return "changes the app"
}
