package answer

import (
	"bytes"

	"vaultwicket/cmd/internal/vault/kept"
)

// Part says how much of a long answer is printed. The zero Part is all of it.
type Part struct {
	// Bytes is how much is printed at least; the part ends with the row in which it is
	// reached, or a few rows later.
	Bytes int
	// Lines says that every line is a row, whatever the answer is made of. Without it only
	// a listing that knows its own rows is divided.
	Lines bool
}

// Whole is an answer of which a part is printed.
type Whole struct {
	Pieces [][]byte // each ends with a row
	Size   int      // of all pieces, in bytes
	Rows   int
}

const (
	// pieceSize is how large the pieces of an answer are at least: so much more than was
	// asked for a part may have.
	pieceSize = 2 << 10
	// chunkSize is how much memory is taken at once for pieces.
	chunkSize = 64 << 10
)

// Divide leaves the first part of the answer in the reply, and returns the whole. It is not
// ok, and the same is printed as before, if nothing follows that part, if the whole is too
// large to be kept, or if the reply has no rows to be divided between.
func (r *Reply) Divide(p Part) (whole Whole, ok bool) {
	switch {
	case p.Bytes <= 0 || r.Status != ExitDone || r.Body != nil || r.Image != "":
		return Whole{}, false
	case r.rows.row != nil && r.Text == "":
		return r.divideRows(p)
	case r.rows.row == nil && p.Lines && p.Bytes < len(r.Text) && len(r.Text) < kept.MaxBytes:
		return r.divideText(p.Bytes)
	}
	return Whole{}, false
}

func (r *Reply) divideText(first int) (whole Whole, ok bool) {
	text := []byte(r.Text)
	if text[len(text)-1] != '\n' {
		text = append(text, '\n') // with which every answer ends
	}
	for len(text) > 0 {
		end := len(text)
		if from := pieceSize - 1; from < end {
			end = from + bytes.IndexByte(text[from:], '\n') + 1
		}
		whole.add(text[:end:end], true)
		text = text[end:]
	}
	part := kept.First(whole.Pieces, first)
	if len(part) == len(whole.Pieces) {
		return Whole{}, false
	}
	r.Text, r.rows = "", rows{}.behind(part, 0)
	return whole, true
}

// divideRows makes the rows now, and not while they are printed.
func (r *Reply) divideRows(p Part) (whole Whole, ok bool) {
	var chunk []byte
	begun, place := 0, 0
	for ; place < r.rows.count && whole.Size < kept.MaxBytes; place++ {
		if chunk = r.rows.row(chunk, place); len(chunk)-begun < pieceSize {
			continue
		}
		whole.add(chunk[begun:len(chunk):len(chunk)], p.Lines)
		if begun = len(chunk); begun > chunkSize-2*pieceSize {
			chunk, begun = make([]byte, 0, chunkSize), 0
		}
	}
	if len(chunk) > begun {
		whole.add(chunk[begun:], p.Lines)
	}
	part := kept.First(whole.Pieces, p.Bytes)
	ok = whole.Size < kept.MaxBytes && len(part) < len(whole.Pieces) && (!p.Lines || bytes.HasSuffix(part[len(part)-1], []byte("\n")))
	if !ok {
		r.rows = r.rows.behind(whole.Pieces, place)
		return Whole{}, false
	}
	if last := whole.Pieces[len(whole.Pieces)-1]; last[len(last)-1] != '\n' {
		whole.add([]byte("\n"), p.Lines) // with which every answer ends
	}
	if !p.Lines {
		whole.Rows = r.rows.count
	}
	r.rows = rows{}.behind(part, 0)
	return whole, true
}

// add adds a piece, with its lines where these are rows.
func (w *Whole) add(piece []byte, lines bool) {
	w.Pieces, w.Size = append(w.Pieces, piece), w.Size+len(piece)
	if lines {
		w.Rows += bytes.Count(piece, []byte("\n"))
	}
}

// behind returns rows of which those before a place are made already.
func (r rows) behind(made [][]byte, place int) rows {
	return rows{len(made) + r.count - place, func(b []byte, at int) []byte {
		if at < len(made) {
			return append(b, made[at]...)
		}
		return r.row(b, place+at-len(made))
	}}
}

// Pieces returns a reply of success whose text is in pieces.
func Pieces(pieces [][]byte) Reply { return Reply{rows: rows{}.behind(pieces, 0)} }
