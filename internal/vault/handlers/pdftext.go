package handlers

// [readPDF] returns the text of PDF files, page by page. It knows no layout: pieces of text come in the order of the
// file, on a new line where the file moves to one.
//
// A library reads the files. It panics on many that are damaged, and can take any time and memory for one that was
// made for that. Here every read of the file charges the budget of the call, and a panic is an error; what allocates
// at once is the concern of the caller, see system.LimitMemory.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/guard"
)

// malformedPDF says why a file, or a page of it, has no text that can be read.
type malformedPDF struct{ Reason string }

func (m *malformedPDF) Error() string { return m.Reason }

// pdfPage is the text of a page; Err is a [*malformedPDF] for one that cannot be read.
type pdfPage struct {
	Number int // from 1
	Text   guard.Unjudged
	Err    error
}

// readPDF returns the pages of a PDF from first to last, and how many pages it has. The file is
// changed in memory. The error is a [*malformedPDF], or that of the budget.
func readPDF(file []byte, first, last int, uses *budget.Budget) (pages []pdfPage, total int, err error) {
	defer func() { err = explainPDF(recover(), err, uses) }()
	// Readers of PDF ignore what follows its end, and version 2.0 is read like 1.7.
	if end := bytes.LastIndex(file, []byte("%%EOF")); end >= 0 {
		file = append(file[:end:end], "%%EOF"...)
	}
	if bytes.HasPrefix(file, []byte("%PDF-")) && len(file) > len(header) {
		copy(file, header)
	}
	r, err := pdf.NewReader(charged{file, uses}, int64(len(file)))
	if err != nil {
		return nil, 0, err
	}
	fonts := map[string]*pdf.Font{}
	err = eachPage(r.Trailer().Key("Root").Key("Pages"), 0, func(p pdf.Page) error {
		if total++; total < first || total > last {
			return nil
		}
		text, err := textOfPage(p, fonts, uses)
		var malformed *malformedPDF
		if err != nil && !errors.As(err, &malformed) {
			return err
		}
		pages = append(pages, pdfPage{total, guard.NewUnjudged([]byte(text)), err})
		return uses.Put(int64(len(text)))
	})
	return pages, total, err
}

const header = "%PDF-1.7\n"

// explainPDF returns the error of a read that ended with a panic, with an error, or well.
func explainPDF(panicked any, err error, uses *budget.Budget) error {
	if over := uses.Err(); over != nil {
		return over
	}
	var malformed *malformedPDF
	switch {
	case panicked != nil:
		if _, ours := panicked.(runtime.Error); ours { // of the library: a length or an index that the file has
			return &malformedPDF{"a number in it is wrong"}
		}
		return &malformedPDF{reason(fmt.Sprint(panicked))}
	case err != nil && !errors.As(err, &malformed):
		return &malformedPDF{reason(err.Error())}
	}
	return err
}

// reason is what the library says, without what it repeats of the file.
func reason(text string) string {
	const most = 80
	if i := strings.IndexAny(text, "\"'`(<["); i > 0 {
		text = text[:i]
	}
	text = strings.TrimPrefix(strings.TrimPrefix(text, "malformed PDF: "), "malformed PDF file: ")
	return strings.ToValidUTF8(strings.TrimRight(text[:min(len(text), most)], " :"), "")
}

// charged reads a file and charges for each read, so that a loop in the file ends.
type charged struct {
	file []byte
	uses *budget.Budget
}

// ReadAt charges a step for every eight bytes: of compressed data they are a thousand times as
// many.
func (c charged) ReadAt(into []byte, at int64) (int, error) {
	if err := c.uses.Step(64 + int64(len(into))/8); err != nil {
		return 0, err
	}
	if err := c.uses.Err(); err != nil {
		return 0, err
	}
	return bytes.NewReader(c.file).ReadAt(into, at)
}

// decoded charges for what a stream, or a list of streams, is when it is decoded: a thousand times
// what it is in the file, at worst.
type decoded struct{ uses *budget.Budget }

// Write charges a step for two bytes.
func (d decoded) Write(piece []byte) (int, error) {
	return len(piece), d.uses.Step(int64(len(piece))/2 + 1)
}

func (d decoded) charge(stream pdf.Value) {
	for i := range stream.Len() {
		d.charge(stream.Index(i))
	}
	if stream.Kind() == pdf.Stream {
		_, _ = io.Copy(d, stream.Reader()) // what cannot be decoded is an error later
	}
	if err := d.uses.Err(); err != nil {
		panic(err)
	}
}

const maxPDFDepth = 64 // of the tree of pages

// eachPage visits the pages below a node of the tree. Nobody has to believe its counts.
func eachPage(node pdf.Value, depth int, visit func(pdf.Page) error) error {
	if depth > maxPDFDepth {
		return &malformedPDF{"the tree of pages is too deep"}
	}
	kids := node.Key("Kids")
	for i := range kids.Len() {
		kid := kids.Index(i)
		var err error
		if kid.Key("Kids").Kind() == pdf.Array {
			err = eachPage(kid, depth+1, visit)
		} else if kid.Kind() == pdf.Dict {
			err = visit(pdf.Page{V: kid})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// textOfPage returns the text of a page. Fonts are kept for the pages to come, by what they are.
func textOfPage(p pdf.Page, fonts map[string]*pdf.Font, uses *budget.Budget) (text string, err error) {
	defer func() { err = explainPDF(recover(), err, uses) }()
	contents := p.V.Key("Contents")
	if contents.Kind() == pdf.Null {
		return "", nil
	}
	decoded{uses}.charge(contents)
	// A font names its objects by numbers, which are those of the whole file.
	known := p.Resources().Key("Font")
	var out strings.Builder
	var font *pdf.Font
	var lineY float64
	begin := func(mark byte) { // a line or a word, where there is text before it
		before := out.String()
		isNew := before == "" || strings.HasSuffix(before, "\n")
		isAfterBlank := mark == ' ' && strings.HasSuffix(before, " ")
		if !isNew && !isAfterBlank {
			out.WriteByte(mark)
		}
	}
	show := func(v pdf.Value) {
		raw := v.RawString()
		if font != nil {
			raw = font.Encoder().Decode(raw)
		}
		if err := errors.Join(uses.Step(int64(len(raw))), uses.Hold(int64(len(raw)))); err != nil {
			panic(err)
		}
		out.WriteString(strings.ToValidUTF8(raw, string(utf8.RuneError)))
	}
	pdf.Interpret(contents, func(stack *pdf.Stack, operator string) {
		if err := uses.Step(1); err != nil {
			panic(err)
		}
		args := make([]pdf.Value, stack.Len())
		for i := len(args) - 1; i >= 0; i-- {
			args[i] = stack.Pop()
		}
		number := func(i int) float64 {
			if i >= len(args) {
				return 0
			}
			return args[i].Float64()
		}
		if len(args) == 0 && strings.Contains(" Tf ' \" Tj TJ ", " "+operator+" ") {
			return
		}
		switch operator {
		case "BT", "T*":
			begin('\n')
		case "Td", "TD": // to another line, or further on this one
			if number(1) != 0 {
				begin('\n')
			} else {
				begin(' ')
			}
		case "Tm":
			if y := number(5); y != lineY {
				lineY = y
				begin('\n')
			} else {
				begin(' ')
			}
		case "Tf":
			value := known.Key(args[0].Name())
			id := value.String()
			if font = fonts[id]; font == nil {
				decoded{uses}.charge(value.Key("ToUnicode"))
				font = &pdf.Font{V: value}
				fonts[id] = font
			}
		case "'", `"`:
			begin('\n')
			show(args[len(args)-1])
		case "Tj":
			show(args[len(args)-1])
		case "TJ":
			list := args[len(args)-1]
			for i := range list.Len() {
				if item := list.Index(i); item.Kind() == pdf.String {
					show(item)
				} else if item.Float64() < -wordGap {
					begin(' ')
				}
			}
		}
	})
	return strings.TrimSpace(out.String()), nil
}

// wordGap is the distance between two pieces of a line, in thousandths of the size of the font,
// from which on there is a blank between them. A blank of a font has 250 or more.
const wordGap = 180
