package mcpserver

import (
	"context"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/allowlist"
	"vaultwicket/gateway"
)

// typedTool is a tool for one job, with arguments of its own. It can do nothing
// that obsidianCli cannot: each call of it is one call of one of its commands,
// and goes the same way. Its schema and its decoder are made from the same
// lists.
type typedTool struct {
	name, title, toolset string
	args                 []argument
	acts                 []act
	// pages are the arguments for long answers that it takes: fields, limit and
	// cursor.
	pages []string
	// writes says that some of its calls can change something.
	writes bool
}

// argument is one argument of a typed tool. One that is handed on as a parameter
// has the name of the parameter.
type argument struct {
	name string
	form jsonType
	says string // for a model
	// choices are the values of an argument that picks something in the tool
	// itself. Those of a parameter stand in the allowlist.
	choices  []string
	required bool
}

// jsonType is the type of an argument in a schema.
type jsonType string

const (
	asText   jsonType = "string"
	asNumber jsonType = "integer"
	asFlag   jsonType = "boolean"
	asList   jsonType = "array" // of strings
)

// act is a command that a typed tool stands for.
type act struct {
	command string
	says    string // a sentence of the description, there if the command is open
	// when names the arguments of which one must be given for this act, with the
	// value is if that is not empty. The act without is what is done otherwise.
	when []string
	is   string
	// takes names the arguments that are parameters of the command.
	takes []string
	// flags names the argument whose value is the name of a flag of the command.
	flags string
	// with names the flags that the command always gets.
	with []string
}

// typedNamed returns the typed tool of that name, or nil.
func typedNamed(name string) *typedTool {
	for i := range typedTools {
		if typedTools[i].name == name {
			return &typedTools[i]
		}
	}
	return nil
}

// typed answers calls of a typed tool. readsOnly is what its hints promise.
func (h handler) typed(t *typedTool, readsOnly bool) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		call, refused := t.decode(req.Params.RawArguments)
		if refused != nil {
			return answer(gateway.Reject(t.name, refused))
		}
		call.request.ReadsOnly = readsOnly
		return h.run(ctx, req, call.request, call.dryRun)
	}
}

// pick returns the act that the arguments ask for, nil if there is none.
func (t *typedTool) pick(given map[string]allowlist.Value) *act {
	var otherwise *act
	for i := range t.acts {
		switch a := &t.acts[i]; {
		case a.when == nil:
			otherwise = a
		case a.asked(given):
			return a
		}
	}
	return otherwise
}

func (a *act) asked(given map[string]allowlist.Value) bool {
	return slices.ContainsFunc(a.when, func(name string) bool {
		value, ok := given[name]
		return ok && (a.is == "" || value == allowlist.Text(a.is))
	})
}

// uses reports whether an argument means something to the act.
func (a *act) uses(name string) bool {
	return name == a.flags || slices.Contains(a.when, name) || slices.Contains(a.takes, name)
}

// params are the parameters of the command of an act, made from the arguments of
// a call.
func (t *typedTool) params(a *act, given map[string]allowlist.Value) allowlist.Params {
	params := allowlist.Params{}
	for _, name := range a.takes {
		if value, ok := given[name]; ok {
			params[name] = value
		}
	}
	for _, name := range t.choices(a.flags) {
		if given[a.flags] == allowlist.Text(name) {
			params[name] = allowlist.Flag(true)
		}
	}
	for _, name := range a.with {
		params[name] = allowlist.Flag(true)
	}
	return params
}

// choices returns the values of an argument that picks something in the tool.
func (t *typedTool) choices(name string) []string {
	for i := range t.args {
		if t.args[i].name == name {
			return t.args[i].choices
		}
	}
	return nil
}
