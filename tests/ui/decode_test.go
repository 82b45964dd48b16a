package ui

import "encoding/json"

// decode reads what the program printed.
func (w *world) decode(text string, into any) {
	w.t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		w.t.Fatalf("%v in %s", err, text)
	}
}
