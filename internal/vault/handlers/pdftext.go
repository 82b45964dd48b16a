package handlers

// [readPDF] returns the text of PDF files, page by page. It ignores the layout: pieces of text are in the order of the
// file, with a line break where the file moves to another line.
//
// The library that parses the files panics on many damaged ones, and can need unlimited time and memory for a malicious
// one. Here every read of the file charges the budget of the call, and a panic becomes an error. Single large
// allocations are limited by the caller, see system.LimitMemory.

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

// malformedPDF is the reason why the text of a file, or of a page, cannot be read.
type malformedPDF struct{ Reason string }

func (m *malformedPDF) Error() string { return m.Reason }

// pdfPage is the text of a page; Err is a [*malformedPDF] for one that cannot be read.
type pdfPage struct {
	Number int // from 1
	Text   guard.Unjudged
	Err    error
}

// readPDF returns the pages of a PDF from first to last, and the number of all pages. It modifies the bytes of file.
// The error is a [*malformedPDF], or that of the budget.
func readPDF(file []byte, first, last int, spent *budget.Budget) (pages []pdfPage, total int, err error) {
	defer func() { err = explainPDF(recover(), err, spent) }()
	// Like other PDF readers, ignore bytes after the end marker, and read version 2.0 as 1.7.
	if end := bytes.LastIndex(file, []byte("%%EOF")); end >= 0 {
		file = append(file[:end:end], "%%EOF"...)
	}
	if bytes.HasPrefix(file, []byte("%PDF-")) && len(file) > len(header) {
		copy(file, header)
	}
	r, err := pdf.NewReader(charged{file, spent}, int64(len(file)))
	if err != nil {
		return nil, 0, err
	}
	fonts := map[string]*pdf.Font{}
	err = eachPage(r.Trailer().Key("Root").Key("Pages"), 0, func(p pdf.Page) error {
		if total++; total < first || total > last {
			return nil
		}
		text, err := textOfPage(p, fonts, spent)
		var malformed *malformedPDF
		if err != nil && !errors.As(err, &malformed) {
			return err
		}
		pages = append(pages, pdfPage{total, guard.NewUnjudged([]byte(text)), err})
		return spent.Put(int64(len(text)))
	})
	return pages, total, err
}

const header = "%PDF-1.7\n"

// explainPDF returns the error of a read that ended with a panic, with an error, or without one.
func explainPDF(panicked any, err error, spent *budget.Budget) error {
	if over := spent.Err(); over != nil {
		return over
	}
	var malformed *malformedPDF
	switch {
	case panicked != nil:
		if _, isRuntime := panicked.(runtime.Error); isRuntime { // an invalid length or index in the file
			return &malformedPDF{"a number in it is wrong"}
		}
		return &malformedPDF{reason(fmt.Sprint(panicked))}
	case err != nil && !errors.As(err, &malformed):
		return &malformedPDF{reason(err.Error())}
	}
	return err
}

// reason returns an error text of the library without its prefixes and without text of the file.
func reason(text string) string {
	const maxLength = 80
	if i := strings.IndexAny(text, "\"'`(<["); i > 0 {
		text = text[:i]
	}
	text = strings.TrimPrefix(strings.TrimPrefix(text, "malformed PDF: "), "malformed PDF file: ")
	return strings.ToValidUTF8(strings.TrimRight(text[:min(len(text), maxLength)], " :"), "")
}

// charged reads a file and charges the budget for each read, so that a cycle in the file ends.
type charged struct {
	file []byte
	uses *budget.Budget
}

// ReadAt charges a step for every eight bytes, because compressed data can expand a thousandfold.
func (c charged) ReadAt(buf []byte, at int64) (int, error) {
	if err := c.uses.Step(64 + int64(len(buf))/8); err != nil {
		return 0, err
	}
	if err := c.uses.Err(); err != nil {
		return 0, err
	}
	return bytes.NewReader(c.file).ReadAt(buf, at)
}

// decoded charges the budget for the decoded size of a stream, or of a list of streams: in the worst case a thousand
// times its size in the file.
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
		_, _ = io.Copy(d, stream.Reader()) // a decoding error is reported when the page is interpreted
	}
	if err := d.uses.Err(); err != nil {
		panic(err)
	}
}

const maxPDFDepth = 64 // of the page tree

// eachPage visits the pages below a node of the page tree. It ignores the page counts in the tree.
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

// textOfPage returns the text of a page. It caches fonts for the following pages.
func textOfPage(p pdf.Page, fonts map[string]*pdf.Font, spent *budget.Budget) (text string, err error) {
	defer func() { err = explainPDF(recover(), err, spent) }()
	contents := p.V.Key("Contents")
	if contents.Kind() == pdf.Null {
		return "", nil
	}
	decoded{spent}.charge(contents)
	// The text of a font object identifies it in the whole file, because it refers to other objects by number.
	pageFonts := p.Resources().Key("Font")
	var out strings.Builder
	var font *pdf.Font
	var lineY float64
	startNew := func(mark byte) { // starts a line or a word, if there is text before it
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
		if err := errors.Join(spent.Step(int64(len(raw))), spent.Hold(int64(len(raw)))); err != nil {
			panic(err)
		}
		out.WriteString(strings.ToValidUTF8(raw, string(utf8.RuneError)))
	}
	pdf.Interpret(contents, func(stack *pdf.Stack, operator string) {
		if err := spent.Step(1); err != nil {
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
			startNew('\n')
		case "Td", "TD": // move to another line, or within this line
			if number(1) != 0 {
				startNew('\n')
			} else {
				startNew(' ')
			}
		case "Tm":
			if y := number(5); y != lineY {
				lineY = y
				startNew('\n')
			} else {
				startNew(' ')
			}
		case "Tf":
			value := pageFonts.Key(args[0].Name())
			id := value.String()
			if font = fonts[id]; font == nil {
				decoded{spent}.charge(value.Key("ToUnicode"))
				font = &pdf.Font{V: value}
				fonts[id] = font
			}
		case "'", `"`:
			startNew('\n')
			show(args[len(args)-1])
		case "Tj":
			show(args[len(args)-1])
		case "TJ":
			list := args[len(args)-1]
			for i := range list.Len() {
				if item := list.Index(i); item.Kind() == pdf.String {
					show(item)
				} else if item.Float64() < -wordGap {
					startNew(' ')
				}
			}
		}
	})
	return strings.TrimSpace(out.String()), nil
}

// wordGap is the minimum distance between two pieces of a line that counts as a space, in thousandths of the font size.
// The space of a font is 250 or wider.
const wordGap = 180
