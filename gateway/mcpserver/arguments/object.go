package arguments

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway/mcpserver/wire"
)

// Object decodes an object one level deep that has no other keys than names. A missing
// value and null are an empty one.
func Object(field string, raw json.RawMessage, names []string) (wire.Fields, *Error) {
	fields, err := object(field, raw)
	if err != nil {
		return nil, err
	}
	return fields, known(field, fields, names, "")
}

func object(field string, raw json.RawMessage) (wire.Fields, *Error) {
	if wire.IsNull(raw) {
		return nil, nil
	}
	if !utf8.Valid(raw) || !json.Valid(raw) {
		return nil, Wrong(BadRequest, field, "must be valid JSON", "send a JSON object")
	}
	fields, err := wire.Lint(raw, nil)
	if err != nil {
		return nil, Wrong(BadRequest, field, "must not contain "+err.Error(), "send each key once, and plain values")
	}
	if fields == nil {
		return nil, Wrong(BadRequest, field, "must be an object, not "+typeName(raw), `send an object, such as {"name": "value"}`)
	}
	return fields, nil
}

// sorted returns fields in the order of their names, so that the same error is found
// first.
func sorted(fields wire.Fields) wire.Fields {
	fields.Sort()
	return fields
}

// known rejects fields that are none of names. more is added to the hint.
func known(field string, fields wire.Fields, names []string, more string) *Error {
	for _, f := range sorted(fields) {
		name := string(f.Name)
		if slices.Contains(names, name) {
			continue
		}
		hint := "valid arguments: " + strings.Join(names, ", ") + more
		if near := quote.Nearest(name, names); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return unknown(strings.TrimPrefix(field+"."+name, "."), hint)
	}
	return nil
}

// Texts decodes the strings that every tool has among fields.
func Texts(fields wire.Fields, vault, cursor, expectHash, idempotencyKey *string) (err *Error) {
	for _, to := range []struct {
		name string
		text *string
	}{{"cursor", cursor}, {"expectHash", expectHash}, {"idempotencyKey", idempotencyKey}, {"vault", vault}} {
		if *to.text, err = Text(to.name, fields.Get(to.name)); err != nil {
			return err
		}
	}
	return nil
}
