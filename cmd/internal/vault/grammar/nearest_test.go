package grammar

import (
	"slices"
	"strings"
	"testing"
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
