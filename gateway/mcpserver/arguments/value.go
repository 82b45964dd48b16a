package arguments

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"vaultwicket/allowlist"
	"vaultwicket/gateway/mcpserver/wire"
)

// Value decodes the value of a command parameter, and returns how many bytes of text it
// has. null is the zero Value. raw must be valid JSON without space around it.
func Value(field string, raw json.RawMessage) (allowlist.Value, int, *Error) {
	switch raw[0] {
	case 'n':
		return allowlist.Value{}, 0, nil
	case 't', 'f':
		return allowlist.Flag(raw[0] == 't'), 0, nil
	case '"':
		text, err := Text(field, raw)
		return allowlist.Text(text), len(text), err
	case '{', '[':
		return allowlist.Value{}, 0, Wrong(BadValue, field, "is "+typeName(raw), "send a string, an integer, true, false or null")
	}
	if !plainInteger(string(raw)) {
		return allowlist.Value{}, 0, Wrong(BadValue, field, fmt.Sprintf("is %s, not a plain integer within 2^53", wire.Clip(string(raw))), "write integers in digits, such as 1000, and anything else as a string")
	}
	return allowlist.Number(string(raw)), 0, nil
}

// plainInteger reports whether a JSON number is written in digits alone and is the same
// to a reader that uses floating point.
func plainInteger(literal string) bool {
	n, err := strconv.ParseInt(literal, 10, 64)
	return err == nil && -wire.MaxInteger <= n && n <= wire.MaxInteger && literal != "-0"
}

// Bool decodes true or false, or the text of one of them, which some models write. A
// missing value and null are false.
func Bool(field string, raw json.RawMessage) (bool, *Error) {
	switch string(raw) {
	case "", "null", "false", `"false"`:
		return false, nil
	case "true", `"true"`:
		return true, nil
	}
	return false, Wrong(BadValue, field, "is "+typeName(raw)+", not true or false", "send true or false without quotes")
}

// maxItems is the maximum length of a list of names: no row of an answer has half as many
// fields.
const maxItems = 64

// Count decodes an integer of at least 1, in digits or as the text of them. A missing
// value and null are 0.
func Count(field string, raw json.RawMessage) (int, *Error) {
	if wire.IsNull(raw) {
		return 0, nil
	}
	digits := string(raw)
	if wire.IsString(raw) {
		var err *Error
		if digits, err = Text(field, raw); err != nil {
			return 0, err
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !plainInteger(digits) || strconv.FormatInt(n, 10) != digits || n < 1 || int64(int(n)) != n {
		return 0, Wrong(BadValue, field, fmt.Sprintf("is %s, not an integer of at least 1", wire.Clip(string(raw))), "send an integer in digits, such as 20")
	}
	return int(n), nil
}

// List decodes a list of strings, or a list as text, or a string that is taken for a list
// with one item. A missing value and null are nil.
func List(field string, raw json.RawMessage) ([]string, *Error) {
	if wire.IsNull(raw) {
		return nil, nil
	}
	if wire.IsString(raw) {
		text, err := Text(field, raw)
		if err != nil {
			return nil, err
		}
		inside := strings.Trim(text, wire.Space)
		if !strings.HasPrefix(inside, "[") || !json.Valid([]byte(inside)) {
			return []string{text}, nil
		}
		raw = json.RawMessage(inside)
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil, Wrong(BadValue, field, "is "+typeName(raw)+", not a list", `send a list of strings, such as ["path"]`)
	}
	if len(items) > maxItems {
		return nil, Wrong(BadValue, field, fmt.Sprintf("has %d items", len(items)), fmt.Sprintf("send up to %d", maxItems))
	}
	texts := make([]string, len(items))
	for i, item := range items {
		inside := fmt.Sprintf("%s[%d]", field, i)
		if !wire.IsString(item) {
			return nil, Wrong(BadValue, inside, "is "+typeName(item)+", not a string", "send a string")
		}
		var err *Error
		if texts[i], err = Text(inside, item); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// typeName names the type of a JSON value in an error.
func typeName(raw json.RawMessage) string {
	switch strings.TrimLeft(string(raw), wire.Space)[0] {
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
