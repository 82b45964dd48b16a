package message

import (
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// reserved is what the keys of the protocol in a _meta begin with.
const reserved = "io.modelcontextprotocol/"

// readCall reads the fields of a tools/call from what was found in the message. The handler
// of the tool validates the arguments.
//
// A call is plain if mcp-go would do no more with it than pass its name, arguments and
// _meta to the tool. A task, the answer to a question and the fields of the protocol version
// without a handshake make it another request, and so does what mcp-go cannot decode.
func (m *Message) readCall(l *linter) {
	name := l.params.Get("name")
	tool, named := String(name)
	if !named && !IsNull(name) {
		return
	}
	m.Tool, m.Arguments = tool, l.params.Get("arguments")
	m.Plain = named && !l.huge && m.readMeta(l.params.Get("_meta"))
	for i := range l.params {
		switch string(l.params[i].Name) {
		case "name", "arguments", "_meta":
		default:
			m.Plain = false
		}
	}
}

// readMeta reads a _meta, and reports whether it has nothing of the protocol itself but a
// progress token.
func (m *Message) readMeta(raw json.RawMessage) bool {
	if IsNull(raw) {
		return true
	}
	meta := &mcp.Meta{}
	if !IsObject(raw) || json.Unmarshal(raw, meta) != nil {
		return false
	}
	for key := range meta.AdditionalFields {
		if strings.HasPrefix(key, reserved) {
			return false
		}
	}
	m.Meta = meta
	return true
}
