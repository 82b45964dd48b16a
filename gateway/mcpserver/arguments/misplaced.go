package arguments

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"vaultwicket/allowlist"
	"vaultwicket/gateway/mcpserver/wire"
)

// otherArguments are what other tools call an argument of obsidianCli.
var otherArguments = map[string]string{
	"arguments": "params", "args": "params", "parameters": "params", "parameter": "params", "param": "params", "options": "params", "input": "params", "flags": "params", "kwargs": "params",
	"cmd": "command", "action": "command", "operation": "command", "tool": "command", "commandName": "command", "method": "command", "function": "command",
	"dry_run": "dryRun", "preview": "dryRun", "max_results": "limit", "maxResults": "limit", "page": "cursor", "next": "cursor", "hash": "expectHash", "expect_hash": "expectHash",
}

// misplaced returns the error about an unknown argument with what to send instead, where
// it is a parameter of the command, or is called otherwise elsewhere.
func (e *Error) misplaced(fields wire.Fields) *Error {
	if other := otherArguments[e.field]; other != "" && e.reason == "" {
		return unknown(e.field, fmt.Sprintf("did you mean %q?", other))
	}
	name, err := Text("command", fields.Get("command"))
	command, unknownCommand := allowlist.Describe(name)
	if err != nil || unknownCommand != nil || e.reason != "" {
		return e
	}
	params, err := paramFields("params", fields.Get("params"))
	if err != nil {
		return e
	}
	moved := map[string]json.RawMessage{}
	for _, f := range params {
		moved[string(f.Name)] = f.Value
	}
	for _, f := range fields {
		isParam := slices.ContainsFunc(command.Params, func(p allowlist.Param) bool { return p.Name == string(f.Name) })
		if isParam && !slices.Contains(callNames, string(f.Name)) {
			moved[string(f.Name)] = f.Value
		}
	}
	if _, ok := moved[e.field]; !ok {
		return e
	}
	hint := "put the parameters into params"
	if text := string(wire.Encode(map[string]any{"command": name, "params": moved})); len(text) <= maxShownCall {
		hint += ": " + strings.TrimSpace(text)
	}
	return unknown(e.field, hint)
}

// asObject returns the error about parameters that are no JSON with the object that they
// stand for, where they are written as on a command line.
func (e *Error) asObject(text json.RawMessage) *Error {
	params := map[string]string{}
	for _, word := range strings.Fields(string(text)) {
		key, value, found := strings.Cut(word, "=")
		if !found || strings.ContainsAny(key, `{}[]":`) || len(text) > maxShownCall {
			return e
		}
		params[key] = strings.Trim(value, `"'`)
	}
	if len(params) == 0 {
		return e
	}
	return Wrong(e.code, e.field, e.reason, "send an object: "+string(wire.Encode(params)))
}

// maxShownCall is the longest call that a hint writes out.
const maxShownCall = 400
