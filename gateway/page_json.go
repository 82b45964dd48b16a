package gateway

import (
	"bytes"
	"encoding/json"
	"strings"
)

// surveyJSON returns the rows of a text of form JSON.
func surveyJSON(text string) compactedRows {
	if !json.Valid([]byte(text)) {
		return compactedRows{known: true}
	}
	return jsonRows(text)
}

// jsonRows returns the rows of valid JSON.
func jsonRows(text string) compactedRows {
	rows := compactedRows{known: true, isJSON: true}
	if _, rows.isArray = firstRow(text); rows.isArray {
		rows.count = countedPage{}.Rows(text, formJSON, len(text))
	}
	return rows
}

// maxCompact is the size in bytes up to which [compactRows] compacts a text. Compacting makes a copy.
const maxCompact = 4 << 20

// compactRows returns JSON without the space between its tokens, which costs a model as much as the values do, and
// what it found out about the rows. Keys and values keep their bytes. Text that is not JSON is returned unchanged.
// JSON of more than 4 MiB is returned without space at its end.
func compactRows(text string) (compact string, rows compactedRows) {
	if len(text) > maxCompact {
		if rows = surveyJSON(text); rows.isJSON {
			text = strings.TrimRight(text, space)
		}
		return text, rows
	}
	var out bytes.Buffer
	if json.Compact(&out, []byte(text)) != nil {
		return text, compactedRows{known: true}
	}
	if out.Len() < len(text) {
		text = out.String()
	}
	return text, jsonRows(text)
}

// space has the characters that may separate tokens of JSON.
const space = " \t\r\n"

// skipSpace returns the offset of the first byte from at on that is not space.
func skipSpace(s string, at int) int {
	for at < len(s) && strings.IndexByte(space, s[at]) >= 0 {
		at++
	}
	return at
}

// valueEnd returns the end of the JSON value at an offset, the offset itself if there is none. For text that is not
// JSON it returns an arbitrary offset from there on.
func valueEnd(s string, at int) int {
	for depth, i := 0, at; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		case c == '{' || c == '[':
			depth++
			continue
		case (c == '}' || c == ']') && depth > 0:
			depth--
		case depth == 0 && strings.IndexByte(",}]"+space, c) >= 0: // the end of a number or a word
			return i
		default:
			continue
		}
		if depth == 0 {
			return min(i+1, len(s))
		}
	}
	return len(s)
}
