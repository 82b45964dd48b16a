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

// replaceInVault replaces a text wherever it is in the notes of a folder or a query: in
// texts, properties and code alike. A note whose properties could not be read any more
// is a reason to change nothing.
func replaceInVault(v *call.Vault, p call.Values) (change.Proposal, error) {
	switch {
	case p.Has("new") == p.Has("remove"):
		return change.Proposal{}, answer.Misuse("Use new=<text> or remove, one of them.")
	case !utf8.ValidString(p["old"]) || !utf8.ValidString(p["new"]):
		return change.Proposal{}, answer.Misuse("old and new must be valid UTF-8.")
	}
	old := flatten([]byte(p["old"])).text
	put := strings.ReplaceAll(p["new"], "\r\n", "\n")
	uses := budget.From(v.Ctx)
	var find finder = exactly{old, put}
	var err error
	switch {
	case p.Has("regex"):
		find, err = newPattern(uses, old, put, formula.RegexFlags{IgnoreCase: p.Has("ignore-case")})
	case p.Has("ignore-case"):
		literal := strings.ReplaceAll(put, "$", "$$")
		find, err = newPattern(uses, regexp.QuoteMeta(old), literal, formula.RegexFlags{IgnoreCase: true})
	}
	if err != nil {
		return change.Proposal{}, err
	}
	notes, err := notesWith(v, p, find.mayBeIn)
	if err == nil {
		err = uses.Err()
	}
	if err != nil {
		return change.Proposal{}, err
	}
	places := 0
	all, err := editAll(v, notes, "", func(path disk.Path, text []byte) ([]byte, error) {
		edited, n, err := replaceIn(text, marksOf(v, text), find)
		places += n
		if err != nil {
			return nil, err
		}
		// A block of properties that could be read must not become text, or one that cannot.
		old := markdown.Scan(text)
		now := markdown.Scan(edited)
		_, wasWrong := frontmatter.Parse(text[old.Frontmatter.Start:old.Frontmatter.End])
		if _, wrong := frontmatter.Parse(edited[now.Frontmatter.Start:now.Frontmatter.End]); wasWrong == nil &&
			old.Body > 0 &&
			(wrong != nil || now.Body == 0) {
			return nil, answer.Failure(
				"The properties of %q could not be read with the new text. Nothing was changed. Narrow it with folder=<path> or query=<text>.",
				answer.Verbatim(path.String()),
			)
		}
		return edited, nil
	})
	all.Message = "Replaced " + answer.Count(places, "place") + all.Message
	all.Already = "no note that is meant has the text"
	if places > 0 {
		all.Already = "the new text is the old one"
	}
	return all, err
}

// replaceIn returns a note with all matches replaced, and how many those are. A match
// is looked for in the text with LF in place of CRLF and without a byte order mark; what is
// put in gets the line ends of the place. All other bytes stay. A match that begins or ends within
// one of the marks, which have the places of secrets, is none.
func replaceIn(text []byte, signatures [][]int, find finder) (edited []byte, places int, err error) {
	flat := flatten(text)
	end := "\n" // that of most lines
	if 2*len(flat.gone) > flat.ends {
		end = "\r\n"
	}
	var out []byte
	at := 0
	err = find.each(flat.text, func(from, to int, put string) error {
		if end != "\n" {
			put = strings.ReplaceAll(put, "\n", end)
		}
		start := flat.offset(from)
		stop := flat.offset(to)
		for ; len(signatures) > 0 && signatures[0][0] < stop; signatures = signatures[1:] {
			if guard.Divides(signatures[0], start, stop) {
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
		places = places + 1
		return nil
	})
	if err != nil || places == 0 {
		return text, 0, err
	}
	return append(out, text[at:]...), places, nil
}

// marksOf returns the start and the end of each mark in a text that has the places of secrets.
func marksOf(v *call.Vault, text []byte) [][]int {
	if !v.Disk.IsRedacted() {
		return nil
	}
	return guard.Marks(text)
}

// replaceOnce replaces a text that occurs once in a note, or in the section of a heading, and is no part of the mark of a
// secret.
func replaceOnce(v *call.Vault, p call.Values) (change.Proposal, error) {
	proposal, err := editNamed(v, p, "Replaced in: ", func(text []byte) ([]byte, error) {
		within := markdown.Span{End: len(text)}
		if p.Has("heading") {
			found := markdown.Scan(text)
			i, err := edit.FindHeading(found, p["heading"])
			if err != nil {
				return nil, err
			}
			within = found.Section(i)
		}
		edited, err := edit.ReplaceWithin(text, within, p["old"], p["new"])
		start := within.Start + bytes.Index(text[within.Start:within.End], []byte(p["old"]))
		if err == nil &&
			slices.ContainsFunc(
				marksOf(v, text),
				func(mark []int) bool { return guard.Divides(mark, start, start+len(p["old"])) },
			) {
			return nil, change.MarkCut
		}
		return edited, err
	})
	proposal.Already = "the new text is the old one"
	return proposal, err
}

// maxNoteSize bounds what becomes of a note.
const maxNoteSize = 32 << 20

var errNoteTooLong = answer.TooLong.Failure(
	"With the new text a note would have more than %d MiB. Nothing was changed.",
	maxNoteSize>>20,
)

// flat is the text of a note with LF for each line end, and where its bytes are in the
// note.
type flat struct {
	text string
	bom  int
	gone []int // for each CR that is left out, where the LF after it is in text
	ends int   // how many line ends there are
}

const byteOrderMark = "\ufeff"

func flatten(text []byte) flat {
	body := string(text)
	rest := strings.TrimPrefix(body, byteOrderMark)
	f := flat{text: rest, bom: len(body) - len(rest), ends: strings.Count(rest, "\n")}
	if !strings.Contains(rest, "\r\n") {
		return f
	}
	f.text = strings.ReplaceAll(rest, "\r\n", "\n")
	at := 0
	for line := range strings.SplitSeq(rest, "\r\n") {
		at += len(line)
		f.gone = append(f.gone, at)
		at++
	}
	f.gone = f.gone[:len(f.gone)-1] // no line end follows the last line
	return f
}

// offset returns where in the note a place of the text is: in front of the CR if a
// line end follows.
func (f flat) offset(at int) int {
	before, _ := slices.BinarySearch(f.gone, at)
	return f.bom + at + before
}

// Limits of a search, besides those of the budget of the call.
const (
	maxSource  = 4 << 10 // bytes of an expression, as in a query
	maxMatches = 100_000 // in one note
)

// finder finds the matches of a text whose line ends are LF.
type finder interface {
	// mayBeIn reports whether a note can have a match: quickly, and true in doubt. It
	// is used by several goroutines.
	mayBeIn(note []byte) bool
	// each visits the matches, in their order, with what is put in the place of each.
	each(text string, visit func(start, end int, put string) error) error
}

// exactly finds a text as it is.
type exactly struct{ old, put string }

func (e exactly) mayBeIn(note []byte) bool {
	if strings.Contains(e.old, "\n") {
		line, _, _ := strings.Cut(e.old, "\n") // the rest may follow after CRLF
		return bytes.Contains(note, []byte(line))
	}
	return bytes.Contains(note, []byte(e.old))
}

func (e exactly) each(text string, visit func(start, end int, put string) error) error {
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

// pattern finds a regular expression. It is used by several goroutines.
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

// holdingLinks runs a match in a text, which the engine takes apart into characters, with the
// budget of the call.
func (p *pattern) holdingLinks(text int, match func(re *formula.Regexp, left time.Duration) error) error {
	size := 5 * int64(text)
	if err := p.budget.Hold(size); err != nil {
		return err
	}
	defer p.budget.Release(size)
	return p.budget.Match(
		p.source,
		func(left time.Duration) error { return match(formula.WithinLimit(p.compiled, left), left) },
	)
}

// mayBeIn is false where the budget has run out, which is told at the end of the search.
func (p *pattern) mayBeIn(note []byte) (found bool) {
	_ = p.holdingLinks(len(note), func(re *formula.Regexp, _ time.Duration) (err error) {
		found, err = re.MatchString(flatten(note).text)
		return err
	})
	return found
}

func (p *pattern) each(text string, visit func(start, end int, put string) error) error {
	var failed error
	err := p.holdingLinks(len(text), func(re *formula.Regexp, left time.Duration) error {
		n := 0
		return formula.EachMatch(re, text, 0, left, func(m *formula.Match) bool {
			if n++; n > maxMatches {
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
