package commands

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzBookmark(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"items":[]}`, "{\n  \"items\": [\n    {}\n  ]\n}", `{"items":[1,2],"items":[3]}`, `{"a":[{"items":[]}]}`, "{\r\n\t\"items\": [ ]\r\n}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		edited, err := withBookmark([]byte(text), newBookmark{Type: "search", Query: "q"})
		if err != nil {
			return
		}
		type file struct{ Items []json.RawMessage }
		var before, after file
		if strings.TrimSpace(text) != "" && json.Unmarshal([]byte(text), &before) != nil {
			t.Skip() // such as "Items" next to "items"
		}
		if err := json.Unmarshal(edited, &after); err != nil {
			t.Fatalf("%q became %q: %v", text, edited, err)
		}
		if len(after.Items) != len(before.Items)+1 && !strings.Contains(strings.ToLower(text), `items`) {
			t.Errorf("%q became %q", text, edited)
		}
	})
}
