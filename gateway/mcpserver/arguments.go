package mcpserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"vaultwicket/allowlist"
	"vaultwicket/gateway"
)

const (
	maxText      = 1 << 20 // bytes in one value: far beyond any note written by hand
	maxTotalText = 2 << 20 // bytes in all values of a call
	maxParams    = 64      // no command has half as many
)

// argumentNames are the arguments of the tool.
var argumentNames = []string{"command", "params", "vault", "dryRun", "fields", "limit", "cursor", "expectHash", "idempotencyKey"}

// The codes of an [argumentError].
const (
	codeBadRequest = "bad_request"
	codeBadValue   = "bad_value"
)

// arguments is what a caller may say to the tool obsidianCli. What is missing
// or null has its zero value; Command never is.
type arguments struct {
	Command string
	Params  allowlist.Params
	DryRun  bool
	// These are those of [gateway.Request].
	Vault          string
	Fields         []string
	Limit          int
	Cursor         string
	ExpectHash     string
	IdempotencyKey string
}

// request is what the arguments ask of the gateway.
func (a arguments) request() gateway.Request {
	return gateway.Request{
		Command: a.Command, Vault: a.Vault, Params: a.Params, Fields: a.Fields, Limit: a.Limit, Cursor: a.Cursor,
		ExpectHash: a.ExpectHash, IdempotencyKey: a.IdempotencyKey,
	}
}

// argumentError says what is wrong with the arguments of a tool call. It is the
// caller's move.
type argumentError struct {
	code   string
	field  string // "params.content", or "" for the arguments as a whole
	reason string
	hint   string
}

// Code returns bad_request when the shape is wrong and bad_value when one value
// is.
func (e *argumentError) Code() string { return e.code }

// Hint says what would be right.
func (e *argumentError) Hint() string { return e.hint }

func (e *argumentError) Error() string {
	if e.field == "" {
		return "arguments: " + e.reason
	}
	return fmt.Sprintf("argument %q: %s", clip(e.field), e.reason)
}

// decodeArguments reads the arguments of a tool call: an object with the known
// names and nothing else, no key twice, no number that another reader could take
// for a different one, no text that does not survive as UTF-8. It does not know
// which commands exist.
func decodeArguments(raw json.RawMessage) (arguments, *argumentError) {
	fields, err := decodeObject("", raw)
	if err != nil {
		return arguments{}, err
	}
	if err := knownArguments(fields); err != nil {
		return arguments{}, err
	}
	var a arguments
	if a.Command, err = decodeText("command", fields["command"]); err != nil {
		return arguments{}, err
	}
	if a.Command == "" {
		return arguments{}, &argumentError{codeBadRequest, "command", "is missing", `say which command to run, such as {"command": "daily:read"}`}
	}
	if a.DryRun, err = decodeBool("dryRun", fields["dryRun"]); err != nil {
		return arguments{}, err
	}
	if a.Params, err = decodeCommandParams(fields["params"]); err != nil {
		return arguments{}, err
	}
	if a.Fields, err = decodeTexts("fields", fields["fields"]); err != nil {
		return arguments{}, err
	}
	if a.Limit, err = decodeCount("limit", fields["limit"]); err != nil {
		return arguments{}, err
	}
	return a, decodeEach(fields, map[string]*string{
		"vault": &a.Vault, "cursor": &a.Cursor, "expectHash": &a.ExpectHash, "idempotencyKey": &a.IdempotencyKey,
	})
}

// decodeEach reads the strings among fields, by name.
func decodeEach(fields map[string]json.RawMessage, to map[string]*string) (err *argumentError) {
	for _, name := range slices.Sorted(maps.Keys(to)) {
		if *to[name], err = decodeText(name, fields[name]); err != nil {
			return err
		}
	}
	return nil
}

// decodeObject reads an object one level deep. A missing value and null are an
// empty one.
func decodeObject(field string, raw json.RawMessage) (map[string]json.RawMessage, *argumentError) {
	if isNull(raw) {
		return nil, nil
	}
	if !utf8.Valid(raw) || !json.Valid(raw) {
		return nil, &argumentError{codeBadRequest, field, "is not valid JSON", "send a JSON object"}
	}
	fields, err := lint(raw, nil)
	if err != nil {
		return nil, &argumentError{codeBadRequest, field, err.Error(), "send each key once, and plain values"}
	}
	if fields == nil {
		return nil, &argumentError{codeBadRequest, field, "is " + typeName(raw) + ", not an object", `send an object, such as {"name": "value"}`}
	}
	return fields, nil
}

func knownArguments(fields map[string]json.RawMessage) *argumentError {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if slices.Contains(argumentNames, name) {
			continue
		}
		hint := "the arguments are " + strings.Join(argumentNames, ", ") + "; what a command takes goes into params"
		if near := allowlist.Nearest(name, argumentNames); near != "" {
			hint = fmt.Sprintf("write %q", near)
		}
		return &argumentError{codeBadRequest, name, "there is no such argument", hint}
	}
	return nil
}

// decodeCommandParams reads the params of a command: an object, or the text of
// one, which is what some models write.
func decodeCommandParams(raw json.RawMessage) (allowlist.Params, *argumentError) {
	if isString(raw) {
		text, err := decodeText("params", raw)
		if err != nil {
			return nil, err
		}
		raw = json.RawMessage(strings.Trim(text, jsonSpace))
		if isString(raw) {
			return nil, &argumentError{codeBadValue, "params", "is text, not an object", `send an object, such as {"path": "A.md"}`}
		}
	}
	fields, err := decodeObject("params", raw)
	if err != nil {
		return nil, err
	}
	if len(fields) > maxParams {
		return nil, &argumentError{codeBadRequest, "params", fmt.Sprintf("has %d keys", len(fields)), fmt.Sprintf("send at most %d", maxParams)}
	}
	params, total := allowlist.Params{}, 0
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value, size, err := decodeValue("params."+name, fields[name])
		if err != nil {
			return nil, err
		}
		if total += size; total > maxTotalText {
			return nil, &argumentError{codeBadValue, "params", fmt.Sprintf("holds more than %d bytes of text", maxTotalText), "send less at once"}
		}
		if value != (allowlist.Value{}) {
			params[name] = value
		}
	}
	return params, nil
}

// decodeValue reads one value of params, and how many bytes of text it holds.
// Null is the zero Value.
func decodeValue(field string, raw json.RawMessage) (allowlist.Value, int, *argumentError) {
	switch raw[0] {
	case 'n':
		return allowlist.Value{}, 0, nil
	case 't', 'f':
		return allowlist.Flag(raw[0] == 't'), 0, nil
	case '"':
		text, err := decodeText(field, raw)
		return allowlist.Text(text), len(text), err
	case '{', '[':
		return allowlist.Value{}, 0, &argumentError{codeBadValue, field, "is " + typeName(raw), "send a string, an integer, true, false or null"}
	}
	if !plainInteger(string(raw)) {
		return allowlist.Value{}, 0, &argumentError{codeBadValue, field, fmt.Sprintf("%s is not a plain integer within 2^53", clip(string(raw))), "write whole numbers in digits, such as 1000, and anything else as a string"}
	}
	return allowlist.Number(string(raw)), 0, nil
}

// plainInteger reports whether a JSON number is written in digits alone and is
// the same to a reader that uses floating point.
func plainInteger(literal string) bool {
	n, err := strconv.ParseInt(literal, 10, 64)
	return err == nil && -maxInteger <= n && n <= maxInteger && literal != "-0"
}

// decodeBool reads true or false, or the text of one of them, which is what some
// models write. A missing value and null are false.
func decodeBool(field string, raw json.RawMessage) (bool, *argumentError) {
	switch string(raw) {
	case "", "null", "false", `"false"`:
		return false, nil
	case "true", `"true"`:
		return true, nil
	}
	return false, &argumentError{codeBadValue, field, "is " + typeName(raw) + ", not true or false", "send true or false without quotes"}
}

// typeName names the type of a JSON value in an error.
func typeName(raw json.RawMessage) string {
	switch strings.TrimLeft(string(raw), jsonSpace)[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
