package answer

import (
	"bytes"
	"math/bits"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

// Rows is [From] for a reply that is produced while it is printed, so that a long listing is never in memory as a
// whole. row appends the row at a place; it is called once for each of count rows, in order, until the reader has
// gone.
func Rows(read *disk.Folder, count int, row func(b []byte, place int) []byte) Reply {
	if read == nil {
		return Reply{}
	}
	return printRows(count, row)
}

func printRows(count int, row func(b []byte, place int) []byte) Reply {
	return Reply{rows: rows{count, row}}
}

// rows is the part of a reply that is produced while it is printed.
type rows struct {
	count int
	row   func(b []byte, place int) []byte
}

// usualRow is the initial estimate of the longest row, in bytes. The buffer is flushed when its free space is smaller
// than the longest row so far, up to half of the buffer. A longer row is copied.
const usualRow = 2 << 10

// Listing is a table whose cells are produced while it is printed.
type Listing struct {
	Columns []string
	Sparse  bool // cells without text are left out of JSON
	Rows    int
	// Cell appends the text of a cell.
	Cell func(b []byte, row, column int) []byte

	width func(row int) int // number of cells of a row; nil if all rows are complete
}

// Reply is [From] for the listing in one of its formats; the default is TSV. As in the app, TSV has no header line, and
// neither has CSV.
func (l Listing) Reply(read *disk.Folder, form string) Reply {
	if read == nil {
		return Reply{}
	}
	return l.reply(form)
}

func (l Listing) reply(form string) Reply {
	if l.width == nil {
		l.width = func(int) int { return len(l.Columns) }
	}
	switch form {
	case FormatJSON:
		// An array of objects whose keys keep their order.
		if l.Rows == 0 {
			return Text("[]")
		}
		said := l.array(spacing{row: "\n  ", key: "\n    ", colon: ": ", end: "\n"})
		said.tight = l.array(spacing{colon: ":"}).rows
		return said
	case FormatCSV:
		return printRows(l.Rows, func(b []byte, row int) []byte { return l.line(b, row, ',', quoteCSV) })
	}
	return printRows(l.Rows, func(b []byte, row int) []byte { return l.line(b, row, '\t', keepInCell) })
}

// line appends the cells of a row. mend escapes the cell that begins at start.
func (l *Listing) line(b []byte, row int, between byte, mend func(b []byte, start int) []byte) []byte {
	for column := range l.width(row) {
		if column > 0 {
			b = append(b, between)
		}
		start := len(b)
		b = mend(l.Cell(b, row, column), start)
	}
	return append(b, '\n')
}

// keepInCell replaces tabs and line breaks in a cell by spaces, so that they do not look like another cell or row.
func keepInCell(b []byte, start int) []byte {
	if bytes.ContainsAny(b[start:], "\t\r\n") {
		return append(b[:start], oneLine.Replace(string(b[start:]))...)
	}
	return b
}

var oneLine = strings.NewReplacer("\t", " ", "\r\n", " ", "\n", " ", "\r", " ")

// quoteCSV puts a cell in quotes if package encoding/csv would.
func quoteCSV(b []byte, start int) []byte {
	cell := b[start:]
	first, _ := utf8.DecodeRune(cell)
	if !bytes.ContainsAny(cell, ",\"\r\n") && !unicode.IsSpace(first) && string(cell) != `\.` {
		return b
	}
	text := strings.ReplaceAll(string(cell), `"`, `""`)
	return append(append(append(b[:start], '"'), text...), '"')
}

// spacing is the text between the tokens of an array of objects.
type spacing struct{ row, key, colon, end string }

// array returns the listing as a JSON array of objects. The text between two cells is built only once per column: a
// comma, the key, a colon and the opening quote.
func (l Listing) array(space spacing) Reply {
	keys := make([][]byte, len(l.Columns))
	for i, name := range l.Columns {
		keys[i] = append(AppendJSON([]byte(","+space.key), name), space.colon+`"`...)
	}
	open := "," + space.row + "{"
	closing := space.row + "}"
	end := space.end + "]"
	return printRows(l.Rows, func(b []byte, row int) []byte {
		start := len(b)
		b = append(b, open...)
		if row == 0 {
			b[start] = '['
		}
		first := len(b)
		for column, key := range keys[:l.width(row)] {
			before := len(b)
			if before == first {
				key = key[1:]
			}
			b = append(b, key...)
			start := len(b)
			b = l.Cell(b, row, column)
			switch text := b[start:]; {
			case l.Sparse && len(text) == 0:
				b = b[:before]
			case isPlainJSON(text):
				b = append(b, '"')
			default:
				b = AppendJSON(b[:start-1], string(text))
			}
		}
		b = append(b, closing...)
		if row == l.Rows-1 {
			b = append(b, end...)
		}
		return b
	})
}

// AppendNumber appends a number in the form of a cell.
func AppendNumber(b []byte, n int) []byte { return strconv.AppendInt(b, int64(n), 10) }

// The formats of a table.
const (
	FormatJSON = "json"
	FormatTSV  = "tsv"
	FormatCSV  = "csv"
)

// Table is a table to be printed. All cells are text: the app prints numbers as strings in JSON too.
type Table struct {
	Columns []string
	Rows    [][]string
	Sparse  bool // empty cells are left out of JSON
	Pairs   bool // Add also adds the second cell
}

// Reply returns the table in one of its formats, see [Listing.Reply].
func (r Table) Reply(read *disk.Folder, form string) Reply { return r.listing().Reply(read, form) }

func (r Table) listing() Listing {
	return Listing{
		Columns: r.Columns, Sparse: r.Sparse, Rows: len(r.Rows), width: func(row int) int { return len(r.Rows[row]) },
		Cell: func(b []byte, row, column int) []byte { return append(b, r.Rows[row][column]...) },
	}
}

// Print returns the text of the table in one of its formats.
func (r Table) Print(form string) string {
	reply := r.listing().reply(form)
	text := []byte(reply.text)
	for place := range reply.rows.count {
		text = reply.rows.row(text, place)
	}
	return string(text)
}

// Add adds a row with a name and, in a table of pairs, a second cell.
func (r *Table) Add(name, second string) {
	if r.Pairs {
		r.Rows = append(r.Rows, []string{name, second})
		return
	}
	r.Rows = append(r.Rows, []string{name})
}

// QuoteJSON returns a text as a JSON string as JavaScript writes it, without escapes for < > &. Invalid UTF-8 becomes
// U+FFFD.
func QuoteJSON(s string) string { return string(AppendJSON(nil, s)) }

// AppendJSON appends the result of [QuoteJSON].
func AppendJSON(b []byte, s string) []byte {
	if isPlainJSON(s) {
		return append(append(append(b, '"'), s...), '"')
	}
	text, _ := excerpt.JSON(s) // cannot fail for a string
	return append(b, text...)
}

// isPlainJSON reports whether a text needs no escapes in a JSON string. U+2028 and U+2029 need them, because they end a
// line in JavaScript.
func isPlainJSON[T string | []byte](s T) bool {
	for at := 0; ; {
		if at += plainASCII(s[at:]); at == len(s) {
			return true
		}
		r, size := utf8.DecodeRuneInString(string(s[at:min(len(s), at+utf8.UTFMax)]))
		isDamaged := r == utf8.RuneError && size == 1
		endsLine := r == '\u2028' || r == '\u2029'
		if r < utf8.RuneSelf || isDamaged || endsLine {
			return false
		}
		at += size
	}
}

const (
	wordSize  = 8
	everyByte = 0x0101010101010101
	highBits  = 0x80 * everyByte
)

// plainASCII returns the length of the longest prefix of ASCII characters that need no escapes in JSON. It examines
// eight bytes at a time; the last eight end with the text and may overlap the ones before.
func plainASCII[T string | []byte](s T) int {
	if len(s) < wordSize {
		for at := range len(s) {
			c := s[at]
			isASCII := c >= ' ' && c < utf8.RuneSelf
			if !isASCII || c == '"' || c == '\\' {
				return at
			}
		}
		return len(s)
	}
	for at := 0; at+wordSize <= len(s); at += wordSize {
		if first := marked(word(s[at:])); first != 0 {
			return at + bits.TrailingZeros64(first)/8
		}
	}
	at := len(s) - wordSize
	return at + bits.TrailingZeros64(marked(word(s[at:])))/8 // len(s) if no byte is marked: the count is then 64
}

// word returns the first eight bytes of a text in little-endian order.
func word[T string | []byte](s T) uint64 {
	w := s[:wordSize] // a single bounds check
	return uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
		uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
}

// marked returns a word in which the high bit of the first byte that is not plain is set, and the high bits of all
// bytes before it are not. Bytes above the first may be marked wrongly, because the subtractions carry.
func marked(word uint64) uint64 {
	quote := word ^ '"'*everyByte
	backslash := word ^ '\\'*everyByte
	return (word | (word - ' '*everyByte) | (quote - everyByte) | (backslash - everyByte)) & highBits
}
