package allowlist

import (
	"strings"
	"testing"

	"vaultwicket/tests/require"
)

// Every path of a call is spelled anew, and nothing else of it.
func TestRespelled(t *testing.T) {
	upper := func(path string) string { return strings.ToUpper(path) }
	for _, test := range []struct {
		command string
		params  map[string]string
		want    string
	}{
		{"read", map[string]string{"path": "a/b.md"}, "read path=A/B.MD"},
		{"read", map[string]string{"file": "a"}, "read file=a"},
		{"create", map[string]string{"path": "a/b.md", "content": "a/b.md"}, "create content=a/b.md path=A/B.MD"},
		{"files", map[string]string{"folder": "a/b"}, "files folder=A/B"},
		{"task", map[string]string{"ref": "a/b.md:3"}, "task ref=A/B.MD:3"},
		{"move", map[string]string{"path": "a/b.md", "to": "c/d.md"}, "move path=A/B.MD to=C/d.md"},
		{"move", map[string]string{"path": "a.md", "to": "d.md"}, "move path=A.MD to=d.md"},
		{"move", map[string]string{"path": "a.md", "to": "c/d/"}, "move path=A.MD to=C/D/"},
	} {
		params := Params{}
		for key, value := range test.params {
			params[key] = Text(value)
		}
		call, err := Parse(test.command, params)
		require.NoError(t, err)
		call, err = call.In("Home")
		require.NoError(t, err)
		got, err := call.WithPaths(upper)
		if err != nil || sortedItems(got) != "vault=Home "+test.want {
			t.Errorf("%s: %q, %v, want %q", call, sortedItems(got), err, test.want)
		}
		if same, err := call.WithPaths(func(path string) string { return path }); err != nil || same.String() != call.String() {
			t.Errorf("%s becomes %s, %v", call, same, err)
		}
	}
}

// sortedItems returns a call with its parameters in the order of their names.
func sortedItems(c Call) string {
	items := c.Items()
	params := items[2:]
	for i := range params {
		for j := i + 1; j < len(params); j++ {
			if params[j] < params[i] {
				params[i], params[j] = params[j], params[i]
			}
		}
	}
	return strings.Join(items, " ")
}

// A path that leads to what may not be spelled out is refused like any other.
func TestRespelledToAHiddenPlace(t *testing.T) {
	call, err := Parse("read", Params{"path": Text("x/app.json")})
	require.NoError(t, err)
	if got, err := call.WithPaths(func(string) string { return ".obsidian/app.json" }); err == nil || got.Valid() {
		t.Errorf("%s, %v", got, err)
	}
}
