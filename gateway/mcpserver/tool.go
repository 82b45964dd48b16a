package mcpserver

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/gateway"
	"vaultwicket/tiers"
)

// toolName is the one tool that is always there.
const toolName = "obsidianCli"

// tool describes obsidianCli for the policy in force: the commands that are
// open, what they take, and hints that tell the truth about the worst of them.
// Clients decide by the hints whether they ask a person, so all four are set:
// mcp-go's own defaults say that every tool destroys.
func tool(o offer) (mcp.Tool, error) {
	schema, err := inputSchema(o)
	if err != nil {
		return mcp.Tool{}, err
	}
	t := mcp.NewToolWithRawSchema(toolName, describe(o.vaults, o.open), schema)
	t.RawOutputSchema = json.RawMessage(outputSchema)
	t.Annotations = mcp.ToolAnnotation{
		Title:           "Obsidian vault",
		ReadOnlyHint:    mcp.ToBoolPtr(!o.worst.Mutates()),
		DestructiveHint: mcp.ToBoolPtr(o.worst.WorseThan(tiers.Writes)),
		IdempotentHint:  mcp.ToBoolPtr(!o.worst.Mutates()),
		OpenWorldHint:   mcp.ToBoolPtr(o.opensWorld()),
	}
	return t, nil
}

// offer is what the tools can say of the policy in force. It is worked out once
// for all of them: it takes a look at every command.
type offer struct {
	vaults []string
	open   []gateway.Listed // the commands whose plain form is allowed
	worst  tiers.Effect     // that an open call can have
}

func offerOf(gw *gateway.Gateway) offer {
	o := offer{vaults: gw.VaultNames(), worst: gw.Worst()}
	for _, c := range gw.Listing() {
		if c.Denial == nil {
			o.open = append(o.open, c)
		}
	}
	return o
}

func (o offer) opensWorld() bool {
	return o.worst.WorseThan(tiers.Destroys) || slices.ContainsFunc(o.open, func(c gateway.Listed) bool { return c.Sends })
}

// describe writes the tool description: every word of it is read by a model
// with every conversation, so it says only what cannot be guessed.
func describe(vaults []string, listing []gateway.Listed) string {
	var b strings.Builder
	b.WriteString("Runs one Obsidian command")
	switch {
	case len(vaults) > 1:
		b.WriteString(" on a vault, " + quoteName(vaults[0]) + " unless named")
	case vaults[0] != "":
		b.WriteString(" on the vault " + quoteName(vaults[0]))
	}
	b.WriteString(`. Parameters go into params by name, flags as true; those in brackets are optional. dryRun shows what would run.`)
	if marks(listing) {
		b.WriteString(" ! changes notes, !! destroys.")
	}
	legend, short := abbreviate(listing)
	b.WriteString(legend)
	for _, c := range listing {
		b.WriteString("\n" + mark(c.Effect) + short.Replace(c.Signature))
	}
	return b.String()
}

// abbreviations stand for what many signatures have in common.
var abbreviations = [...]struct{ long, short, says string }{
	{"file= path=", "@", " @ is file= or path=."},
	{"format=json|tsv|csv", "format=", " format= is json, tsv or csv."},
}

// abbreviate returns how signatures are shortened, and what tells the reader so.
// What stands in one or two of them is not worth telling.
func abbreviate(listing []gateway.Listed) (legend string, short *strings.Replacer) {
	var pairs []string
	for _, a := range abbreviations {
		times := 0
		for _, c := range listing {
			times += strings.Count(c.Signature, a.long)
		}
		if times > 2 {
			pairs = append(pairs, a.long, a.short)
			legend += a.says
		}
	}
	return legend, strings.NewReplacer(pairs...)
}

// quoteName shows a vault name in the description. Its characters were checked
// with the settings, so quotes are all it needs.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `'`) + `"` }

func marks(listing []gateway.Listed) bool {
	for _, c := range listing {
		if mark(c.Effect) != "" {
			return true
		}
	}
	return false
}

func mark(e tiers.Effect) string {
	switch {
	case e.WorseThan(tiers.Writes):
		return "!!"
	case e.Mutates():
		return "!"
	}
	return ""
}

// inputSchema is plain enough for every client: no $ref, no union at the root,
// every object with an explicit additionalProperties.
func inputSchema(o offer) (json.RawMessage, error) {
	names := make([]string, len(o.open))
	for i, c := range o.open {
		names[i] = c.Name
	}
	properties := map[string]any{
		"command": map[string]any{"type": "string", "enum": names, "description": "command to run"},
		"params": map[string]any{
			"type": "object", "description": "its parameters",
			"additionalProperties": map[string]any{"type": []string{"string", "number", "boolean", "null"}},
		},
	}
	for _, a := range pageArguments {
		properties[a.name] = a.schema()
	}
	if len(names) == 0 { // an enum without values is no schema to some clients
		properties["command"] = map[string]any{"type": "string", "description": "none is open"}
	}
	if len(o.vaults) > 1 {
		properties["vault"] = map[string]any{"type": "string", "enum": o.vaults, "description": "which vault"}
	}
	for _, a := range writeArguments {
		if o.worst.Mutates() || a.name == "dryRun" {
			properties[a.name] = a.schema()
		}
	}
	return json.Marshal(map[string]any{
		"type":                 "object",
		"properties":           properties,
		"required":             []string{"command"},
		"additionalProperties": false,
	})
}

// outputSchema fits results, failures and dry runs alike. Clients built on one
// of the SDKs drop a result that does not fit, so it asks for no more than what
// all three have.
const outputSchema = `{"type":"object","properties":{` +
	`"ok":{"type":"boolean"},"command":{"type":"string"},"stdout":{"type":"string"},` +
	`"error":{"type":"object","properties":{"code":{"type":"string"},"message":{"type":"string"},"hint":{"type":"string"}},` +
	`"required":["code","message"],"additionalProperties":true}},` +
	`"required":["ok","command"],"additionalProperties":true}`
