package mcpserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// typedTool is a tool for one purpose, with its own arguments. It cannot do more than obsidianCli:
// each call is a call of one command, and takes the same path. Its schema and its decoder are derived
// from the same row of [typedTools].
type typedTool struct {
	Name, Title string
	Toolset     string // the toolset that lists it

	args       []property
	operations []operation
	// paging names the arguments in the list [paging] that the tool has.
	paging []string
	// writes reports whether some of its calls can change something.
	writes bool
	// rows reports whether JSON output is returned as rows, see [typedTool.content].
	rows bool
}

// operation is a command that a typed tool can run.
type operation struct {
	command     string
	description string // a sentence of the description, listed if the command is enabled
	// when lists arguments. The operation is selected if one of them is given and, unless value is empty,
	// has that value. The operation without when is the default.
	when  []string
	value string
	// params lists the arguments that are passed on as command parameters.
	params []string
	// flagArgument is the argument whose value is the name of a command flag.
	flagArgument string
	// always lists the flags that are always set.
	always []string
	// implied maps an argument to the flag that is set if the argument is given.
	implied map[string]string
	// objectWith lists the flags with which the output is one object. That cannot be split into pages
	// by rows, so limit is then passed on as a command parameter.
	objectWith []string
}

// typedToolNamed returns the typed tool with the given name, or nil.
func typedToolNamed(name string) *typedTool {
	if i := slices.IndexFunc(typedTools, func(t typedTool) bool { return t.Name == name }); i >= 0 {
		return &typedTools[i]
	}
	return nil
}

// pick returns the operation that the given arguments select. It is never nil for arguments that decodeOwn accepts:
// every tool has a default operation, or a required argument whose values each select one.
func (t *typedTool) pick(given map[string]allowlist.Value) *operation {
	var fallback *operation
	for i := range t.operations {
		switch o := &t.operations[i]; {
		case o.when == nil:
			fallback = o
		case slices.ContainsFunc(o.when, func(name string) bool {
			value, ok := given[name]
			return ok && (o.value == "" || value == allowlist.Text(o.value))
		}):
			return o
		}
	}
	return fallback
}

// uses reports whether the operation uses an argument.
func (o *operation) uses(name string) bool {
	return name == o.flagArgument || slices.Contains(o.when, name) || slices.Contains(o.params, name)
}

// commandParams converts the arguments of a call to the parameters of the operation's command.
func (t *typedTool) commandParams(o *operation, given map[string]allowlist.Value) allowlist.Params {
	params := allowlist.Params{}
	for _, name := range o.params {
		if value, ok := given[name]; ok {
			params[name] = value
		}
	}
	for _, name := range t.values(o.flagArgument) {
		if given[o.flagArgument] == allowlist.Text(name) {
			params[name] = allowlist.Flag(true)
		}
	}
	for _, name := range o.always {
		params[name] = allowlist.Flag(true)
	}
	for name, flag := range o.implied {
		if _, ok := given[name]; ok {
			params[flag] = allowlist.Flag(true)
		}
	}
	return params
}

// values returns the valid values of an argument that the tool itself interprets, nil for others.
func (t *typedTool) values(name string) []string {
	if i := slices.IndexFunc(t.args, func(a property) bool { return a.Name == name }); i >= 0 {
		return t.args[i].Values
	}
	return nil
}

// decode decodes the arguments of a call with the same rules as those of obsidianCli: null, false for
// a flag, and a missing argument are equivalent, and numbers and booleans may be strings. Arguments
// that the policy disables are decoded too, so that the answer can name the setting that disables
// them.
func (t *typedTool) decode(raw json.RawMessage) (c toolCall, err *argumentError) {
	fields, err := decodeObject("", raw, t.names())
	if err != nil {
		return c, err
	}
	given, err := t.decodeOwn(fields)
	if err != nil {
		return c, err
	}
	o := t.pick(given)
	// An argument that the operation does not use is an error: without it, another call would run than was meant.
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if o.uses(name) {
			continue
		}
		for _, other := range o.when {
			if _, ok := given[other]; ok && o.value == "" {
				return c, wrongArgument(
					allowlist.CodeConflict,
					name,
					fmt.Sprintf("cannot be combined with %q", other),
					"send only one of the two",
				)
			}
		}
		if o.value != "" {
			return c, wrongArgument(
				allowlist.CodeConflict,
				name,
				fmt.Sprintf("cannot be combined with %s %q", o.when[0], o.value),
				"with it send "+strings.Join(o.params, ", "),
			)
		}
		var selectors []string // the arguments that select an operation which uses this one
		for _, operation := range t.operations {
			if operation.uses(name) {
				for _, selector := range operation.when {
					selectors = append(selectors, strconv.Quote(selector))
				}
			}
		}
		return c, wrongArgument(
			allowlist.CodeMissingParam,
			name,
			"requires "+strings.Join(selectors, " or "),
			"send that too, or leave this out",
		)
	}
	c.Command = o.command
	c.Params = t.commandParams(o, given)
	if err := c.decodeCommon(fields); err != nil {
		return c, err
	}
	if err := c.decodeTexts(fields); err != nil {
		return c, err
	}
	isSet := func(flag string) bool { return c.Params[flag] != allowlist.Value{} }
	if c.Limit > 0 && slices.ContainsFunc(o.objectWith, isSet) {
		c.Params["limit"] = allowlist.Number(strconv.Itoa(c.Limit))
		c.Limit = 0
	}
	if c.Cursor != "" && len(given) == 0 {
		c.Command = ""
		c.Params = nil // the cursor identifies the command
	}
	return c, nil
}

// names returns the names of all arguments of the tool, regardless of the policy.
func (t *typedTool) names() []string {
	var names []string
	for i := range t.args {
		names = append(names, t.args[i].Name)
	}
	names = append(append(names, t.paging...), "vault")
	if t.writes {
		for _, p := range writeArguments {
			names = append(names, p.Name)
		}
	}
	return names
}

// decodeOwn removes the tool's own arguments from fields and decodes them. It omits null, and false for a
// flag. The allowlist checks the values further.
func (t *typedTool) decodeOwn(fields transport.Fields) (map[string]allowlist.Value, *argumentError) {
	given := map[string]allowlist.Value{}
	total := 0
	var wrong []*argumentError
	for i := range t.args {
		a := &t.args[i]
		var value allowlist.Value
		var size int // bytes of text
		var err *argumentError
		raw := fields.Take(a.Name)
		switch {
		case transport.IsNull(raw) && a.Required:
			err = wrongArgument(badRequest, a.Name, "is missing", sendOneOf(a.Values))
		case transport.IsNull(raw): // the argument is not given
		case a.Type == typeBoolean:
			var isSet bool
			if isSet, err = decodeBool(a.Name, raw); isSet {
				value = allowlist.Flag(true)
			}
		case a.Values == nil:
			value, size, err = decodeValue("", a.Name, a.Name, raw)
		default:
			var choice string
			if choice, err = decodeText(a.Name, raw); err == nil && !slices.Contains(a.Values, choice) {
				err = wrongArgument(
					badValue,
					a.Name,
					fmt.Sprintf("has the invalid value %q", transport.Clip(choice)),
					sendOneOf(a.Values)+excerpt.DidYouMean(choice, a.Values),
				)
			}
			value = allowlist.Text(choice)
			size = len(choice)
		}
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		total += size
		if total > maxTotalText {
			return nil, wrongArgument(
				badValue,
				a.Name,
				fmt.Sprintf("exceeds %d bytes of text in one call", maxTotalText),
				"send less text per call",
			)
		}
		if value != (allowlist.Value{}) {
			given[a.Name] = value
		}
	}
	return given, joinErrors(wrong)
}

func sendOneOf(values []string) string { return "send one of " + strings.Join(values, ", ") }

// rowsResult is a result with rows in place of the output text.
type rowsResult struct {
	gateway.Result
	Stdout    *string         `json:"stdout,omitempty"` // shadows Result.Stdout, so that it is omitted
	Rows      json.RawMessage `json:"rows"`
	Total     *int            `json:"total,omitempty"`
	Groups    json.RawMessage `json:"groups,omitempty"`
	Summaries json.RawMessage `json:"summaries,omitempty"`
	Explain   json.RawMessage `json:"explain,omitempty"`
}

// content returns the result of a call in the form in which the client sees it. A tool with rows
// returns them as JSON instead of as text. If the output is not JSON, for example a part of a row that
// is larger than a page, it stays in stdout.
func (t *typedTool) content(r gateway.Result) any {
	if !t.rows || !r.Rows() || !json.Valid([]byte(r.Stdout)) {
		return r
	}
	out := rowsResult{Result: r, Rows: json.RawMessage(r.Stdout)}
	if r.Stdout[0] == '[' {
		return out
	}
	out.Rows = nil
	if json.Unmarshal([]byte(r.Stdout), &struct {
		Rows, Groups, Summaries, Explain *json.RawMessage
		Total                            **int
	}{&out.Rows, &out.Groups, &out.Summaries, &out.Explain, &out.Total}) != nil || out.Rows == nil {
		return r
	}
	return out
}

// outputRows is the JSON Schema of the results of tools with rows, see [outputSchema].
const outputRows = `{"type":"object","properties":{` +
	`"ok":{"type":"boolean"},"command":{"type":"string"},` +
	`"rows":{"type":"array","items":{"type":"object","additionalProperties":true}},"total":{"type":"integer"},` +
	`"stdout":{"type":"string"},` +
	`"error":{"type":"object","properties":{"code":{"type":"string"},"message":{"type":"string"},"hint":{"type":"string"}},` +
	`"required":["code","message"],"additionalProperties":true}},` +
	`"required":["ok","command"],"additionalProperties":true}`

// enabledOperation is an operation whose command the policy enables. command has only the enabled
// parameters.
type enabledOperation struct {
	*operation
	command allowlist.Command
}

// describe returns the definition of the tool under the current policy. It omits everything that
// cannot lead to a permitted call; ok is false if nothing remains. The hints are those of the worst
// remaining call.
func (t *typedTool) describe(gw *gateway.Gateway) (described mcp.Tool, ok bool) {
	var operations []enabledOperation
	for i := range t.operations {
		command, isEnabled := gw.Enabled(t.operations[i].command)
		if !isEnabled {
			continue
		}
		o := enabledOperation{&t.operations[i], command}
		isDisabled := func(flag string) bool { return o.param(flag) == nil }
		if slices.ContainsFunc(o.always, isDisabled) {
			continue
		}
		operations = append(operations, o)
	}
	if len(operations) == 0 {
		return mcp.Tool{}, false
	}
	var sentences []string
	worst := tiers.Reads
	sends := false
	for _, o := range operations {
		sentences = append(sentences, o.description)
		sends = sends || o.command.Sends
		if o.command.Effect.WorseThan(worst) {
			worst = o.command.Effect
		}
		for _, name := range slices.Concat(o.params, t.values(o.flagArgument), o.always, slices.Collect(maps.Values(o.implied))) {
			if p := o.param(name); p != nil && p.Effect != tiers.Unknown && p.Effect.WorseThan(worst) {
				worst = p.Effect
			}
		}
	}
	described = mcp.NewToolWithRawSchema(
		t.Name,
		strings.Join(sentences, " "),
		transport.Encode(t.schema(operations, worst, gw.VaultNames())),
	)
	described.RawOutputSchema = []byte(outputSchema)
	if t.rows {
		described.RawOutputSchema = []byte(outputRows)
	}
	maySend := sends || worst.WorseThan(tiers.Destroys) // such a call can do anything, also send
	described.Annotations = annotations(t.Title, worst, maySend)
	return described, true
}

// param returns an enabled parameter of the command, or nil.
func (o *enabledOperation) param(name string) *allowlist.Param {
	if i := slices.IndexFunc(o.command.Params, func(p allowlist.Param) bool { return p.Name == name }); i >= 0 {
		return &o.command.Params[i]
	}
	return nil
}

// schema returns the JSON Schema of the arguments. It uses only features that every client supports:
// no $ref, no union, and additionalProperties in every object.
func (t *typedTool) schema(operations []enabledOperation, worst tiers.Effect, vaults []string) map[string]any {
	properties := map[string]any{}
	required := []string{}
	for _, a := range t.args {
		// Omit arguments and values that cannot lead to a permitted call.
		isUsed := false
		var values []string
		for _, o := range operations {
			switch p := o.param(a.Name); {
			case p != nil && slices.Contains(o.params, a.Name):
				isUsed = true
				values = slices.Clone(p.Choices)
			case o.value == "" && slices.Contains(o.when, a.Name):
				isUsed = true
			}
		}
		for _, value := range a.Values {
			isSelector := func(o enabledOperation) bool {
				return o.value == value && slices.Contains(o.when, a.Name) ||
					o.flagArgument == a.Name && o.param(value) != nil
			}
			if slices.ContainsFunc(operations, isSelector) {
				isUsed = true
				values = append(values, value)
			}
		}
		if !isUsed {
			continue
		}
		a.Values = values
		properties[a.Name] = a.schema()
		isOptional := func(o enabledOperation) bool {
			p := o.param(a.Name)
			return p == nil || !p.Required || !slices.Contains(o.params, a.Name)
		}
		if a.Required || !slices.ContainsFunc(operations, isOptional) {
			required = append(required, a.Name)
		}
	}
	for _, a := range pagingArguments {
		if slices.Contains(t.paging, a.Name) {
			properties[a.Name] = a.schema()
		}
	}
	if worst.Mutates() {
		for _, a := range writeArguments {
			properties[a.Name] = a.schema()
		}
	}
	if len(vaults) > 1 {
		vault := property{Name: "vault", Type: typeString, Description: "vault name", Values: vaults}
		properties[vault.Name] = vault.schema()
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}
