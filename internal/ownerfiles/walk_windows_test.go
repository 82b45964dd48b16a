package ownerfiles

import (
	"slices"
	"testing"
)

func TestRootsOfWindows(t *testing.T) {
	for _, tt := range []struct {
		path, root string
		names      []string
	}{
		{`C:\Users\me\x`, `C:\`, []string{"Users", "me", "x"}},
		{`c:/Users/../me`, `c:\`, []string{"me"}},
		{`C:\`, `C:\`, nil},
		{`\\server\share\a\b`, `\\server\share\`, []string{"a", "b"}},
		{`\\?\C:\a`, `\\?\C:\`, []string{"a"}},
		{`\\?\UNC\server\share\a`, `\\?\UNC\server\share\`, []string{"a"}},
	} {
		if root, names := splitTarget("", tt.path); root != tt.root || !slices.Equal(names, tt.names) {
			t.Errorf("%s: %q, %q", tt.path, root, names)
		}
	}
	for _, tt := range []struct {
		target, from string
		names        []string
	}{
		{`..\a`, `C:\links`, []string{"..", "a"}},
		{`\a\b`, `C:\`, []string{"a", "b"}},
		{`D:\a`, `D:\`, []string{"a"}},
	} {
		if from, names := splitTarget(`C:\links`, tt.target); from != tt.from || !slices.Equal(names, tt.names) {
			t.Errorf("%s: %q, %q", tt.target, from, names)
		}
	}
}
