// Package arguments decodes the arguments of tool calls, and describes them in JSON
// Schema.
//
// It accepts only values that every JSON reader decodes alike: known names, no duplicate
// key, plain integers, text that is valid Unicode. It is tolerant where the meaning is
// beyond doubt: null is the same as a missing argument, and a boolean, an object or a list
// may be sent as text. It does not know which commands exist.
package arguments

import (
	"encoding/json"
	"fmt"
	"strings"

	"vaultwicket/allowlist"
	"vaultwicket/gateway"
	"vaultwicket/gateway/mcpserver/wire"
)

// ToolName is the name of the tool whose arguments are a [Call]. It is always listed.
const ToolName = "obsidianCli"

const (
	maxText   = 1 << 20 // bytes in one value: far beyond any note written by hand
	maxParams = 64      // no command has half as many

	// MaxTotalText is the maximum size of all values of a call, in bytes.
	MaxTotalText = 2 << 20
)

// callNames are the arguments of obsidianCli.
var callNames = []string{"command", "params", "vault", "dryRun", "fields", "limit", "cursor", "expectHash", "idempotencyKey"}

// Call is what the arguments of obsidianCli say. A missing or null argument has its zero
// value; Command is never empty.
type Call struct {
	Command string
	Params  allowlist.Params
	DryRun  bool
	// The others are those of [gateway.Request].
	Vault          string
	Fields         []string
	Limit          int
	Cursor         string
	ExpectHash     string
	IdempotencyKey string
}

// Request is the request that the call makes of the gateway.
func (c Call) Request() gateway.Request {
	return gateway.Request{
		Command: c.Command, Vault: c.Vault, Params: c.Params, Fields: c.Fields, Limit: c.Limit, Cursor: c.Cursor,
		ExpectHash: c.ExpectHash, IdempotencyKey: c.IdempotencyKey,
	}
}

// Decode decodes the arguments of obsidianCli.
func Decode(raw json.RawMessage) (Call, *Error) {
	fields, err := object("", raw)
	if err != nil {
		return Call{}, err
	}
	if err := known("", fields, callNames, "; command parameters go into params"); err != nil {
		return Call{}, err.misplaced(fields)
	}
	var c Call
	if c.Command, err = Text("command", fields.Get("command")); err != nil {
		return Call{}, err
	}
	if c.Command == "" {
		return Call{}, Wrong(BadRequest, "command", "is missing", nameCommand)
	}
	if c.DryRun, err = Bool("dryRun", fields.Get("dryRun")); err != nil {
		return Call{}, err
	}
	if c.Params, err = decodeParams(fields.Get("params")); err != nil {
		return Call{}, err
	}
	if c.Fields, err = List("fields", fields.Get("fields")); err != nil {
		return Call{}, err
	}
	if c.Limit, err = Count("limit", fields.Get("limit")); err != nil {
		return Call{}, err
	}
	return c, Texts(fields, &c.Vault, &c.Cursor, &c.ExpectHash, &c.IdempotencyKey)
}

const nameCommand = `name a command, such as {"command": "daily:read"}`

// decodeParams decodes the parameters of a command.
func decodeParams(raw json.RawMessage) (allowlist.Params, *Error) {
	raw, err := unwrap("params", raw)
	if err != nil {
		return nil, err
	}
	if wire.IsString(raw) {
		return nil, Wrong(BadValue, "params", "must be an object, not a string", `send an object, such as {"path": "A.md"}`)
	}
	fields, err := paramFields("params", raw)
	if err != nil {
		return nil, err.asObject(raw)
	}
	params, total := allowlist.Params{}, 0
	for _, f := range sorted(fields) {
		name := string(f.Name)
		value, size, err := Value("params."+name, f.Value)
		if err != nil {
			return nil, err
		}
		if total += size; total > MaxTotalText {
			return nil, Wrong(BadValue, "params", fmt.Sprintf("contains more than %d bytes of text", MaxTotalText), "send less text per call")
		}
		if value != (allowlist.Value{}) {
			params[name] = value
		}
	}
	return params, nil
}

// unwrap returns the object in a text, which some models write instead of the object.
// Anything else it returns unchanged.
func unwrap(field string, raw json.RawMessage) (json.RawMessage, *Error) {
	if !wire.IsString(raw) {
		return raw, nil
	}
	text, err := Text(field, raw)
	return json.RawMessage(strings.Trim(text, wire.Space)), err
}

// paramFields decodes the parameters of a command one level deep.
func paramFields(field string, raw json.RawMessage) (wire.Fields, *Error) {
	fields, err := object(field, raw)
	if err == nil && len(fields) > maxParams {
		err = Wrong(BadRequest, field, fmt.Sprintf("has %d keys", len(fields)), fmt.Sprintf("send up to %d", maxParams))
	}
	return fields, err
}
