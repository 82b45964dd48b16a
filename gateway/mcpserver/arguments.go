package mcpserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
)

// toolName is the name of the tool that is always listed.
const toolName = "obsidianCli"

const (
	maxText   = 1 << 20 // bytes of one value: far longer than any note written by hand
	maxParams = 64      // no command has half as many

	// maxTotalText is the maximum total size of the values of a call, in bytes. Files in base64 do not
	// count: the allowlist and the maximum size of a message limit them.
	maxTotalText = 2 << 20
)

// callNames are the arguments of obsidianCli.
var callNames = []string{
	"command",
	"params",
	"vault",
	"dryRun",
	"fields",
	"limit",
	"cursor",
	"expectHash",
	"idempotencyKey",
}

// toolCall contains the decoded arguments of obsidianCli or a typed tool. Missing arguments and null
// decode to zero values.
type toolCall struct {
	gateway.Request
	DryRun bool
}

// decodeCall decodes the arguments of obsidianCli. Only command is required. Together with an error it returns the
// command, if that could be decoded, for use in the answer.
func decodeCall(raw json.RawMessage) (c toolCall, err *argumentError) {
	fields, err := anyObject("", raw)
	if err != nil {
		return c, err
	}
	command, wrongCommand := decodeText("command", fields.Get("command"))
	c.Command = command
	if err := rejectUnknown("", fields, callNames, "; command parameters go into params"); err != nil {
		return c, err.withCorrections(fields)
	}
	if wrongCommand != nil {
		return c, wrongCommand
	}
	if command == "" {
		return c, wrongArgument(badRequest, "command", "is missing", nameCommand)
	}
	if c.Params, err = decodeParams(command, fields.Get("params")); err != nil {
		return c, err
	}
	if err := c.decodeCommon(fields); err != nil {
		return c, err
	}
	err = c.decodeTexts(fields)
	return c, err
}

// decodeParams decodes the parameters of a command. The error lists all wrong parameters, including
// those that the command does not have.
func decodeParams(command string, raw json.RawMessage) (allowlist.Params, *argumentError) {
	raw, err := unwrap("params", raw)
	if err != nil {
		return nil, err
	}
	if transport.IsString(raw) {
		return nil, wrongArgument(
			badValue,
			"params",
			"must be an object, not a string",
			`send an object, such as {"path": "A.md"}`,
		)
	}
	fields, err := paramFields("params", raw)
	if err != nil {
		return nil, err.asObject(command, raw)
	}
	params := allowlist.Params{}
	total := 0
	var wrong []*argumentError
	if inner := fields.Get("params"); len(fields) == 1 && len(inner) > 0 && inner[0] == '{' {
		return nil, wrongArgument(badRequest, "params.params", "is an object", "leave the inner params out: "+exampleCall(command, inner))
	}
	for _, f := range fields.Sorted() {
		name := string(f.Name)
		value, size, err := decodeValue(command, name, "params."+name, f.Value)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		total += size
		if total > maxTotalText {
			return nil, wrongArgument(
				badValue,
				"params",
				fmt.Sprintf("contains more than %d bytes of text", maxTotalText),
				"send less text per call",
			)
		}
		if value != (allowlist.Value{}) {
			params[name] = value
		}
	}
	if len(wrong) == 0 {
		return params, nil
	}
	err = joinErrors(wrong)
	if unknown := allowlist.Unknown(command, params); unknown != nil {
		err.others = append(err.others, unknown)
	}
	return nil, err
}

// decodeCommon decodes dryRun, fields and limit, which all tools for single calls share.
func (c *toolCall) decodeCommon(fields transport.Fields) (err *argumentError) {
	if c.DryRun, err = decodeBool("dryRun", fields.Get("dryRun")); err != nil {
		return err
	}
	if c.Fields, err = decodeList("fields", fields.Get("fields")); err != nil {
		return err
	}
	c.Limit, err = decodeCount("limit", fields.Get("limit"))
	return err
}

// decodeTexts decodes cursor, expectHash, idempotencyKey and vault.
func (c *toolCall) decodeTexts(fields transport.Fields) (err *argumentError) {
	if c.Cursor, err = decodeText("cursor", fields.Get("cursor")); err != nil {
		return err
	}
	if c.ExpectHash, err = decodeText("expectHash", fields.Get("expectHash")); err != nil {
		return err
	}
	if c.IdempotencyKey, err = decodeText("idempotencyKey", fields.Get("idempotencyKey")); err != nil {
		return err
	}
	c.Vault, err = decodeText("vault", fields.Get("vault"))
	return err
}

const nameCommand = `name a command, such as {"command": "daily:read"}`

// unwrap returns the text inside a JSON string, because some models send an object as a string. It
// returns any other value unchanged.
func unwrap(field string, raw json.RawMessage) (json.RawMessage, *argumentError) {
	if !transport.IsString(raw) {
		return raw, nil
	}
	text, err := decodeText(field, raw)
	return json.RawMessage(strings.Trim(text, transport.Space)), err
}

// paramFields decodes the parameters of a command one level deep.
func paramFields(field string, raw json.RawMessage) (transport.Fields, *argumentError) {
	fields, err := anyObject(field, raw)
	if err == nil && len(fields) > maxParams {
		err = wrongArgument(
			badRequest,
			field,
			fmt.Sprintf("has %d keys", len(fields)),
			fmt.Sprintf("send up to %d", maxParams),
		)
	}
	return fields, err
}

// property is an argument of a tool in its JSON Schema. An argument that is passed on as a command
// parameter has the name of the parameter.
type property struct {
	Name        string
	Type        argumentType
	Description string // for a model
	// Values are the valid values of an argument that the tool itself interprets. Those of a command
	// parameter are in the allowlist.
	Values   []string
	Required bool
}

// argumentType is the type of an argument in a JSON Schema.
type argumentType string

// The types of arguments.
const (
	typeString  argumentType = "string"
	typeInteger argumentType = "integer"
	typeBoolean argumentType = "boolean"
	typeStrings argumentType = "array" // of strings
)

func (p property) schema() map[string]any {
	schema := map[string]any{"type": p.Type, "description": p.Description}
	if p.Type == typeStrings {
		schema["items"] = map[string]any{"type": typeString}
	}
	if p.Values != nil {
		schema["enum"] = p.Values
	}
	return schema
}

// pagingArguments lists the arguments for long answers.
var pagingArguments = []property{
	{Name: "fields", Type: typeStrings, Description: "row fields to return"},
	{Name: "limit", Type: typeInteger, Description: "max rows"},
	{Name: "cursor", Type: typeString, Description: "of a truncated result"},
}

// writeArguments lists the arguments of tools that can change something.
var writeArguments = []property{
	{Name: "dryRun", Type: typeBoolean, Description: "preview only"},
	{Name: "expectHash", Type: typeString, Description: "change only a note with this hash"},
	{Name: "idempotencyKey", Type: typeString, Description: "run once per key"},
}

// outputSchema is the JSON Schema of the results of obsidianCli and the typed tools: results,
// failures and dry runs. Clients built on one of the SDKs drop results that do not match, so it
// requires only fields that all three have. It is repeated for every tool in a list, so it describes
// only the fields that clients use most.
const outputSchema = `{"type":"object","properties":{` +
	`"ok":{"type":"boolean"},"stdout":{"type":"string"}},` +
	`"required":["ok"]}`

// otherArguments maps names from other tools to the corresponding arguments of obsidianCli.
var otherArguments = map[string]string{
	"arguments":   "params",
	"args":        "params",
	"parameters":  "params",
	"parameter":   "params",
	"param":       "params",
	"options":     "params",
	"input":       "params",
	"flags":       "params",
	"kwargs":      "params",
	"cmd":         "command",
	"action":      "command",
	"operation":   "command",
	"tool":        "command",
	"commandName": "command",
	"method":      "command",
	"function":    "command",
	"dry_run":     "dryRun",
	"preview":     "dryRun",
	"max_results": "limit",
	"maxResults":  "limit",
	"page":        "cursor",
	"next":        "cursor",
	"hash":        "expectHash",
	"expect_hash": "expectHash",
}

// withCorrections improves the hints of an error about unknown arguments, for arguments that are parameters
// of the command or that have another name here.
func (e *argumentError) withCorrections(fields transport.Fields) *argumentError {
	wrong := e.each()
	moved := movedParams(fields)
	for i, unknown := range wrong {
		corrected := otherArguments[unknown.field]
		_, isParam := moved[unknown.field]
		switch {
		case unknown.reason != "":
		case unknown.field == "name" && transport.IsNull(fields.Get("command")):
			wrong[i] = wrongArgument(badRequest, unknown.field, "", `did you mean "command"?`)
		case corrected != "":
			wrong[i] = wrongArgument(badRequest, unknown.field, "", fmt.Sprintf("did you mean %q?", corrected))
		case isParam:
			name, _ := decodeText("command", fields.Get("command")) // valid, because movedParams found parameters
			hint := "put the parameters into params"
			text := string(transport.Encode(map[string]any{"command": name, "params": moved}))
			if len(text) <= maxExampleCall {
				hint += ": " + strings.TrimSpace(text)
			}
			wrong[i] = wrongArgument(badRequest, unknown.field, "", hint)
		}
	}
	return joinErrors(wrong)
}

// movedParams returns the parameters of a call including those that were sent next to params instead
// of in it. It returns nil if there are none of these.
func movedParams(fields transport.Fields) map[string]json.RawMessage {
	name, wrong := decodeText("command", fields.Get("command"))
	command, unknownCommand := allowlist.Describe(name)
	if wrong != nil || unknownCommand != nil {
		return nil
	}
	params, wrong := paramFields("params", fields.Get("params"))
	if wrong != nil {
		return nil
	}
	moved := map[string]json.RawMessage{}
	for _, f := range fields {
		isParam := slices.ContainsFunc(command.Params, func(p allowlist.Param) bool { return p.Name == string(f.Name) })
		if isParam && !slices.Contains(callNames, string(f.Name)) {
			moved[string(f.Name)] = f.Value
		}
	}
	if len(moved) == 0 {
		return nil
	}
	for _, f := range params {
		if _, isInParams := moved[string(f.Name)]; !isInParams {
			moved[string(f.Name)] = f.Value
		}
	}
	return moved
}

// exampleCall returns a call as JSON for a hint, or a general example if the call is too long.
func exampleCall(command string, params any) string {
	text := strings.TrimSpace(string(transport.Encode(map[string]any{"command": command, "params": params})))
	if len(text) > maxExampleCall {
		return nameCommand
	}
	return text
}

// asObject improves the hint of an error about parameters that are not JSON: if they are written as
// on a command line, or are a single value, the hint shows them as an object.
func (e *argumentError) asObject(command string, text json.RawMessage) *argumentError {
	if len(text) <= maxExampleCall && !json.Valid(text) && !strings.ContainsAny(string(text), `={}[]`) {
		_, err := allowlist.Parse(command+" "+string(text), nil)
		if meant, ok := errors.AsType[*allowlist.ParseError](err); ok && strings.Contains(meant.Hint(), `{"command"`) {
			return wrongArgument(e.code, e.field, e.reason, meant.Hint())
		}
	}
	params := map[string]string{}
	for _, word := range strings.Fields(string(text)) {
		key, value, found := strings.Cut(word, "=")
		if !found || strings.ContainsAny(key, `{}[]":`) || len(text) > maxExampleCall {
			return e
		}
		params[key] = strings.Trim(value, `"'`)
	}
	if len(params) == 0 {
		return e
	}
	return wrongArgument(e.code, e.field, e.reason, "send an object: "+string(transport.Encode(params)))
}

// maxExampleCall is the maximum length, in bytes, of a call that a hint shows.
const maxExampleCall = 400
