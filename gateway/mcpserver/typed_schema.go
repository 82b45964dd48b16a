package mcpserver

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/allowlist"
	"vaultwicket/gateway"
	"vaultwicket/tiers"
)

// openAct is an act whose command the policy opens, with the parameters of the
// command that are open.
type openAct struct {
	*act
	command allowlist.Command
}

// describe describes the tool for the policy in force. What cannot lead to an
// open call is not mentioned; open is false if nothing is left. The hints are
// those of the worst call that is left.
func (t *typedTool) describe(gw *gateway.Gateway) (described mcp.Tool, open bool) {
	acts := t.openActs(gw)
	if len(acts) == 0 {
		return mcp.Tool{}, false
	}
	var says []string
	for _, a := range acts {
		says = append(says, a.says)
	}
	worst, sends := t.worst(acts)
	described = mcp.NewToolWithRawSchema(t.name, strings.Join(says, " "), encode(t.schema(acts, worst, gw.VaultNames())))
	described.RawOutputSchema = json.RawMessage(outputSchema)
	described.Annotations = mcp.ToolAnnotation{
		Title:           t.title,
		ReadOnlyHint:    mcp.ToBoolPtr(!worst.Mutates()),
		DestructiveHint: mcp.ToBoolPtr(worst.WorseThan(tiers.Writes)),
		IdempotentHint:  mcp.ToBoolPtr(!worst.Mutates()),
		OpenWorldHint:   mcp.ToBoolPtr(sends || worst.WorseThan(tiers.Destroys)),
	}
	return described, true
}

func (t *typedTool) openActs(gw *gateway.Gateway) []openAct {
	var acts []openAct
	for i := range t.acts {
		a := openAct{act: &t.acts[i]}
		var open bool
		if a.command, open = gw.Opened(a.act.command); !open {
			continue
		}
		if slices.ContainsFunc(a.with, func(name string) bool { return a.param(name) == nil }) {
			continue
		}
		acts = append(acts, a)
	}
	return acts
}

// param returns an open parameter of the command, or nil.
func (a *openAct) param(name string) *allowlist.Param {
	for i := range a.command.Params {
		if a.command.Params[i].Name == name {
			return &a.command.Params[i]
		}
	}
	return nil
}

// worst returns the worst effect of any call that the tool can make, and whether
// one can carry data off the machine.
func (t *typedTool) worst(acts []openAct) (worst tiers.Effect, sends bool) {
	worst = tiers.Reads
	for _, a := range acts {
		sends = sends || a.command.Sends
		if a.command.Effect.WorseThan(worst) {
			worst = a.command.Effect
		}
		for _, name := range t.carries(a.act) {
			if p := a.param(name); p != nil && p.Effect != tiers.Unknown && p.Effect.WorseThan(worst) {
				worst = p.Effect
			}
		}
	}
	return worst, sends
}

// carries names the parameters that a call of an act can have.
func (t *typedTool) carries(a *act) []string {
	return slices.Concat(a.takes, t.choices(a.flags), a.with)
}

// schema is plain enough for every client: no $ref, no union, every object with
// an explicit additionalProperties.
func (t *typedTool) schema(acts []openAct, worst tiers.Effect, vaults []string) map[string]any {
	properties, required := map[string]any{}, []string{}
	for i := range t.args {
		a := t.args[i]
		used, choices := a.open(acts)
		if !used {
			continue
		}
		a.choices = choices
		properties[a.name] = a.schema()
		if a.required || a.requiredBy(acts) {
			required = append(required, a.name)
		}
	}
	for _, a := range pageArguments {
		if slices.Contains(t.pages, a.name) {
			properties[a.name] = a.schema()
		}
	}
	if worst.Mutates() {
		for _, a := range writeArguments {
			properties[a.name] = a.schema()
		}
	}
	if len(vaults) > 1 {
		vault := argument{name: "vault", form: asText, says: "which vault", choices: vaults}
		properties[vault.name] = vault.schema()
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

func (a argument) schema() map[string]any {
	schema := map[string]any{"type": a.form, "description": a.says}
	if a.form == asList {
		schema["items"] = map[string]any{"type": asText}
	}
	if a.choices != nil {
		schema["enum"] = a.choices
	}
	return schema
}

// open reports whether an argument can lead to an open call, and with which
// values where only some are taken.
func (a argument) open(acts []openAct) (used bool, choices []string) {
	for _, o := range acts {
		switch p := o.param(a.name); {
		case p != nil && slices.Contains(o.takes, a.name):
			used, choices = true, p.Choices
		case o.is == "" && slices.Contains(o.when, a.name):
			used = true
		}
	}
	for _, value := range a.choices {
		if slices.ContainsFunc(acts, func(o openAct) bool { return o.leads(a.name, value) }) {
			used, choices = true, append(choices, value)
		}
	}
	return used, choices
}

// leads reports whether a value of an argument that picks something in the tool
// picks what is open.
func (a *openAct) leads(name, value string) bool {
	return a.is == value && slices.Contains(a.when, name) || a.flags == name && a.param(value) != nil
}

// requiredBy reports whether every open act needs the argument.
func (a argument) requiredBy(acts []openAct) bool {
	for _, o := range acts {
		if p := o.param(a.name); p == nil || !p.Required || !slices.Contains(o.takes, a.name) {
			return false
		}
	}
	return true
}
