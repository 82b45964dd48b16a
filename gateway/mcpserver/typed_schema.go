package mcpserver

import (
	"maps"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/allowlist"
	"vaultwicket/gateway"
	"vaultwicket/gateway/mcpserver/wire"
	"vaultwicket/tiers"
)

// enabledOperation is an operation whose command the policy enables, with the enabled
// parameters of the command.
type enabledOperation struct {
	*operation
	command allowlist.Command
}

// describe describes the tool for the policy in force. What cannot lead to a permitted call is
// left out; ok is false if nothing is left. The hints are those of the worst call that is left.
func (t *typedTool) describe(gw *gateway.Gateway) (described mcp.Tool, ok bool) {
	var operations []enabledOperation
	for i := range t.operations {
		o := enabledOperation{operation: &t.operations[i]}
		var ok bool
		if o.command, ok = gw.Enabled(o.operation.command); !ok {
			continue
		}
		if slices.ContainsFunc(o.always, func(name string) bool { return o.param(name) == nil }) {
			continue
		}
		operations = append(operations, o)
	}
	if len(operations) == 0 {
		return mcp.Tool{}, false
	}
	var sentences []string
	worst, sends := tiers.Reads, false
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
	described = mcp.NewToolWithRawSchema(t.Name, strings.Join(sentences, " "), wire.Encode(t.schema(operations, worst, gw.VaultNames())))
	described.RawOutputSchema = []byte(outputSchema)
	if t.rows {
		described.RawOutputSchema = []byte(outputRows)
	}
	described.Annotations = annotations(t.Title, worst, sends || worst.WorseThan(tiers.Destroys))
	return described, true
}

// param returns an enabled parameter of the command, or nil.
func (o *enabledOperation) param(name string) *allowlist.Param {
	for i := range o.command.Params {
		if o.command.Params[i].Name == name {
			return &o.command.Params[i]
		}
	}
	return nil
}

// schema uses only what every client supports: no $ref, no union, every object with an
// explicit additionalProperties.
func (t *typedTool) schema(operations []enabledOperation, worst tiers.Effect, vaults []string) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, a := range t.args {
		// Leave out an argument that cannot lead to a permitted call, and values that cannot.
		used, values := false, []string(nil)
		for _, o := range operations {
			switch p := o.param(a.Name); {
			case p != nil && slices.Contains(o.params, a.Name):
				used, values = true, p.Choices
			case o.is == "" && slices.Contains(o.when, a.Name):
				used = true
			}
		}
		for _, value := range a.Values {
			if slices.ContainsFunc(operations, func(o enabledOperation) bool { // the value selects something enabled
				return o.is == value && slices.Contains(o.when, a.Name) || o.flagArgument == a.Name && o.param(value) != nil
			}) {
				used, values = true, append(values, value)
			}
		}
		if !used {
			continue
		}
		a.Values = values
		properties[a.Name] = a.schema()
		if a.Required || !slices.ContainsFunc(operations, func(o enabledOperation) bool { // that can do without it
			p := o.param(a.Name)
			return p == nil || !p.Required || !slices.Contains(o.params, a.Name)
		}) {
			required = append(required, a.Name)
		}
	}
	for _, a := range paging {
		if slices.Contains(t.paging, a.Name) {
			properties[a.Name] = a.schema()
		}
	}
	if worst.Mutates() {
		for _, a := range writing {
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
