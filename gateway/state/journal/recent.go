package journal

// version is the text of a note as it was at some time.
type version struct {
	hash string
	text []byte
}

// maxRemembered is the longest text that is remembered: a process that stays has
// better use for its memory than a note of megabytes.
const maxRemembered = 4 << 20

// maxRecent is how much of the texts that were kept last is remembered, so that
// the next difference needs no reading.
const maxRecent = 8 << 20

// recent remembers texts by their hash.
type recent struct {
	texts map[string][]byte
	size  int
}

func (r *recent) put(v version) {
	if _, known := r.texts[v.hash]; known || len(v.text) > maxRemembered {
		return
	}
	if r.texts == nil || r.size+len(v.text) > maxRecent {
		r.texts, r.size = map[string][]byte{}, 0
	}
	r.texts[v.hash] = v.text
	r.size += len(v.text)
}
