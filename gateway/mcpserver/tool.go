package mcpserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// cliTool returns the definition of obsidianCli under the current policy: the enabled commands with their parameters,
// and hints for the worst of them.
func cliTool(view toolView) mcp.Tool {
	// Use only features that every client supports: no $ref, no union at the root, and additionalProperties in every
	// object of the input.
	names := make([]string, len(view.enabled))
	for i, c := range view.enabled {
		names[i] = c.Name
	}
	command := map[string]any{"type": "string", "enum": names, "description": "name"}
	if len(names) == 0 { // some clients reject an enum without values
		command = map[string]any{"type": "string", "description": "none is enabled"}
	}
	properties := map[string]any{
		"command": command,
		"params": map[string]any{
			"type": "object", "description": "by name",
			"additionalProperties": map[string]any{"type": []string{"string", "number", "boolean", "null"}},
		},
	}
	for _, a := range pagingArguments {
		properties[a.Name] = a.schema()
	}
	if len(view.vaults) > 1 {
		properties["vault"] = map[string]any{"type": "string", "enum": view.vaults, "description": "vault name"}
	}
	for _, a := range writeArguments {
		isOffered := view.worst.Mutates() || a.Name == "dryRun" // always accepted, so that clients can send it
		if isOffered {
			properties[a.Name] = a.schema()
		}
	}
	t := mcp.NewToolWithRawSchema(toolName, describe(view), transport.Encode(map[string]any{
		"type":                 "object",
		"properties":           properties,
		"required":             []string{"command"},
		"additionalProperties": false,
	}))
	t.RawOutputSchema = json.RawMessage(outputSchema)
	t.Annotations = annotations("Obsidian vault", view.worst, view.sends)
	return t
}

// annotations returns the title of a tool and the hints for the worst of its calls. Clients decide by the hints whether
// to ask the user, so all four are set explicitly: mcp-go marks tools as destructive by default.
func annotations(title string, worst tiers.Effect, sends bool) mcp.ToolAnnotation {
	return mcp.ToolAnnotation{
		Title:           title,
		ReadOnlyHint:    mcp.ToBoolPtr(!worst.Mutates()),
		DestructiveHint: mcp.ToBoolPtr(worst.WorseThan(tiers.Writes)),
		IdempotentHint:  mcp.ToBoolPtr(!worst.Mutates()),
		OpenWorldHint:   mcp.ToBoolPtr(sends),
	}
}

// toolView is the part of the current policy that tool descriptions depend on. It is computed once
// for all tools, because that requires checking every command.
type toolView struct {
	vaults  []string
	enabled []gateway.CommandListing // the commands that are permitted without optional parameters and supported here
	worst   tiers.Effect             // the worst effect of a permitted call
	sends   bool                     // a permitted call can send data off the machine
	// disabled counts the commands that the user could enable; settings are the settings that would
	// enable them.
	disabled int
	settings []string
}

func toolViewOf(gw *gateway.Gateway) toolView {
	listing := gw.Listing()
	v := toolView{vaults: gw.VaultNames(), worst: gateway.WorstEffect(listing)}
	v.sends = v.worst.WorseThan(tiers.Destroys) // publishing or executing
	denied := map[string]bool{}
	for _, c := range listing {
		isOffered := c.Missing == nil && c.Tier != tiers.Restricted
		isDeniedBySetting := c.Denial != nil && c.Denial.Setting != ""
		switch {
		case c.Enabled():
			v.enabled = append(v.enabled, c)
		case isOffered && isDeniedBySetting:
			v.disabled++
			denied[c.Denial.Setting] = true
		}
		if c.Denial == nil && c.Sends {
			v.sends = true
		}
	}
	if !v.worst.Mutates() && v.disabled > 0 {
		denied["allow-mutations"] = true
	}
	for _, name := range enablingSettings {
		if denied[name] {
			v.settings = append(v.settings, name)
		}
	}
	return v
}

// enablingSettings lists the settings that enable commands, in the order of how many they enable.
var enablingSettings = [...]string{
	"tier",
	"allow-mutations",
	"allow-publish",
	"allow-ui",
	"disable",
	"enable-only",
	"min-cli-version",
}

// describe returns the tool description. A model reads it in every conversation, so it contains only
// what cannot be guessed.
func describe(view toolView) string {
	vaults := view.vaults
	listing := view.enabled
	var b strings.Builder
	b.WriteString("Runs one Obsidian command")
	vault := `"` + strings.ReplaceAll(vaults[0], `"`, `'`) + `"` // control characters were rejected when the settings were read
	switch {
	case len(vaults) > 1:
		b.WriteString(" on a vault, " + vault + " unless named")
	case vaults[0] != "":
		b.WriteString(" on the vault " + vault)
	}
	b.WriteString(`. Parameters go into params, flags as true; [x] is optional.`)
	if slices.ContainsFunc(listing, func(c gateway.CommandListing) bool { return effectMark(c.Effect) != "" }) {
		b.WriteString(" ! = write, !! = destructive.")
	}
	signatures := make([]string, len(listing))
	for i, c := range listing {
		signatures[i] = c.Signature(allowlist.BriefSignature)
	}
	replacer, legend := abbreviate(signatures)
	b.WriteString(legend)
	lines := groupByPrefix(listing, signatures)
	if len(lines) < len(listing) {
		b.WriteString(" a: b, c are a:b and a:c.")
	}
	for _, line := range lines {
		b.WriteString("\n" + replacer.Replace(line))
	}
	if view.disabled > 0 {
		fmt.Fprintf(
			&b,
			"\nThe user can enable %d more (%s).",
			view.disabled,
			strings.Join(view.settings, ", "),
		)
	}
	return b.String()
}

// abbreviate returns the replacements of parts that many signatures have in common, and their legend.
func abbreviate(signatures []string) (replacer *strings.Replacer, legend string) {
	replacements := []string{" [" + allowlist.Ellipsis + "]", "+", " " + allowlist.Ellipsis + "]", "]+"}
	for _, a := range abbreviations {
		times := 0
		for _, s := range signatures {
			times += strings.Count(s, a.long)
		}
		// Abbreviating a part that occurs only once or twice would not pay for its legend.
		if times > 2 {
			replacements = append(replacements, a.long, a.short)
			legend += a.legend
		}
	}
	hasEllipsis := func(signature string) bool { return strings.Contains(signature, allowlist.Ellipsis) }
	if slices.ContainsFunc(signatures, hasEllipsis) {
		legend += " + = more, see help."
	}
	return strings.NewReplacer(replacements...), legend
}

// groupByPrefix returns a line for each command, except that those with the same prefix share one: the enum
// in the schema has their full names.
func groupByPrefix(listing []gateway.CommandListing, signatures []string) []string {
	prefixOf := func(c gateway.CommandListing) string { return c.Name[:strings.IndexByte(c.Name, ':')+1] }
	count := map[string]int{}
	for _, c := range listing {
		count[prefixOf(c)]++
	}
	var lines []string
	lineOf := map[string]int{}
	for i, c := range listing {
		prefix := prefixOf(c)
		if prefix == "" || count[prefix] == 1 {
			lines = append(lines, effectMark(c.Effect)+signatures[i])
			continue
		}
		member := effectMark(c.Effect) + signatures[i][len(prefix):]
		if line, isStarted := lineOf[prefix]; isStarted {
			lines[line] += ", " + member
			continue
		}
		lineOf[prefix] = len(lines)
		lines = append(lines, prefix+" "+member)
	}
	return lines
}

// abbreviations replace parts that many signatures have in common. says is the legend.
var abbreviations = [...]struct{ long, short, legend string }{
	{"file= path=", "@", " @ is file= or path=."},
	{"format=json|tsv|csv", "format=", " format= is json, tsv or csv."},
	{"heading= block= lines=", "#", " # is heading=, block= or lines=."},
}

// effectMark returns the mark in a description of a command that writes or is destructive, "" for others.
func effectMark(e tiers.Effect) string {
	switch {
	case e.WorseThan(tiers.Writes):
		return "!!"
	case e.Mutates():
		return "!"
	}
	return ""
}

// readName names the read-only variant of obsidianCli. It is offered if mutations are allowed, so that clients that
// go by the hints need not ask before each read.
const readName = "obsidianRead"

// readTool returns the definition of obsidianRead. The description of obsidianCli lists the commands
// and their parameters.
func readTool() mcp.Tool {
	t := mcp.NewToolWithRawSchema(readName, readDescription, json.RawMessage(readSchema))
	t.RawOutputSchema = json.RawMessage(shortOutputSchema)
	t.Annotations = annotations("Read an Obsidian vault", tiers.Reads, false)
	return t
}

const readDescription = `obsidianCli for reading only. Prefer it to read.`

// readSchema allows further arguments instead of describing those of obsidianCli again, to save
// tokens. The decoder, that of obsidianCli, rejects all others.
const readSchema = `{"type":"object","properties":{"command":{"type":"string"},"params":{"type":"object","additionalProperties":true}},` +
	`"required":["command"],"additionalProperties":true}`

// shortOutputSchema omits the properties to save tokens, too.
const shortOutputSchema = `{"type":"object"}`
