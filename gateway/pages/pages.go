// Package pages shows long answers a page at a time. [Cut] takes a page out of
// a text, [Fields] leaves out what nobody asked for, and a [Store] keeps the
// text until the rest of it is fetched with a cursor.
//
// A page ends where its reader would end it: behind a line, a record or a row,
// and where that is not possible between two characters as people see them.
// Nothing is parsed and written again. What stands on the pages are the bytes
// of the whole, so numbers, escapes and the order of keys stay as they were.
//
// The package does not ask what a text means, does not judge who may see it, and
// starts no goroutine. Time and memory for a page depend on the page, not on
// the whole: only the first page of a JSON text reads all of it, to know whether
// it can be cut into rows at all.
package pages

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Form says what the rows of a text are.
type Form uint8

const (
	// Text is the zero value: rows are lines. It fits every text, so also lists
	// of paths, Markdown, trees and YAML.
	Text Form = iota
	// JSON has the elements of an array as rows. A text that is no array, or no
	// JSON, is one row.
	JSON
	// CSV has records as rows, which may hold line ends in quotation marks. The
	// first record is a heading and not counted.
	CSV
	// BareCSV is CSV without a heading: every record counts.
	BareCSV
	// TSV has lines as rows: no cell holds a line end.
	TSV
	// Headed has lines as rows, in groups: a line "==> … <==" names the group of the
	// rows below it, and is none itself.
	Headed
	// Numbered has lines as rows that begin with a number and a colon. Every other line
	// names the group of the rows below it.
	Numbered
	formCount
)

const (
	// DefaultBytes is the size of a page for which no other is asked: clients
	// put results of more than about 40,000 characters aside.
	DefaultBytes = 32 << 10
	// MinBytes is the smallest size of a page: a character and a pair of
	// brackets fit into it.
	MinBytes = 8
)

// Limit says how much a page may hold. The zero Limit is [DefaultBytes] and any
// number of rows.
type Limit struct {
	Bytes int // 0: DefaultBytes, else at least MinBytes
	Rows  int // 0: any number
}

// Position says where in a text a page begins. The zero Position is the start;
// every other one comes from [Page.Next], also by way of a cursor.
type Position struct {
	At int // the offset in bytes
	// Until is the end of the row in which At lies, where a row is larger than a
	// page; 0 at the border of a row, and in a text that is cut into lines.
	Until int
}

// Page is a part of a text.
type Page struct {
	Text string
	// Next is where the following page begins; the zero Position on the last one.
	Next Position
	// Rows counts the rows that begin on this page: each row of the whole counts on
	// exactly one page.
	Rows int
	// Partial says that the page begins or ends within a row, so that a program
	// cannot read it by itself. A JSON page without it is JSON.
	Partial bool
}

// Last reports whether no page follows.
func (p Page) Last() bool { return p.Next == Position{} }

// Cut returns the page of whole that begins at a position. The whole is valid
// UTF-8, and the same for all its pages.
//
// The pages of a text, of CSV and of TSV put together are the whole, byte for
// byte. So are those of JSON that is no array. The pages of an array are arrays
// with the rows in order, each with its own bytes and what stands between it and
// the next; all pages in one are the whole again.
//
// A page is within the limit. A row that is larger than a page is cut as text,
// and its pages are Partial. A cluster of characters that people see as one is
// cut only if it is larger than a page.
//
// The error is an *[Invalid] about the form, the limit or the position. A
// position that was made up is refused only if it lies in a character or outside of
// the whole; else it gives what stands there.
func Cut(whole string, form Form, at Position, limit Limit) (Page, error) {
	return Whole{Text: whole, Form: form}.cut(at, limit)
}

func (w Whole) cut(at Position, limit Limit) (Page, error) {
	whole, form := w.Text, w.Form
	if form >= formCount {
		return Page{}, &Invalid{"form", fmt.Sprintf("%d is not one of pages", form), "use Text, JSON, CSV, BareCSV or TSV"}
	}
	if err := limit.check(); err != nil {
		return Page{}, err
	}
	if err := at.check(whole, form); err != nil {
		return Page{}, err
	}
	if limit.Bytes == 0 {
		limit.Bytes = DefaultBytes
	}
	switch form {
	case JSON:
		return cutJSON(whole, w.Rows, at, limit), nil
	case CSV, BareCSV:
		return cutRecords(whole, form, at, limit), nil
	}
	return cutLines(whole, form, at.At, limit), nil
}

func (l Limit) check() error {
	switch {
	case l.Bytes < 0, l.Bytes > 0 && l.Bytes < MinBytes:
		return &Invalid{"size of a page", fmt.Sprintf("is %d bytes, which is below %d", l.Bytes, MinBytes), "give a larger one, or none"}
	case l.Rows < 0:
		return &Invalid{"number of rows", fmt.Sprintf("is %d, which is below zero", l.Rows), "give a number from 1, or none"}
	}
	return nil
}

func (p Position) check(whole string, form Form) error {
	inRow := p.Until != 0
	switch {
	case p == Position{}:
		return nil
	case p.At < 0, p.At >= len(whole), inRow && (p.Until <= p.At || p.Until > len(whole)):
		return madeUp("is outside of the answer")
	case inRow && form.HasLines():
		return madeUp("is of an answer of another form")
	case !isBorder(whole, p.At), inRow && !isBorder(whole, p.Until):
		return madeUp("is within a character")
	}
	return nil
}

// HasLines reports whether the rows are lines.
func (f Form) HasLines() bool { return f == Text || f == TSV || f == Headed || f == Numbered }

func madeUp(reason string) error { return &Invalid{"position", reason, sendAsItWas} }

// isBorder reports whether s can be parted at an offset from 0 to its length:
// neither within a character nor within a return and newline.
func isBorder(s string, at int) bool {
	for start := at - 1; start >= max(0, at-utf8.UTFMax+1); start-- {
		if utf8.RuneStart(s[start]) {
			_, size := utf8.DecodeRuneInString(s[start:])
			return start+size <= at && !strings.HasPrefix(s[at-1:], "\r\n")
		}
	}
	return true
}
