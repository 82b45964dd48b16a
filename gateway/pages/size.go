package pages

// CutForJSON cuts a page that stays small when it is written as a string of JSON,
// which is how a client of MCP gets it: there a quotation mark, a line break and a
// tab are two characters each, and clients put away what is much too long. A
// limit of 0 bytes is none.
func CutForJSON(whole Whole, at Position, limit Limit) (Page, error) {
	if whole.Form == JSON && at == (Position{}) && !whole.Rows.known {
		whole.Rows = surveyed(whole.Text) // once for both cuts
	}
	bounded := limit.Bytes > 0
	if !bounded {
		limit.Bytes = max(len(whole.Text), MinBytes)
	}
	page, err := whole.cut(at, limit)
	if err != nil || !bounded {
		return page, err
	}
	fits := fitting(page.Text, limit.Bytes+limit.Bytes/8)
	if fits == len(page.Text) {
		return page, nil
	}
	limit.Bytes = max(fits, MinBytes)
	return whole.cut(at, limit)
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
