package gateway

import (
	"cmp"
	"hash/maphash"
	"time"

	"vaultwicket/allowlist"
	"vaultwicket/gateway/notes"
	"vaultwicket/gateway/pages"
)

// storeLimits bound what is kept of answers that were shown in part: a whole one of
// the largest kind, while another one is read, is what a gateway has memory for.
var storeLimits = pages.Limits{PerSession: 16, Total: 512, Bytes: 17 << 20, Age: 10 * time.Minute}

// maxKeptCall bounds the bytes of a call whose answer is kept: its parameters are
// kept with it.
const maxKeptCall = 64 << 10

// storedAnswer is what is known of an answer whose rest is kept: everything but its text.
type storedAnswer struct {
	request Request // as it came, without the way to ask
	call    allowlist.Call
	answer  Result
	whole   *checksum     // of the text before fields were chosen, nil where that is the one that is kept
	note    notes.Stamp   // of the one note that the text is, where that is known
	counted pages.Counted // the rows before the page that is likely to be next
}

// hasChanged reports whether an answer is another one than that of which a text was kept.
func (s storedAnswer) hasChanged(answer, kept string) bool {
	if s.whole == nil {
		return answer != kept
	}
	return checksumOf(answer) != *s.whole
}

// wholeOf returns what is kept of an answer to tell whether it has changed.
func wholeOf(answer, kept string) *checksum {
	if answer == kept { // it is the same string, mostly
		return nil
	}
	sum := checksumOf(answer)
	return &sum
}

// checksum tells answers of one process apart: nobody who writes notes knows the seed, so
// that another answer has the same one by a chance of 2^-64 only.
type checksum struct {
	size int
	hash uint64
}

// seed is drawn anew by every process, with which all that it keeps goes.
var seed = maphash.MakeSeed()

// checksumOf reads a text once and copies nothing of it.
func checksumOf(text string) checksum {
	return checksum{len(text), maphash.String(seed, text)}
}

// pageAt returns the page of an answer that is kept, from where a request wants it.
func (s storedAnswer) pageAt(req Request, from storedText) (pages.Page, error) {
	whole := pages.Whole{Text: from.text, Form: s.answer.form, Rows: s.answer.rows}
	return pages.CutForJSON(whole, from.at, pages.Limit{Bytes: req.MaxOutput, Rows: cmp.Or(req.Limit, s.request.Limit)})
}
