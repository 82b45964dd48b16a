package excerpt_test

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/tests/assert"
)

func TestNearest(t *testing.T) {
	tests := []struct{ word, want string }{
		{"daily:raed", "daily:read"},  // neighbours swapped
		{"dailyread", "daily:read"},   // one left out
		{"daily:readd", "daily:read"}, // one too many
		{"daily:reat", "daily:read"},  // one replaced
		{"serach", "search"},
		{"read", "read"}, // the word itself
		{"Read", "read"}, // another case is one replaced
		{"tgas", "tags"},
		{"property-set", "property:set"},
		{"eval2", "eval"}, // restricted commands are named too
		{"xyz", ""},
		{"", ""},
		{"frobnicate", ""},
		{string(make([]byte, 5000)), ""},
	}
	for _, test := range tests {
		assert.Equal(t, excerpt.Nearest(test.word, allowlist.Names()), test.want, "%.20q", test.word)
	}
	assert.Equal(t, excerpt.Nearest("ab", []string{"ac", "ad"}), "ac", "of two that are as near, the first")
	assert.Equal(t, excerpt.Nearest("sink", []string{"sync"}), "sync", "four letters may differ in two places")
	assert.Equal(t, excerpt.Nearest("sin", []string{"syc"}), "", "three letters may not")
	long := strings.Repeat("x", excerpt.Limit)
	assert.Equal(t, excerpt.Nearest(long, []string{long}), long, "a word as long as a message repeats")
	assert.Equal(t, excerpt.Nearest(long+"x", []string{long}), "", "a longer word")
	assert.Equal(t, excerpt.Nearest("word", nil), "", "of an empty list")
}

func TestDidYouMean(t *testing.T) {
	assert.Equal(t, excerpt.DidYouMean("raed", []string{"read"}), `; did you mean "read"?`, "near")
	assert.Equal(t, excerpt.DidYouMean("raed", []string{"files"}), "", "not near")
}
