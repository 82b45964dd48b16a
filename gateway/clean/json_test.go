package clean

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

func TestCleanedJSONStaysTheSameJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.OneOf(rapid.String(), rapid.StringMatching(`[\\u{}a-f0-9\x{202e}\x{e0041}"]{0,12}`)).Draw(t, "text")
		encoded, err := json.Marshal([]string{want})
		if err != nil {
			t.Fatal(err)
		}
		text, _ := Text(string(encoded))
		var got []string
		if err := json.Unmarshal([]byte(InJSON(text)), &got); err != nil || got[0] != want {
			t.Fatalf("%q becomes %q, %v", want, InJSON(text), err)
		}
	})
}
