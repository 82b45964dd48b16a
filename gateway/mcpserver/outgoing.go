package mcpserver

import (
	"bytes"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
)

type outgoingKind uint8

const (
	passing       outgoingKind = iota // a request or a notification of the server
	answering                         // a result
	failing                           // an error
	acknowledging                     // of a subscription
)

// outgoing is what the transport needs to know of a message of mcp-go.
type outgoing struct {
	kind outgoingKind
	id   any // the request that is answered or acknowledged
}

// readOutgoing reads the head of a message of mcp-go, which writes the id before
// the result: a result may be megabytes.
func readOutgoing(line []byte) outgoing {
	decoder := json.NewDecoder(bytes.NewReader(line))
	var id any
	for token, err := decoder.Token(); err == nil; token, err = decoder.Token() {
		switch token {
		case "result":
			return outgoing{answering, id}
		case "error":
			return outgoing{failing, id}
		case "method":
			return readNotification(decoder, line)
		case "id":
			id, _ = decoder.Token()
		case "jsonrpc":
			_, _ = decoder.Token()
		}
	}
	return outgoing{}
}

func readNotification(decoder *json.Decoder, line []byte) outgoing {
	if method, _ := decoder.Token(); method != mcp.MethodNotificationSubscriptionsAcknowledged {
		return outgoing{}
	}
	var acknowledgement struct {
		Params struct {
			Meta map[string]any `json:"_meta"`
		} `json:"params"`
	}
	_ = json.Unmarshal(line, &acknowledgement) // without an id it passes
	return outgoing{acknowledging, acknowledgement.Params.Meta[mcp.MetaKeySubscriptionID]}
}

// encode returns v as JSON. Everything given to it can be encoded.
func encode(v any) []byte {
	line, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return line
}
