package quote_test

import (
	"strings"
	"testing"

	"vaultwicket/allowlist"
	"vaultwicket/allowlist/quote"
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
		if got := quote.Nearest(test.word, allowlist.Names()); got != test.want {
			t.Errorf("%.20q: got %q, want %q", test.word, got, test.want)
		}
	}
	if got := quote.Nearest("ab", []string{"ac", "ad"}); got != "ac" {
		t.Errorf("of two that are as near, the first: got %q", got)
	}
	if got := quote.Nearest("sink", []string{"sync"}); got != "sync" {
		t.Errorf("four letters may differ in two places: got %q", got)
	}
	if got := quote.Nearest("sin", []string{"syc"}); got != "" {
		t.Errorf("three letters may not: got %q", got)
	}
	long := strings.Repeat("x", quote.Limit)
	if got := quote.Nearest(long, []string{long}); got != long {
		t.Errorf("a word as long as a message repeats: got %q", got)
	}
	if got := quote.Nearest(long+"x", []string{long}); got != "" {
		t.Errorf("a longer word: got %q", got)
	}
	if got := quote.Nearest("word", nil); got != "" {
		t.Errorf("of an empty list: %q", got)
	}
}

func TestDidYouMean(t *testing.T) {
	if got := quote.DidYouMean("raed", []string{"read"}); got != `; did you mean "read"?` {
		t.Errorf("near: %q", got)
	}
	if got := quote.DidYouMean("raed", []string{"files"}); got != "" {
		t.Errorf("not near: %q", got)
	}
}
