package pages

// maxCompact bounds the text that [Compact] works on, in bytes: it makes a copy.
const maxCompact = 4 << 20

// Compact returns JSON without the space between its tokens, which costs a model as much
// as the values do, and what it has seen of its rows. Keys and values keep their bytes. What
// is no JSON, or longer than 4 MiB, is returned as it is.
func Compact(text string) (compact string, rows Rows) {
	w := walk{s: text, compacts: len(text) <= maxCompact}
	if rows = w.survey(); !rows.isJSON {
		return text, rows
	}
	return w.compact(), rows
}
