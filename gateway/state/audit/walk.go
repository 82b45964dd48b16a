package audit

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// raw is a line as it is in a file.
type raw struct {
	number  int    // from 1, counted from where reading began
	text    []byte // without its end; nil if it is longer than a line can be
	at, end int64
	whole   bool // has its end
}

// eachRaw gives the lines of a file between two offsets to visit. Their text is
// good until visit returns.
func eachRaw(in io.ReaderAt, from, to int64, visit func(raw)) error {
	if from >= to {
		return nil
	}
	lines := bufio.NewReaderSize(io.NewSectionReader(in, from, to-from), maxLine)
	for number, at := 1, from; ; number++ {
		text, length, err := readRaw(lines)
		if err != nil && err != io.EOF {
			return err
		}
		if length == 0 {
			return nil
		}
		r := raw{number, text, at, at + length, err == nil}
		if r.whole && text != nil {
			r.text = text[:len(text)-1]
		}
		visit(r)
		at += length
	}
}

func readRaw(lines *bufio.Reader) (text []byte, length int64, err error) {
	text, err = lines.ReadSlice('\n')
	length = int64(len(text))
	for errors.Is(err, bufio.ErrBufferFull) {
		var more []byte
		more, err = lines.ReadSlice('\n')
		length += int64(len(more))
		text = nil
	}
	return text, length, err
}

// walker follows the chain through files, the oldest first.
type walker struct {
	at   point // the last line that fits
	file string
	line int // its place

	in   io.ReaderAt
	last int64 // where it begins
	end  int64 // and what is behind it
	open bool  // it has no end of line

	// What does not fit begins at loose, -1 if everything does. It may be what is
	// left of lines that were never finished, which a gap explains.
	loose   int64
	misfit  Break
	foreign *Break // a line of a log that is there
	// broke is the first break that a line records.
	broke    *Break
	brokeSeq uint64
	lines    int
	gaps     int

	mark    int64 // an offset that a line is to end at
	marked  bool
	atMark  point
	markNum int // the line there
}

// walk goes through a file between two offsets.
func (w *walker) walk(name string, in io.ReaderAt, from, to int64) error {
	w.in, w.end, w.loose, w.open, w.foreign = in, from, -1, false, nil
	if w.mark == from {
		w.marked, w.atMark = true, w.at
	}
	return eachRaw(in, from, to, func(r raw) { w.step(name, r) })
}

func (w *walker) step(name string, r raw) {
	l, ok := readLink(r.text)
	ok = ok && json.Valid(r.text) // one that was cut short begins well
	if ok && l.follows(w.at) && (w.loose < 0 || w.isExplained(l, r)) {
		w.accept(name, l, r)
		return
	}
	here := w.explain(name, r, l, ok)
	if w.loose < 0 {
		w.loose, w.misfit = r.at, here
	}
	if ok && w.foreign == nil {
		w.foreign = &here
	}
	if ok && l.kind == kindBreak {
		w.noteBreak(name, l, r)
	}
}

func (w *walker) accept(name string, l link, r raw) {
	if l.kind == kindBreak {
		w.noteBreak(name, l, r)
	}
	if l.kind == kindGap {
		w.gaps++
	}
	w.at = point{l.seq, sha256.Sum256(r.text)}
	w.file, w.line = name, r.number
	w.last, w.end, w.open = r.at, r.end, !r.whole
	w.loose, w.foreign = -1, nil
	w.lines++
	if r.end == w.mark {
		w.marked, w.atMark, w.markNum = true, w.at, r.number
	}
}

// noteBreak keeps the first break that a line records.
func (w *walker) noteBreak(name string, l link, r raw) {
	if w.broke == nil {
		w.broke, w.brokeSeq = &Break{name, r.number, whyOf(r.text)}, l.seq
	}
}

func whyOf(text []byte) string {
	if line, ok := parse(text); ok && line.Repair != nil {
		return line.Repair.Why
	}
	return ""
}

// isExplained reports whether r is a gap that explains all that is loose.
func (w *walker) isExplained(l link, r raw) bool {
	if l.kind != kindGap {
		return false
	}
	line, ok := parse(r.text)
	if !ok || line.Repair == nil || line.Repair.Torn != r.at-w.loose {
		return false
	}
	sum, err := sumOf(w.in, w.loose, r.at, "")
	return err == nil && sum == line.Repair.Sum
}

// sumOf returns the SHA-256 of a part of a file and what is to come behind it.
func sumOf(in io.ReaderAt, from, to int64, more string) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(in, from, to-from)); err != nil {
		return "", err
	}
	_, _ = io.WriteString(sum, more)
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// explain says why a line does not fit, and which line that is.
func (w *walker) explain(name string, r raw, l link, ok bool) Break {
	switch {
	case !ok:
		return Break{name, r.number, "is not a line of this log"}
	case l.kind == kindBreak:
		return Break{name, r.number, whyOf(r.text)}
	case l.seq == 1 && l.prev == point{}.hash:
		return Break{name, r.number, "starts a second log"}
	case l.seq != w.at.seq+1:
		return Break{name, r.number, fmt.Sprintf("has number %d, expected %d", l.seq, w.at.seq+1)}
	case w.lines == 0:
		return Break{name, r.number, "does not follow the line before it"}
	}
	return Break{w.file, w.line, "was changed, or the next line's hash of it was"}
}
