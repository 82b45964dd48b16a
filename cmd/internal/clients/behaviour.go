package clients

import (
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/textedit"
)

// behaviour is what a client was seen to do on its own. In the texts, NAME stands for the name of the server and TOOL
// for its read-only tool.
type behaviour struct {
	asks         string // which calls it asks its user about
	longAnswers  string // what it does with long answers
	headlessRead string // what reading notes without a terminal needs, "" if nothing
	headlessEdit string // what changing notes without a terminal needs, "" if nothing
}

// The tools of the server.
const (
	mixedTool = "obsidianCli"
	batchTool = "obsidianBatch"
	readTool  = "obsidianRead"
)

var (
	claudeBehaviour = behaviour{
		asks:         "each tool once, unless a rule in its settings allows it",
		longAnswers:  "answers longer than about 50,000 characters go to a file below its folder of settings",
		headlessRead: `add "mcp__NAME__TOOL" to permissions.allow in its settings.json`,
	}
	codexBehaviour = behaviour{
		asks:        "calls of tools that can change something, with a dialog of its own; an entry with `--edit` turns that off for the tools of vaultwicket, which then asks alone",
		longAnswers: "it cuts the middle out of answers longer than 12,000 characters, so they have pages of 10,000",
	}
	geminiBehaviour = behaviour{
		asks:        "each call, also those that only read",
		longAnswers: "answers longer than 40,000 characters are cut, and go to a file below its folder of settings",
		headlessRead: `start it with --policy FILE, where FILE has: [[rule]] mcpName = "NAME", toolName = "*", ` +
			`toolAnnotations = { readOnlyHint = true }, decision = "allow", priority = 100`,
	}
	qwenBehaviour = behaviour{
		asks:         "each call, also those that only read",
		longAnswers:  "answers longer than about 25,000 characters go to a file below its folder of settings",
		headlessRead: `add "mcp__NAME__TOOL" to permissions.allow in its settings.json`,
	}
	copilotBehaviour = behaviour{
		asks:         "calls of tools that can change something",
		longAnswers:  "answers longer than about 25,000 characters go to a file in the folder for temporary files, which other users of the machine may be able to list",
		headlessEdit: "start it with --allow-tool 'NAME(" + mixedTool + ")'",
	}
	openCodeBehaviour = behaviour{
		asks:        "nothing, unless its permissions say so",
		longAnswers: "answers longer than about 50 KB are cut after whole lines, and go to a file below its folder of data",
	}
	continueBehaviour = behaviour{
		asks:        "each call at a terminal, nothing without one",
		longAnswers: "answers are passed on whole",
	}
	clineBehaviour = behaviour{
		asks:        "nothing by default",
		longAnswers: "it cuts the middle out of answers longer than about 8,000 characters",
	}
)

// fillIn replaces NAME and TOOL in a text about a client.
func (s Server) fillIn(text string) string {
	tool := mixedTool // without --edit the server has only this tool
	if slices.Contains(s.Args, allowMutations) {
		tool = readTool
	}
	return strings.NewReplacer("NAME", s.Name, "TOOL", tool).Replace(text)
}

// Headless says what a client needs besides its entry to be used without a terminal, one sentence per need. hasRule
// says that the rule for reading is already there.
func (c Client) Headless(s Server, hasRule bool) (needs []string) {
	if c.does.headlessRead != "" && !hasRule {
		needs = append(needs, "To read without a terminal: "+s.fillIn(c.does.headlessRead)+".")
	}
	if c.does.headlessEdit != "" && slices.Contains(s.Args, allowMutations) {
		needs = append(needs, "To change notes without a terminal: "+s.fillIn(c.does.headlessEdit)+".")
	}
	return needs
}

// codexEntry passes on the environment variables of the desktop, which Codex drops: without them the Obsidian app is
// not found. With --edit it approves the tools in advance, because Codex without a terminal refuses calls that it
// would ask about.
func codexEntry(s Server) textedit.Object {
	entry := commandAndArgs(s)
	if s.System == "linux" {
		variables := []string{"DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"}
		entry = append(entry, textedit.Member{Key: "env_vars", Value: variables})
	}
	if !slices.Contains(s.Args, allowMutations) {
		return entry
	}
	approved := textedit.Object{{Key: "approval_mode", Value: "approve"}}
	tools := textedit.Object{{Key: mixedTool, Value: approved}, {Key: batchTool, Value: approved}}
	return append(entry, textedit.Member{Key: "tools", Value: tools})
}
