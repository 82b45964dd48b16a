package harness

import (
	"strings"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
)

// Call is what a tool is called with.
type Call map[string]any

// Calling is a call of a command with parameters, which are name=value or flags.
func Calling(command string, words ...string) Call {
	params := map[string]any{}
	for _, word := range words {
		if name, value, ok := strings.Cut(word, "="); ok {
			params[name] = value
		} else {
			params[word] = true
		}
	}
	return Call{"command": command, "params": params}
}

// With returns the call with one more argument.
func (c Call) With(name string, value any) Call {
	more := Call{name: value}
	for key, old := range c {
		if key != name {
			more[key] = old
		}
	}
	return more
}

// Words is the call as it is typed.
func (c Call) Words() []string {
	all := []string{c["command"].(string)}
	for name, value := range c["params"].(map[string]any) {
		if text, ok := value.(string); ok {
			name += "=" + text
		}
		all = append(all, name)
	}
	return all
}

func CodeOfError(e *failure.Error) string {
	if e == nil {
		return ""
	}
	return e.Code
}

// ChangeID is the id of the change that a result tells of.
func ChangeID(result gateway.Result) string {
	if result.Change == nil {
		return ""
	}
	return result.Change.ID
}

// LongNote is longer than a page.
var LongNote = strings.Repeat("a line that is long enough to fill a page\n", 3000)
