package exec

import (
	"encoding/json"
	"strings"
)

// factsMark begins the last line that the embedded program prints on standard
// error under --facts. Only that program is believed: the app could be made to
// print such a line by a plugin.
const factsMark = "vaultwicket-facts: "

// facts are what the embedded program reports about the note it worked on.
type facts struct {
	Path      string `json:"path"`
	Hash      string `json:"hash"`
	Before    string `json:"before"`
	Change    string `json:"change"`
	Added     int    `json:"added"`
	Removed   int    `json:"removed"`
	Loses     bool   `json:"loses"`
	Overtaken bool   // somebody changed the note right after the call did
	// LineEnds says that the text got the line ends of the note (CRLF).
	LineEnds bool
}

// takeFacts cuts the facts from the end of stderr. Without any, or with facts
// that cannot be read, stderr is returned as it is.
func takeFacts(stderr string) (rest string, f facts) {
	lines := strings.TrimRight(stderr, "\r\n")
	start := strings.LastIndexByte(lines, '\n') + 1
	text, found := strings.CutPrefix(lines[start:], factsMark)
	if !found || json.Unmarshal([]byte(text), &f) != nil {
		return stderr, facts{}
	}
	return stderr[:start], f
}
