package gateway

import (
	"context"
	"errors"
	"strings"

	"vaultwicket/allowlist"
	"vaultwicket/exec"
	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/pages"
)

// divided is an answer of which the program has sent the first part and kept the whole.
type divided struct {
	reported
	out exec.Outcome // without its text
	// received is how many bytes of the whole have come, plain that they are shown as they
	// are: then more of them are put behind them.
	received int
	plain    bool
}

// pageOf has a program send no more of an answer than the first page of it needs, and in the
// form of pages, see page. What holds names of files between its rows is not divided, nor is a
// note, of which the hash of the whole is told.
func (r Request) pageOf(ctx context.Context, call allowlist.Call) context.Context {
	if !r.Keep || r.batch != "" || call.Effect().Mutates() {
		return ctx
	}
	form := formOf(call)
	if form == pages.JSON {
		ctx = exec.CompactJSON(ctx)
	}
	if r.MaxOutput == 0 || r.Fields != nil || call.PrintsNote() || form == pages.Headed || form == pages.Numbered {
		return ctx
	}
	// One byte more, so that the page ends before the part does.
	return exec.FirstPart(ctx, exec.Part{Bytes: r.MaxOutput + 1, Lines: form.HasLines()})
}

// dividedFrom returns what is known of an answer of which the first part came, nil for one that
// is whole. The part becomes a text by itself: of the rows of an array, an array.
func (r reported) dividedFrom(out *exec.Outcome) *divided {
	if out.Kept == nil {
		return nil
	}
	d := &divided{reported: r, out: *out}
	d.out.Stdout = ""
	if r.route.call.Reply().JSON {
		out.Stdout = strings.TrimSuffix(out.Stdout, "\n")
		d.received = len(out.Stdout)
		out.Stdout += "]"
		return d
	}
	d.received = len(out.Stdout)
	return d
}

// whole returns all of the answer. The result with an error says why it cannot be had.
func (d *divided) whole(ctx context.Context) (Result, error) {
	text, err := d.more(ctx, 0, d.out.Kept.Bytes)
	if err != nil {
		return failed(d.route.call.Name(), err), err
	}
	out := d.out
	out.Stdout, out.Total, out.Kept = text, int64(len(text)), nil
	return d.result(out, nil), nil
}

// more returns a part of the answer as it is kept.
func (d *divided) more(ctx context.Context, from, atLeast int) (string, error) {
	text, err := d.out.Kept.More(ctx, from, atLeast)
	if errors.Is(err, exec.ErrNotKept) {
		return "", &pages.Gone{}
	}
	return text, err
}

// total is how many bytes the pages of the answer have.
func (d *divided) total() int64 {
	if d.route.call.Reply().JSON {
		return int64(d.out.Kept.Bytes) - 1 // the line break behind an array is left out
	}
	return int64(d.out.Kept.Bytes)
}

// mostAtOnce is how many bytes a program is asked for beyond what a page needs.
const mostAtOnce = 1 << 20

// extend returns what is kept of a divided answer, with as much more of it as the page of a
// request needs; or all of it, where that is asked for or a part cannot be put behind another.
func (s storedAnswer) extend(ctx context.Context, req Request, from storedText, all bool) (storedAnswer, storedText, error) {
	for s.answer.divided != nil {
		d := *s.answer.divided
		missing := from.at.At + req.MaxOutput + 1 - d.received
		if all || !d.plain || req.MaxOutput == 0 {
			return s.undivided(ctx, from)
		}
		if missing <= 0 {
			if page, err := s.pageAt(req, from); err != nil || !page.Last() {
				return s, from, err
			}
			missing = req.MaxOutput // the page would end with what has come
		}
		// Whoever reads on gets more at once each time: a copy is made of what there is.
		text, err := d.more(ctx, d.received, max(missing, min(d.received, mostAtOnce)))
		if err != nil {
			return s, from, err
		}
		shown, report := clean.Text(text)
		if shown == "" || !report.None() {
			return s.undivided(ctx, from)
		}
		s, from.text = s.with(d, from.text, shown)
	}
	return s, from, nil
}

// with returns what is kept with more of the answer behind it.
func (s storedAnswer) with(d divided, before, more string) (storedAnswer, string) {
	isArray := d.route.call.Reply().JSON
	if isArray {
		before = strings.TrimSuffix(before, "]")
		if d.received+len(more) < d.out.Kept.Bytes {
			more = strings.TrimSuffix(more, "\n") // which every part ends with
		}
	}
	d.received += len(more)
	text := before + more
	if s.answer.divided = &d; d.received < d.out.Kept.Bytes {
		if isArray {
			text += "]"
		}
		return s, text
	}
	whole := text
	if isArray {
		text = strings.TrimSuffix(text, "\n")
	}
	s.answer.divided, s.answer.rows, s.whole = nil, pages.Rows{}, wholeOf(whole, text)
	return s.withRows(text), text
}

// withRows returns what is kept with the number of rows of the whole answer.
func (s storedAnswer) withRows(text string) storedAnswer {
	s.answer.Stdout = text
	s.answer = s.answer.counted()
	s.answer.Stdout = ""
	return s
}

// undivided returns all of a divided answer as it would be kept if it had come at once.
func (s storedAnswer) undivided(ctx context.Context, from storedText) (storedAnswer, storedText, error) {
	whole, err := s.answer.divided.whole(ctx)
	if err != nil {
		return s, from, err
	}
	return s.filledWith(whole, from)
}

// filledWith returns what is kept with all of the answer in place of its first part.
func (s storedAnswer) filledWith(whole Result, from storedText) (storedAnswer, storedText, error) {
	answer := whole
	if answer.form == pages.JSON {
		answer.Stdout, answer.rows = pages.Compact(answer.Stdout)
	}
	if at := min(from.at.At, len(from.text)-1); at < 0 || !strings.HasPrefix(answer.Stdout, from.text[:at]) {
		return s, from, &pages.Gone{} // the position would be another one
	}
	from.text = answer.Stdout
	answer.Stdout, answer.raw = "", ""
	s.answer, s.whole = answer, wholeOf(whole.Stdout, from.text)
	return s.withRows(from.text), from, nil
}

// madeAgain is extend for an answer that the program has forgotten: it had to make room. From
// the same state it makes the same one again.
func (g *vaultGateway) madeAgain(ctx context.Context, hold *exec.Hold, req Request, from storedText, first storedAnswer) (storedAnswer, storedText, error) {
	state := first.answer.state
	first.answer.state = "" // so that it is not left out
	whole, _ := g.readAgain(ctx, hold, req, first)
	if first.answer.state = state; !whole.OK || state == "" || whole.state != state {
		return first, from, &pages.Gone{}
	}
	return first.filledWith(whole, from)
}
