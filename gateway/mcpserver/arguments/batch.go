package arguments

import (
	"encoding/json"
	"fmt"

	"vaultwicket/allowlist"
	"vaultwicket/gateway"
	"vaultwicket/gateway/mcpserver/wire"
)

var (
	batchNames     = []string{"operations", "vault", "atomic", "idempotencyKey"}
	operationNames = []string{"clientId", "command", "params", "expectHash"}
	referenceNames = []string{"from", "field"}
)

// DecodeBatch decodes the arguments of obsidianBatch as strictly as those of a single
// call. The error has the methods Code and Hint.
func DecodeBatch(raw []byte) (gateway.Batch, error) {
	batch, err := decodeBatch(raw)
	if err != nil {
		return gateway.Batch{}, err
	}
	return batch, nil
}

const listOperations = `send a list, such as [{"clientId": "c1", "command": "daily:read"}]`

func decodeBatch(raw json.RawMessage) (b gateway.Batch, err *Error) {
	fields, err := Object("", raw, batchNames)
	if err != nil {
		return b, err
	}
	if b.Atomic, err = Bool("atomic", fields.Get("atomic")); err != nil {
		return b, err
	}
	if b.Vault, err = Text("vault", fields.Get("vault")); err != nil {
		return b, err
	}
	if b.IdempotencyKey, err = Text("idempotencyKey", fields.Get("idempotencyKey")); err != nil {
		return b, err
	}
	var list []json.RawMessage
	if wire.IsNull(fields.Get("operations")) {
		return b, Wrong(BadRequest, "operations", "is missing", listOperations)
	}
	if json.Unmarshal(fields.Get("operations"), &list) != nil {
		return b, Wrong(BadRequest, "operations", "is "+typeName(fields.Get("operations"))+", not a list", listOperations)
	}
	if len(list) > gateway.MaxOperations {
		return b, Wrong(BadRequest, "operations", fmt.Sprintf("has %d operations", len(list)), fmt.Sprintf("send up to %d", gateway.MaxOperations))
	}
	d := batchDecoder{}
	for i, item := range list {
		o, err := d.operation(fmt.Sprintf("operations[%d]", i), item)
		if err != nil {
			return b, err
		}
		b.Operations = append(b.Operations, o)
	}
	return b, nil
}

// batchDecoder adds up the text of all operations.
type batchDecoder struct{ total int }

func (d *batchDecoder) operation(field string, raw json.RawMessage) (o gateway.Operation, err *Error) {
	fields, err := Object(field, raw, operationNames)
	if err != nil {
		return o, err
	}
	if o.ClientID, err = Text(field+".clientId", fields.Get("clientId")); err != nil {
		return o, err
	}
	if o.Command, err = Text(field+".command", fields.Get("command")); err != nil {
		return o, err
	}
	if o.Command == "" {
		return o, Wrong(BadRequest, field+".command", "is missing", nameCommand)
	}
	if wire.IsObject(fields.Get("expectHash")) {
		o.HashFrom, err = decodeReference(field+".expectHash", fields.Get("expectHash"))
	} else {
		o.ExpectHash, err = Text(field+".expectHash", fields.Get("expectHash"))
	}
	if err != nil {
		return o, err
	}
	return o, d.params(&o, field+".params", fields.Get("params"))
}

// params decodes the parameters of an operation.
func (d *batchDecoder) params(o *gateway.Operation, field string, raw json.RawMessage) *Error {
	raw, err := unwrap(field, raw)
	if err != nil {
		return err
	}
	fields, err := paramFields(field, raw)
	if err != nil {
		return err
	}
	o.Params, o.From = allowlist.Params{}, map[string]gateway.Reference{}
	for _, f := range sorted(fields) {
		name := string(f.Name)
		inside := field + "." + name
		if wire.IsObject(f.Value) {
			if o.From[name], err = decodeReference(inside, f.Value); err != nil {
				return err
			}
			continue
		}
		value, size, err := Value(inside, f.Value)
		if err != nil {
			return err
		}
		if d.total += size; d.total > MaxTotalText {
			return Wrong(BadValue, inside, fmt.Sprintf("exceeds %d bytes of text in one batch", MaxTotalText), "send less text per batch")
		}
		if value != (allowlist.Value{}) {
			o.Params[name] = value
		}
	}
	return nil
}

func decodeReference(field string, raw json.RawMessage) (ref gateway.Reference, err *Error) {
	fields, err := Object(field, raw, referenceNames)
	if err != nil {
		return ref, err
	}
	if ref.ClientID, err = Text(field+".from", fields.Get("from")); err != nil {
		return ref, err
	}
	if ref.Field, err = Text(field+".field", fields.Get("field")); err != nil {
		return ref, err
	}
	if ref.ClientID == "" || ref.Field == "" {
		return ref, Wrong(BadRequest, field, "is an incomplete reference", `send a plain value, or {"from": "c1", "field": "path"}`)
	}
	return ref, nil
}
