package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
)

// batchName is the tool for several operations. With mutations off it is listed only if its toolset
// is configured: reads need no order, and clients can make them in parallel.
const batchName = "obsidianBatch"

// batchTool returns the definition of obsidianBatch. The description of obsidianCli lists the commands
// for its operations. The hints are those of the worst command.
func batchTool(view toolView) mcp.Tool {
	schema := batchSchema
	if len(view.vaults) > 1 {
		schema = strings.Replace(schema, `"atomic":{`, `"vault":{"type":"string"},"atomic":{`, 1)
	}
	t := mcp.NewToolWithRawSchema(batchName, batchDescription, json.RawMessage(schema))
	t.RawOutputSchema = json.RawMessage(shortOutputSchema)
	t.Annotations = annotations("Obsidian vault (batch)", view.worst, view.sends)
	return t
}

const batchDescription = `obsidianCli commands in order. {"from":"c1","field":"path"} as a value is path, hash, stdout or change.id of an earlier one.`

// batchSchema omits constraints that the decoder checks, such as the types of values and the number
// of operations, to save tokens. The descriptions of this tool and obsidianCli explain the names.
const batchSchema = `{"type":"object","properties":{` +
	`"operations":{"type":"array","items":{"type":"object","properties":{` +
	`"clientId":{"type":"string"},"command":{"type":"string"},"params":{"type":"object","additionalProperties":true},` +
	`"expectHash":{"type":["string","object"]}},"required":["clientId","command"],"additionalProperties":false}},` +
	`"atomic":{"type":"boolean"},"dryRun":{"type":"boolean"},` +
	`"propose":{"type":["boolean","string"],"description":"leave it to the user"},` +
	`"idempotencyKey":{"type":"string"}},` +
	`"required":["operations"],"additionalProperties":false}`

func (h handler) batch(ctx context.Context, client *transport.Peer, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	batch, err := DecodeBatch(req.Params.RawArguments)
	if err != nil {
		refused := gateway.RejectBatch("", err)
		if argument, ok := errors.AsType[*argumentError](err); ok {
			refused.ClientID = argument.operation.ClientID
			refused.Command = argument.operation.Command
		}
		return reply(refused, true)
	}
	ctx, stop := startProgress(ctx, client, req)
	defer stop()
	asks, view := h.addClient(client, req, &batch.Request)
	if batch.DryRun {
		plan := h.Gateway.DryRunBatch(ctx, batch.Batch)
		return reply(withMarks(h, plan), !plan.OK)
	}
	if batch.Propose {
		proposed := h.Gateway.ProposeBatch(ctx, batch.Batch, batch.Again)
		return reply(withMarks(h, proposed), !proposed.OK)
	}
	result := h.Gateway.DoBatch(ctx, batch.Batch)
	if asks != nil && asks.pending != nil {
		return asks.pending, nil
	}
	answer, err := reply(withMarks(h, result), !result.OK)
	if err != nil {
		return answer, err
	}
	clientName, _ := client.Client()
	var difference []consent.Line
	for _, operation := range result.Results {
		if operation.Result != nil {
			answer = withImage(clientName, answer, operation.Result.Image)
			if operation.Undone == nil || !*operation.Undone {
				difference = append(difference, operation.Result.Difference...)
			}
		}
	}
	return view.attach(answer, difference), nil
}

var (
	batchNames     = []string{"operations", "vault", "atomic", "dryRun", "propose", "idempotencyKey"}
	operationNames = []string{"clientId", "command", "params", "expectHash"}
	referenceNames = []string{"from", "field"}
)

const listOperations = `send a list, such as [{"clientId": "c1", "command": "daily:read"}]`

// BatchCall contains the arguments of obsidianBatch.
type BatchCall struct {
	gateway.Batch
	DryRun bool // only preview the batch
	// Propose submits the batch to the owner as a proposal instead of running it. Again is the id of the
	// proposal that it replaces, "" for a new one.
	Propose bool
	Again   string
}

// DecodeBatch decodes the arguments of obsidianBatch as strictly as those of a single call. The error
// has the methods Code and Hint.
func DecodeBatch(raw []byte) (BatchCall, error) {
	var b BatchCall
	fields, err := decodeObject("", raw, batchNames)
	if err != nil {
		return BatchCall{}, err
	}
	if b.Atomic, err = decodeBool("atomic", fields.Get("atomic")); err != nil {
		return BatchCall{}, err
	}
	if b.DryRun, err = decodeBool("dryRun", fields.Get("dryRun")); err != nil {
		return BatchCall{}, err
	}
	if b.Propose, b.Again, err = decodePropose(fields.Get("propose")); err != nil {
		return BatchCall{}, err
	}
	if b.Propose && b.DryRun {
		return BatchCall{}, wrongArgument(badRequest, "propose", "cannot be combined with dryRun", "leave one of them out")
	}
	if b.Vault, err = decodeText("vault", fields.Get("vault")); err != nil {
		return BatchCall{}, err
	}
	if b.IdempotencyKey, err = decodeText("idempotencyKey", fields.Get("idempotencyKey")); err != nil {
		return BatchCall{}, err
	}
	var list []json.RawMessage
	operations := fields.Get("operations")
	switch {
	case transport.IsNull(operations):
		return BatchCall{}, wrongArgument(badRequest, "operations", "is missing", listOperations)
	case json.Unmarshal(operations, &list) != nil:
		return BatchCall{}, wrongArgument(
			badRequest,
			"operations",
			"is "+typeName(operations)+", not a list",
			listOperations,
		)
	case len(list) > gateway.MaxOperations:
		return BatchCall{}, wrongArgument(
			badRequest,
			"operations",
			fmt.Sprintf("has %d operations", len(list)),
			fmt.Sprintf("send up to %d", gateway.MaxOperations),
		)
	}
	total := 0
	for i, item := range list {
		o, err := decodeOperation(fmt.Sprintf("operations[%d]", i), item, &total)
		if err != nil {
			err.operation.ClientID = transport.Clip(o.ClientID)
			err.operation.Command = transport.Clip(o.Command)
			return BatchCall{}, err
		}
		b.Operations = append(b.Operations, o)
	}
	return b, nil
}

// decodePropose decodes the argument propose: a boolean, or the id of the proposal to replace.
func decodePropose(raw json.RawMessage) (proposes bool, replaces string, err *argumentError) {
	text := strings.TrimSpace(string(raw))
	if !strings.HasPrefix(text, `"`) || text == `"true"` || text == `"false"` {
		proposes, err = decodeBool("propose", raw)
		return proposes, "", err
	}
	replaces, err = decodeText("propose", raw)
	return replaces != "", replaces, err
}

// decodeOperation decodes one operation, and adds the size of its texts in bytes to total. Together with an error it
// returns the id and the command of the operation, if those could be decoded.
func decodeOperation(field string, raw json.RawMessage, total *int) (o gateway.Operation, err *argumentError) {
	fields, err := anyObject(field, raw)
	if err != nil {
		return o, err
	}
	var wrongID, wrongCommand *argumentError
	o.ClientID, wrongID = decodeText(field+".clientId", fields.Get("clientId"))
	o.Command, wrongCommand = decodeText(field+".command", fields.Get("command"))
	if err := cmp.Or(rejectUnknown(field, fields, operationNames, ""), wrongID, wrongCommand); err != nil {
		return o, err
	}
	if o.Command == "" {
		return o, wrongArgument(badRequest, field+".command", "is missing", nameCommand)
	}
	if transport.IsObject(fields.Get("expectHash")) {
		o.HashFrom, err = decodeReference(field+".expectHash", fields.Get("expectHash"))
	} else {
		o.ExpectHash, err = decodeText(field+".expectHash", fields.Get("expectHash"))
	}
	if err != nil {
		return o, err
	}
	err = decodeOperationParams(&o, field+".params", fields.Get("params"), total)
	return o, err
}

func decodeOperationParams(o *gateway.Operation, field string, raw json.RawMessage, total *int) *argumentError {
	raw, err := unwrap(field, raw)
	if err != nil {
		return err
	}
	fields, err := paramFields(field, raw)
	if err != nil {
		return err
	}
	o.Params = allowlist.Params{}
	o.From = map[string]gateway.Reference{}
	var wrong []*argumentError
	for _, f := range fields.Sorted() {
		name := string(f.Name)
		inside := field + "." + name
		if transport.IsObject(f.Value) {
			if o.From[name], err = decodeReference(inside, f.Value); err != nil {
				wrong = append(wrong, err)
			}
			continue
		}
		value, size, err := decodeValue(o.Command, name, inside, f.Value)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		*total += size
		if *total > maxTotalText {
			return wrongArgument(
				badValue,
				inside,
				fmt.Sprintf("exceeds %d bytes of text in one batch", maxTotalText),
				"send less text per batch",
			)
		}
		if value != (allowlist.Value{}) {
			o.Params[name] = value
		}
	}
	return joinErrors(wrong)
}

// decodeReference decodes a reference to a value in the result of an earlier operation.
func decodeReference(field string, raw json.RawMessage) (ref gateway.Reference, err *argumentError) {
	fields, err := decodeObject(field, raw, referenceNames)
	if err != nil {
		return ref, err
	}
	if ref.ClientID, err = decodeText(field+".from", fields.Get("from")); err != nil {
		return ref, err
	}
	if ref.Field, err = decodeText(field+".field", fields.Get("field")); err != nil {
		return ref, err
	}
	if ref.ClientID == "" || ref.Field == "" {
		return ref, wrongArgument(
			badRequest,
			field,
			"is an incomplete reference",
			`send a plain value, or {"from": "c1", "field": "path"}`,
		)
	}
	return ref, nil
}
