package handlers

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// replaceInVault plans to replace a text everywhere in the notes of a folder or a query: in texts, properties and code
// alike. If the properties of a note would become invalid, nothing is changed.
func replaceInVault(v *call.Vault, p call.Values) (change.Proposal, error) {
	switch {
	case p.Has("new") == p.Has("remove"):
		return change.Proposal{}, answer.Misuse("Use new=<text> or remove, one of them.")
	case !utf8.ValidString(p["old"]) || !utf8.ValidString(p["new"]):
		return change.Proposal{}, answer.Misuse("old and new must be valid UTF-8.")
	}
	search := flatten([]byte(p["old"])).text
	if search == "" {
		return change.Proposal{}, answer.Misuse("old is only a byte order mark, which is not searched.")
	}
	replacement := strings.ReplaceAll(p["new"], "\r\n", "\n")
	limits := budget.From(v.Ctx)
	var find finder = literal{search, replacement}
	var err error
	switch {
	case p.Has("regex"):
		find, err = newPattern(limits, search, replacement, formula.RegexFlags{IgnoreCase: p.Has("ignore-case")})
	case p.Has("ignore-case"): // a literal text that ignores case is searched as a pattern
		escaped := strings.ReplaceAll(replacement, "$", "$$")
		find, err = newPattern(limits, regexp.QuoteMeta(search), escaped, formula.RegexFlags{IgnoreCase: true})
	}
	if err != nil {
		return change.Proposal{}, err
	}
	notes, err := notesWith(v, p, find.mayBeIn)
	if err == nil {
		err = limits.Err()
	}
	if err != nil {
		return change.Proposal{}, err
	}
	places := 0
	proposal, err := editAll(v, notes, "", func(path disk.Path, text []byte) ([]byte, error) {
		edited, n, err := replaceIn(text, marksOf(v, text), find)
		if err != nil {
			return nil, err
		}
		places += n
		// A valid block of properties must not become plain text or invalid.
		before := markdown.Scan(text)
		after := markdown.Scan(edited)
		_, errBefore := frontmatter.Parse(text[before.Frontmatter.Start:before.Frontmatter.End])
		_, errAfter := frontmatter.Parse(edited[after.Frontmatter.Start:after.Frontmatter.End])
		wasBlock := errBefore == nil && before.Body > 0
		isBlock := errAfter == nil && after.Body > 0
		if wasBlock && !isBlock {
			return nil, answer.Failure(
				"The properties of %q could not be read with the new text. Nothing was changed. Narrow it with folder=<path> or query=<text>.",
				answer.Verbatim(path.String()),
			)
		}
		return edited, nil
	})
	// editAll has set the message to " in 3 notes"; the number of places is only known now.
	proposal.Message = "Replaced " + answer.Count(places, "place") + proposal.Message
	proposal.Already = "no note that is meant has the text"
	if places > 0 {
		proposal.Already = "the new text is the old one"
	}
	return proposal, err
}

// replaceIn returns a note with all matches replaced, and the number of matches. The search sees the text with LF in
// place of CRLF and without a byte order mark; the inserted text gets the line ends of the note. All other bytes are
// kept. A match that begins or ends within a mark, which stands for a secret, is skipped.
func replaceIn(text []byte, marks [][]int, find finder) (edited []byte, places int, err error) {
	flat := flatten(text)
	lineEnd := "\n" // the line end of most lines
	if 2*len(flat.removedCRs) > flat.lineEnds {
		lineEnd = "\r\n"
	}
	var out []byte
	at := 0
	err = find.each(flat.text, func(from, to int, put string) error {
		if lineEnd != "\n" {
			put = strings.ReplaceAll(put, "\n", lineEnd)
		}
		start := flat.offset(from)
		stop := flat.offset(to)
		// Marks before the match are done. One that the match divides stays: the next match may divide it too.
		for ; len(marks) > 0 && marks[0][0] < stop; marks = marks[1:] {
			if guard.Divides(marks[0], start, stop) {
				return nil
			}
		}
		if len(out)+start-at+len(put) > maxNoteSize {
			return errNoteTooLong
		}
		if out == nil {
			out = make([]byte, 0, len(text))
		}
		out = append(append(out, text[at:start]...), put...)
		at = stop
		places++
		return nil
	})
	if err != nil || places == 0 {
		return text, 0, err
	}
	return append(out, text[at:]...), places, nil
}

// marksOf returns the start and the end of each mark that stands for a secret in a text.
func marksOf(v *call.Vault, text []byte) [][]int {
	if !v.Disk.IsRedacted() {
		return nil
	}
	return guard.Marks(text)
}

// replaceOnce plans to replace a text that occurs once in a note, or in the section of a heading. It is an error if the
// text begins or ends inside a mark that stands for a secret.
func replaceOnce(v *call.Vault, p call.Values) (change.Proposal, error) {
	proposal, err := editNamed(v, p, "Replaced in: ", func(text []byte) ([]byte, error) {
		within := markdown.Span{End: len(text)}
		if p.Has("heading") {
			note := markdown.Scan(text)
			i, err := edit.FindHeading(note, p["heading"])
			if err != nil {
				return nil, err
			}
			within = note.Section(i)
		}
		edited, err := edit.ReplaceWithin(text, within, p["old"], p["new"])
		if err != nil {
			return nil, err
		}
		start := within.Start + bytes.Index(text[within.Start:within.End], []byte(p["old"]))
		cutsMark := func(mark []int) bool { return guard.Divides(mark, start, start+len(p["old"])) }
		if slices.ContainsFunc(marksOf(v, text), cutsMark) {
			return nil, change.MarkCut
		}
		return edited, nil
	})
	proposal.Already = "the new text is the old one"
	return proposal, err
}

// maxNoteSize is the maximum size of a note after a replacement, in bytes.
const maxNoteSize = 32 << 20

var errNoteTooLong = answer.TooLong.Failure(
	"With the new text a note would have more than %d MiB. Nothing was changed.",
	maxNoteSize>>20,
)

// flatText is the text of a note with LF line ends and without byte order mark, and the positions of the removed bytes.
type flatText struct {
	text       string
	bom        int   // bytes of the byte order mark
	removedCRs []int // for each removed CR, the offset in text of the LF after it
	lineEnds   int   // number of line ends
}

const byteOrderMark = "\ufeff"

// flatten returns the text with LF in place of CRLF and without a byte order mark.
func flatten(text []byte) flatText {
	body := string(text)
	rest := strings.TrimPrefix(body, byteOrderMark)
	f := flatText{text: rest, bom: len(body) - len(rest), lineEnds: strings.Count(rest, "\n")}
	if !strings.Contains(rest, "\r\n") {
		return f
	}
	f.text = strings.ReplaceAll(rest, "\r\n", "\n")
	at := 0
	for line := range strings.SplitSeq(rest, "\r\n") {
		at += len(line)
		f.removedCRs = append(f.removedCRs, at)
		at++
	}
	f.removedCRs = f.removedCRs[:len(f.removedCRs)-1] // no line end follows the last line
	return f
}

// offset converts an offset in the flat text to one in the note. The offset of an LF becomes that of the CR before it,
// if there was one.
func (f flatText) offset(at int) int {
	before, _ := slices.BinarySearch(f.removedCRs, at)
	return f.bom + at + before
}

// Limits of a regular expression, in addition to the budget of the call.
const (
	maxSource  = 4 << 10 // bytes of an expression, as in a query
	maxMatches = 100_000 // per note
)

// finder finds matches in a text with LF line ends.
type finder interface {
	// mayBeIn quickly reports whether a note can have a match; in doubt it returns true. It is safe for
	// concurrent use.
	mayBeIn(note []byte) bool
	// each visits the matches in order, with the replacement of each.
	each(text string, visit func(start, end int, put string) error) error
}

// literal finds a literal text.
type literal struct{ old, put string }

func (e literal) mayBeIn(note []byte) bool {
	if strings.Contains(e.old, "\n") {
		line, _, _ := strings.Cut(e.old, "\n") // in the note the line may end with CRLF
		return bytes.Contains(note, []byte(line))
	}
	return bytes.Contains(note, []byte(e.old))
}

func (e literal) each(text string, visit func(start, end int, put string) error) error {
	for at := 0; ; {
		n := strings.Index(text[at:], e.old)
		if n < 0 {
			return nil
		}
		at += n
		if err := visit(at, at+len(e.old), e.put); err != nil {
			return err
		}
		at += len(e.old)
	}
}

// pattern finds matches of a regular expression. It is safe for concurrent use.
type pattern struct {
	budget   *budget.Budget
	source   string
	compiled *formula.Regexp
	put      formula.Template
}

func newPattern(b *budget.Budget, source, put string, flags formula.RegexFlags) (*pattern, error) {
	if len(source) > maxSource {
		return nil, answer.Misuse("Invalid value for old: the expression is longer than %d bytes.", maxSource)
	}
	flags.Multiline = true
	flags.Unicode = true
	compiled, err := formula.CompileRegex(source, flags, budget.Default.Match)
	if err != nil {
		return nil, answer.Misuse("Invalid value for old: no regular expression: %v", err)
	}
	template, unknown := formula.NewTemplate(compiled, put)
	if unknown != "" {
		return nil, answer.Misuse(
			"Invalid value for new: the expression has no group %s. Write $$ for a dollar sign.",
			unknown,
		)
	}
	return &pattern{b, source, compiled, template}, nil
}

// withEngine runs match with the compiled expression and the time that is left. It charges the budget of the call for
// the memory of a text of so many bytes, which the engine splits into characters.
func (p *pattern) withEngine(textSize int, match func(re *formula.Regexp, left time.Duration) error) error {
	size := 5 * int64(textSize) // 4 bytes for each character, and the copy of the text
	if err := p.budget.Hold(size); err != nil {
		return err
	}
	defer p.budget.Release(size)
	return p.budget.Match(
		p.source,
		func(left time.Duration) error { return match(formula.WithinLimit(p.compiled, left), left) },
	)
}

// mayBeIn returns false if the budget is exhausted, which is reported at the end of the search.
func (p *pattern) mayBeIn(note []byte) (found bool) {
	_ = p.withEngine(len(note), func(re *formula.Regexp, _ time.Duration) (err error) {
		found, err = re.MatchString(flatten(note).text)
		return err
	})
	return found
}

func (p *pattern) each(text string, visit func(start, end int, put string) error) error {
	var failed error
	err := p.withEngine(len(text), func(re *formula.Regexp, left time.Duration) error {
		matches := 0
		return formula.EachMatch(re, text, 0, left, func(m *formula.Match) bool {
			matches++
			if matches > maxMatches {
				failed = answer.Failure("More than %d places of one note match. Nothing was changed.", maxMatches)
				return false
			}
			var put strings.Builder
			if !p.put.WriteTo(&put, text, m, maxNoteSize) {
				failed = errNoteTooLong
				return false
			}
			start, length := m.ByteRange()
			failed = visit(start, start+length, put.String())
			return failed == nil
		})
	})
	return errors.Join(failed, err)
}
