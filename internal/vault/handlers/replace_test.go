package handlers_test

import (
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
)

// A search sees no byte order mark, so that of the mark alone nothing remains that could be found.
func TestAByteOrderMarkAloneIsNotSearched(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "\ufefftext\n", "b.md": "a \ufeff b\n"})
	before := h.Tree()
	for _, how := range [][]string{{"remove"}, {"new=x"}, {"new=x", "ignore-case"}, {"remove", "regex"}} {
		status, out, _ := h.Run(append([]string{"vault:replace", "old=\ufeff"}, how...)...)
		assert.Equal(t, status, answer.ExitMisuse, "%v: %s", how, out)
		assert.Equal(t, out, "Error: old is only a byte order mark, which is not searched.\n", "%v", how)
	}
	assert.Equal(t, h.Tree(), before)
	h.Does("vault:replace", "old=\ufefftext", "new=word")
	assert.Equal(t, h.Get("a.md"), "\ufeffword\n")
}
