package gateway

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
	"vaultwicket/gateway/pages"
)

// leastStderr is how many bytes of standard error are shown at the least, so that
// a short message of a program stays whole whatever the limit is.
const leastStderr = 512

// cut returns the first page of a result, and where the next one begins; the zero
// Position where there is none. A limit of 0 bytes is none. What the program said
// besides gets a sixteenth more: of a failure both are shown.
func (r Result) cut(limit pages.Limit) (Result, pages.Position, error) {
	if most := max(limit.Bytes/16, leastStderr); limit.Bytes > 0 && len(r.Stderr) > most {
		shown := cutText(r.Stderr, most)
		r.Notices = append(slices.Clone(r.Notices), fmt.Sprintf("stderr: truncated, the first %d of %d bytes are shown", len(shown), len(r.Stderr)))
		r.Stderr = shown + "…"
	}
	if limit.Rows == 0 && (limit.Bytes == 0 || len(r.Stdout) <= limit.Bytes/2) {
		return r, pages.Position{}, nil // whatever it holds, and without reading it
	}
	page, err := cutPage(r.Stdout, r.form, pages.Position{}, limit)
	if err != nil || page.Last() {
		return r, pages.Position{}, err
	}
	return r.showing(page), page.Next, nil
}

// cutPage cuts a page that stays small when it is written as a string of JSON,
// which is how a client of MCP gets it: there a quotation mark, a line break and a
// tab are two characters each, and clients put away what is much too long. A
// limit of 0 bytes is none.
func cutPage(text string, form pages.Form, at pages.Position, limit pages.Limit) (pages.Page, error) {
	bounded := limit.Bytes > 0
	if !bounded {
		limit.Bytes = max(len(text), pages.MinBytes)
	}
	page, err := pages.Cut(text, form, at, limit)
	if err != nil || !bounded {
		return page, err
	}
	fits := fitting(page.Text, limit.Bytes+limit.Bytes/8)
	if fits == len(page.Text) {
		return page, nil
	}
	limit.Bytes = max(fits, pages.MinBytes)
	return pages.Cut(text, form, at, limit)
}

// fitting returns how many of the first bytes of text are at most budget bytes in
// a string of JSON.
func fitting(text string, budget int) int {
	for i := range len(text) {
		if budget -= inString(text[i]); budget < 0 {
			return i
		}
	}
	return len(text)
}

// inString returns how many bytes a byte is in a string of JSON.
func inString(b byte) int {
	switch {
	case b == '"', b == '\\', b == '\n', b == '\r', b == '\t':
		return 2
	case b < ' ':
		return len(`\u0000`)
	}
	return 1
}

// showing returns the result with a page of its text. A part of a row is nothing
// that a program can read.
func (r Result) showing(page pages.Page) Result {
	total := int64(len(r.Stdout))
	if r.Truncated != nil {
		total = r.Truncated.TotalBytes
	}
	if r.missingPart != "" {
		r.Notices = append(slices.Clone(r.Notices), r.missingPart)
	}
	// A copy: the page would hold the whole answer in memory.
	r.Stdout, r.Truncated = strings.Clone(page.Text), &Truncated{ShownBytes: len(page.Text), TotalBytes: total}
	if page.Partial {
		if r.form == pages.JSON {
			r.Notices = append(slices.Clone(r.Notices), "a row is larger than a page: this is a piece of it and no JSON by itself")
		}
		r.form = pages.Text
	}
	return r
}

// cutText returns at most limit bytes of s, whole characters, and whole lines
// when that costs no more than an eighth.
func cutText(s string, limit int) string {
	end := limit
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	if newline := strings.LastIndexByte(s[:end], '\n'); newline >= limit-limit/8 {
		end = newline + 1
	}
	return s[:end]
}
