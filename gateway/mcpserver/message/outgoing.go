package message

import (
	"bytes"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
)

// OutgoingKind is the kind of a message that mcp-go writes.
type OutgoingKind uint8

// The kinds of outgoing messages.
const (
	Other           OutgoingKind = iota // a request or a notification of the server
	Result                              // a result
	Failure                             // an error
	Acknowledgement                     // of a subscription
)

// Outgoing is the part of a message of mcp-go that the transport needs.
type Outgoing struct {
	Kind OutgoingKind
	ID   any // of the request that it answers or acknowledges
}

// ReadOutgoing reads a message of mcp-go only up to its result, which can be megabytes
// long: mcp-go writes the id first.
func ReadOutgoing(line []byte) Outgoing {
	decoder := json.NewDecoder(bytes.NewReader(line))
	var id any
	for token, err := decoder.Token(); err == nil; token, err = decoder.Token() {
		switch token {
		case "result":
			return Outgoing{Result, id}
		case "error":
			return Outgoing{Failure, id}
		case "method":
			return readNotification(decoder, line)
		case "id":
			id, _ = decoder.Token()
		case "jsonrpc":
			_, _ = decoder.Token()
		}
	}
	return Outgoing{}
}

func readNotification(decoder *json.Decoder, line []byte) Outgoing {
	if method, _ := decoder.Token(); method != mcp.MethodNotificationSubscriptionsAcknowledged {
		return Outgoing{}
	}
	var acknowledgement struct {
		Params struct {
			Meta map[string]any `json:"_meta"`
		} `json:"params"`
	}
	_ = json.Unmarshal(line, &acknowledgement) // without an id it passes
	return Outgoing{Acknowledgement, acknowledgement.Params.Meta[mcp.MetaKeySubscriptionID]}
}
