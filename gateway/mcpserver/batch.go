package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/allowlist"
	"vaultwicket/gateway"
	"vaultwicket/tiers"
)

// batchName is the tool for several operations. It is there where something can
// be changed, and else only when it is asked for: reads need no order, and a
// client can call them side by side.
const batchName = "obsidianBatch"

// batchTool describes obsidianBatch. What its operations may do stands in the
// description of obsidianCli. Its hints are those of the worst of them.
func batchTool(o offer) mcp.Tool {
	schema := batchSchema
	if len(o.vaults) > 1 {
		schema = strings.Replace(schema, `"atomic":{`, `"vault":{"type":"string"},"atomic":{`, 1)
	}
	t := mcp.NewToolWithRawSchema(batchName, batchDescription, json.RawMessage(schema))
	t.RawOutputSchema = json.RawMessage(batchOutputSchema)
	t.Annotations = mcp.ToolAnnotation{
		Title:           "Several commands on an Obsidian vault",
		ReadOnlyHint:    mcp.ToBoolPtr(!o.worst.Mutates()),
		DestructiveHint: mcp.ToBoolPtr(o.worst.WorseThan(tiers.Writes)),
		IdempotentHint:  mcp.ToBoolPtr(!o.worst.Mutates()),
		OpenWorldHint:   mcp.ToBoolPtr(o.opensWorld()),
	}
	return t
}

const batchDescription = `Runs obsidianCli commands in order. {"from":"c1","field":"path"} as a value takes path, hash, stdout or change.id of an earlier result.`

// batchSchema leaves to the decoder what would cost every conversation words:
// what a value may be, and how many operations there may be. What the names mean
// stands in the description and in that of obsidianCli.
const batchSchema = `{"type":"object","properties":{` +
	`"operations":{"type":"array","items":{"type":"object","properties":{` +
	`"clientId":{"type":"string"},"command":{"type":"string"},"params":{"type":"object","additionalProperties":true},` +
	`"expectHash":{"type":["string","object"]}},"required":["clientId","command"],"additionalProperties":false}},` +
	`"atomic":{"type":"boolean","description":"undo all if one fails"},"idempotencyKey":{"type":"string"}},` +
	`"required":["operations"],"additionalProperties":false}`

// batchOutputSchema asks for no more than what an answer to a panic has, too.
const batchOutputSchema = `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":true}`

// batch answers calls of obsidianBatch.
func (h handler) batch(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	batch, err := DecodeBatch(req.Params.RawArguments)
	if err != nil {
		return reply(gateway.RejectBatch(err), true)
	}
	defer h.report(ctx, req)()
	batch.MaxOutput, batch.Keep, batch.Mark, batch.Taken = h.MaxOutput, true, h.MarkUntrusted, takenIn(req)
	interview, ask := h.interview(ctx, req.Params)
	batch.Ask, batch.Answers, batch.OneSession = ask, interview.answers(), oneSession(ctx)
	batch.Caller, batch.Client, batch.Surface = caller(ctx), clientName(ctx), surface(ctx)
	result := h.Gateway.DoBatch(ctx, batch)
	if question := interview.instead(); question != nil {
		return question, nil
	}
	return reply(result, !result.OK)
}

// changesInBatch reports whether arguments are those of a batch that would
// change something. No arguments are good for both tools.
func (h handler) changesInBatch(arguments json.RawMessage) bool {
	batch, err := DecodeBatch(arguments)
	return err == nil && h.Gateway.BatchChanges(batch)
}

var (
	batchNames     = []string{"operations", "vault", "atomic", "idempotencyKey"}
	operationNames = []string{"clientId", "command", "params", "expectHash"}
	referenceNames = []string{"from", "field"}
)

// DecodeBatch reads a batch as strictly as the arguments of a single call are
// read. It does not know which commands exist. The error has the methods Code
// and Hint.
func DecodeBatch(raw []byte) (gateway.Batch, error) {
	batch, err := decodeBatch(raw)
	if err != nil {
		return gateway.Batch{}, err
	}
	return batch, nil
}

func decodeBatch(raw json.RawMessage) (b gateway.Batch, err *argumentError) {
	fields, err := decodeFields("", raw, batchNames)
	if err != nil {
		return b, err
	}
	if b.Atomic, err = decodeBool("atomic", fields["atomic"]); err != nil {
		return b, err
	}
	if b.Vault, err = decodeText("vault", fields["vault"]); err != nil {
		return b, err
	}
	if b.IdempotencyKey, err = decodeText("idempotencyKey", fields["idempotencyKey"]); err != nil {
		return b, err
	}
	var list []json.RawMessage
	if isNull(fields["operations"]) {
		return b, &argumentError{codeBadRequest, "operations", "is missing", `send a list, such as [{"clientId": "c1", "command": "daily:read"}]`}
	}
	if json.Unmarshal(fields["operations"], &list) != nil {
		return b, &argumentError{codeBadRequest, "operations", "is " + typeName(fields["operations"]) + ", not a list", `send a list, such as [{"clientId": "c1", "command": "daily:read"}]`}
	}
	if len(list) > gateway.MaxOperations {
		return b, &argumentError{codeBadRequest, "operations", fmt.Sprintf("has %d operations", len(list)), fmt.Sprintf("send at most %d", gateway.MaxOperations)}
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

// batchDecoder counts the text of all operations together.
type batchDecoder struct{ total int }

func (d *batchDecoder) operation(field string, raw json.RawMessage) (o gateway.Operation, err *argumentError) {
	fields, err := decodeFields(field, raw, operationNames)
	if err != nil {
		return o, err
	}
	if o.ClientID, err = decodeText(field+".clientId", fields["clientId"]); err != nil {
		return o, err
	}
	if o.Command, err = decodeText(field+".command", fields["command"]); err != nil {
		return o, err
	}
	if o.Command == "" {
		return o, &argumentError{codeBadRequest, field + ".command", "is missing", `say which command to run, such as {"command": "daily:read"}`}
	}
	if isObject(fields["expectHash"]) {
		o.HashFrom, err = decodeReference(field+".expectHash", fields["expectHash"])
	} else {
		o.ExpectHash, err = decodeText(field+".expectHash", fields["expectHash"])
	}
	if err != nil {
		return o, err
	}
	return o, d.params(&o, field+".params", fields["params"])
}

// params reads the params of an operation: an object, or the text of one, as for
// a single call.
func (d *batchDecoder) params(o *gateway.Operation, field string, raw json.RawMessage) *argumentError {
	if isString(raw) {
		text, err := decodeText(field, raw)
		if err != nil {
			return err
		}
		raw = json.RawMessage(strings.Trim(text, jsonSpace))
	}
	fields, err := decodeObject(field, raw)
	if err != nil {
		return err
	}
	if len(fields) > maxParams {
		return &argumentError{codeBadRequest, field, fmt.Sprintf("has %d keys", len(fields)), fmt.Sprintf("send at most %d", maxParams)}
	}
	o.Params, o.From = allowlist.Params{}, map[string]gateway.Reference{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		inside := field + "." + name
		if isObject(fields[name]) {
			if o.From[name], err = decodeReference(inside, fields[name]); err != nil {
				return err
			}
			continue
		}
		value, size, err := decodeValue(inside, fields[name])
		if err != nil {
			return err
		}
		if d.total += size; d.total > maxTotalText {
			return &argumentError{codeBadValue, inside, fmt.Sprintf("makes more than %d bytes of text in one batch", maxTotalText), "send less at once"}
		}
		if value != (allowlist.Value{}) {
			o.Params[name] = value
		}
	}
	return nil
}

func decodeReference(field string, raw json.RawMessage) (ref gateway.Reference, err *argumentError) {
	fields, err := decodeFields(field, raw, referenceNames)
	if err != nil {
		return ref, err
	}
	if ref.ClientID, err = decodeText(field+".from", fields["from"]); err != nil {
		return ref, err
	}
	if ref.Field, err = decodeText(field+".field", fields["field"]); err != nil {
		return ref, err
	}
	if ref.ClientID == "" || ref.Field == "" {
		return ref, &argumentError{codeBadRequest, field, "is no whole reference", `send a plain value, or {"from": "c1", "field": "path"}`}
	}
	return ref, nil
}

// decodeFields reads an object that has no other keys than names.
func decodeFields(field string, raw json.RawMessage, names []string) (map[string]json.RawMessage, *argumentError) {
	fields, err := decodeObject(field, raw)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if slices.Contains(names, name) {
			continue
		}
		hint := "there are " + strings.Join(names, ", ")
		if near := allowlist.Nearest(name, names); near != "" {
			hint = fmt.Sprintf("write %q", near)
		}
		return nil, &argumentError{codeBadRequest, strings.TrimPrefix(field+"."+name, "."), "there is no such argument", hint}
	}
	return fields, nil
}
