package grammar

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "vaultwicket/tests/sameseed"
)

func TestNearest(t *testing.T) {
	tests := []struct {
		name, typed string
		want        []string
	}{
		{"two letters swapped", "raed", []string{"read"}},
		{"a letter missing", "dail:read", []string{"daily:read"}},
		{"another case is another name", "Files", []string{"files"}},
		{"a word behind a colon", "restore", []string{"restart", "sync:restore", "history:restore"}},
		{"a family that is no command", "property", []string{"properties", "property:set", "property:read"}},
		{"nothing typed", "", nil},
		{"nothing like it", "zzzzzz", nil},
		{"a whole sentence", strings.Repeat("read ", 100), nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := nearest(test.typed); !slices.Equal(got, test.want) {
				t.Errorf("nearest(%q) = %q, want %q", test.typed, got, test.want)
			}
		})
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"read", "read", 0}, {"read", "raed", 1}, {"read", "red", 1},
		{"read", "reads", 1}, {"read", "road", 1}, {"abc", "cba", 2}, {"kitten", "sitting", 3},
	}
	for _, test := range tests {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("distance(%q, %q) = %d, want %d", test.a, test.b, got, test.want)
		}
	}
}

func TestDistanceIsOne(t *testing.T) {
	word := rapid.StringOfN(rapid.RuneFrom([]rune("ab:")), 0, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := distance(a, b)
		if d != distance(b, a) || (d == 0) != (a == b) || d > max(len(a), len(b)) || d < len(a)-len(b) {
			t.Fatalf("distance(%q, %q) = %d, back %d", a, b, d, distance(b, a))
		}
	})
}
