package allowlist

import (
	"strings"
	"testing"

	"vaultwicket/tests/assert"
)

// Text that a call brings goes into a note, unless the name of its file says otherwise.
func TestTextInto(t *testing.T) {
	for line, want := range map[string]string{
		"append|path=pic.PNG|content=x": "image", "prepend|file=a.pdf|content=x": "pdf", "create|path=B.canvas|content=x": "canvas", "create|path=B.base|template=T": "base", "create|name=film.mp4": "video",
		"append|path=A.md|content=x": "note", "create|name=v1.2|content=x": "note", "append|file=A|content=x": "note", "move|path=pic.png|to=B/": "note", "attachment:read|path=pic.png": "note", "daily:append|content=x": "note",
	} {
		words := strings.Split(line, "|")
		call, err := ParseWords(words[0], words[1:])
		got := call.TextInto()
		assert.That(t, err == nil && got == want, "%s: %s, %v; want %s", line, got, err, want)
	}
	assert.Equal(t, (Call{}).TextInto(), "note", "the zero call")
}
