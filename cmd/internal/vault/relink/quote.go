package relink

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// unquote returns what a JSON string says.
func unquote(quoted []byte) string {
	var text string
	_ = json.Unmarshal(quoted, &text) // it comes out of valid JSON
	return text
}

// quote writes a JSON string and escapes no more than it must.
func quote(text string) []byte {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string always encodes
	return bytes.TrimSuffix([]byte(out.String()), []byte("\n"))
}

// onto turns edits to what a JSON string says into edits to the string as it is
// written, which begins at at.
func onto(quoted []byte, at int, edits []edit) []edit {
	out := make([]edit, len(edits))
	from, said := 1, 0 // in quoted, and in what it says
	advance := func(to int) int {
		for said < to {
			if quoted[from] < utf8.RuneSelf && quoted[from] != '\\' {
				said++
				from++
				continue
			}
			size := unitSize(quoted[from:])
			said += len(unquote(append(append([]byte{'"'}, quoted[from:from+size]...), '"')))
			from += size
		}
		return from
	}
	for i, e := range edits {
		written := quote(e.text)
		out[i].Start = at + advance(e.Start)
		out[i].End = at + advance(e.End)
		out[i].text = string(written[1 : len(written)-1])
	}
	return out
}

// unitSize returns the length of the piece at the start of a JSON string that
// says whole characters: an escape, both halves of one, or a run of bytes.
func unitSize(quoted []byte) int {
	switch {
	case quoted[0] != '\\':
		size := 1
		for quoted[size] >= 0x80 && quoted[size] < 0xc0 {
			size++
		}
		return size
	case quoted[1] != 'u':
		return len(`\n`)
	}
	const escape = len(`\ud83d`)
	low := bytes.HasPrefix(quoted[escape:], []byte(`\u`))
	if low && strings.EqualFold(string(quoted[2]), "d") && len(unquote([]byte(`"`+string(quoted[:2*escape])+`"`))) == 4 {
		return 2 * escape
	}
	return escape
}
