package journal

import (
	"bufio"
	"errors"
	"hash/crc32"
	"io"

	"vaultwicket/gateway/state/journal/object"
)

// A line is the checksum of its JSON as eight hexadecimal digits, a space, the
// JSON, and a newline. The checksum is there against accidents: it tells a line
// that was cut short, or altered on the disk. It does not protect against intent.
const (
	sumLength = 8
	lineHead  = sumLength + len(" ")
	maxLine   = 1 << 20 // four times what is kept of a note in one
)

const hexDigits = "0123456789abcdef"

// appendLine appends the line with this JSON, which has no newline.
func appendLine(buf, record []byte) []byte {
	sum := crc32.ChecksumIEEE(record)
	for shift := 28; shift >= 0; shift -= 4 {
		buf = append(buf, hexDigits[sum>>shift&0xf])
	}
	buf = append(buf, ' ')
	buf = append(buf, record...)
	return append(buf, '\n')
}

// unwrap returns the JSON of a line without its newline.
func unwrap(line []byte) (record []byte, ok bool) {
	if len(line) < lineHead || line[sumLength] != ' ' {
		return nil, false
	}
	record = line[lineHead:]
	sum := crc32.ChecksumIEEE(record)
	for i := range sumLength {
		if line[i] != hexDigits[sum>>(28-4*i)&0xf] {
			return nil, false
		}
	}
	return record, true
}

// rawLine is a line as it is found, before anything of it is believed.
type rawLine struct {
	at      int64
	text    []byte // without the newline, until the next line is read
	length  int64  // with it
	torn    bool   // there is no newline
	tooLong bool   // text is empty
}

// lineReader reads lines of any length in bounded memory.
type lineReader struct {
	in *bufio.Reader
	at int64
}

func newLineReader(in io.Reader, at int64) *lineReader {
	return &lineReader{bufio.NewReaderSize(in, 64<<10), at}
}

// next returns the next line, and io.EOF behind the last one.
func (r *lineReader) next(buf []byte) (rawLine, []byte, error) {
	line, buf := rawLine{at: r.at}, buf[:0]
	for {
		piece, err := r.in.ReadSlice('\n')
		r.at += int64(len(piece))
		line.length += int64(len(piece))
		if line.tooLong = line.length > maxLine; line.tooLong {
			buf = buf[:0]
		} else {
			buf = append(buf, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == io.EOF && line.length == 0:
			return line, buf, io.EOF
		case err == io.EOF:
			line.torn = true
			line.text = buf
			return line, buf, nil
		case err != nil:
			return line, buf, err
		}
		if !line.tooLong {
			line.text = buf[:len(buf)-1]
		}
		return line, buf, nil
	}
}

// maxSalvage is how often something in a damaged line is tried.
const maxSalvage = 64

// salvage gives the sound lines within one that is not to sound: when a newline
// is lost, two lines become one, and both are still there.
func salvage(text []byte, sound func(record []byte)) {
	from := 1
	for range maxSalvage {
		at := beginning(text, from)
		if at < 0 {
			return
		}
		from = at + 1
		// In place of the newline may be another byte, or none.
		found := false
		for _, end := range []int{at - 1, at} {
			if record, ok := unwrap(text[:end]); ok && !found {
				sound(record)
				found = true
			}
		}
		if record, ok := unwrap(text[at:]); ok {
			sound(record)
			found = true
		}
		if found {
			return
		}
	}
}

// beginning returns where, at from or behind it, a line may begin, -1 if
// nowhere.
func beginning(text []byte, from int) int {
	for at := from; at+lineHead < len(text); at++ {
		if text[at+sumLength] == ' ' && text[at+lineHead] == '{' && object.IsHex(string(text[at:at+sumLength])) {
			return at
		}
	}
	return -1
}
