// Package typed describes and decodes the typed tools: tools for one job, with arguments
// of their own. A typed tool can do nothing that obsidianCli cannot: each call of it is one
// call of one command, and goes the same way. The schema and the decoder of a tool are made
// from the same table.
package typed

import (
	"slices"

	"vaultwicket/allowlist"
	"vaultwicket/gateway/mcpserver/arguments"
)

// Tool is a typed tool.
type Tool struct {
	Name, Title string
	Toolset     string // the toolset that lists it

	args       []arguments.Property
	operations []operation
	// paging names the arguments of [arguments.Paging] that it has.
	paging []string
	// writes says that some of its calls can change something.
	writes bool
	// rows says that JSON output is returned as rows, see [Tool.Content].
	rows bool
}

// operation is a command that a tool runs.
type operation struct {
	command     string
	description string // a sentence of the description, listed if the command is enabled
	// when names the arguments of which one must be given to select this operation, with
	// the value is if that is not empty. The operation without it is the default.
	when []string
	is   string
	// params names the arguments that are parameters of the command.
	params []string
	// flagArgument names the argument whose value is the name of a flag of the command.
	flagArgument string
	// always names the flags that the command always gets.
	always []string
	// implied names the flag that the command gets with an argument.
	implied map[string]string
	// objectWith names the flags with which the output is one object. It is not split into
	// pages by rows, so limit is then a parameter of the command.
	objectWith []string
}

// Tools returns all typed tools, in the order in which they are listed.
func Tools() []*Tool {
	all := make([]*Tool, len(tools))
	for i := range tools {
		all[i] = &tools[i]
	}
	return all
}

// Named returns the typed tool of that name, or nil.
func Named(name string) *Tool {
	for i := range tools {
		if tools[i].Name == name {
			return &tools[i]
		}
	}
	return nil
}

// pick returns the operation that the arguments select, nil if there is none.
func (t *Tool) pick(given map[string]allowlist.Value) *operation {
	var fallback *operation
	for i := range t.operations {
		switch o := &t.operations[i]; {
		case o.when == nil:
			fallback = o
		case o.selected(given):
			return o
		}
	}
	return fallback
}

func (o *operation) selected(given map[string]allowlist.Value) bool {
	return slices.ContainsFunc(o.when, func(name string) bool {
		value, ok := given[name]
		return ok && (o.is == "" || value == allowlist.Text(o.is))
	})
}

// uses reports whether an argument has a meaning for the operation.
func (o *operation) uses(name string) bool {
	return name == o.flagArgument || slices.Contains(o.when, name) || slices.Contains(o.params, name)
}

// commandParams are the parameters of the command of an operation, made from the
// arguments of a call.
func (t *Tool) commandParams(o *operation, given map[string]allowlist.Value) allowlist.Params {
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

// values returns the values of an argument that selects something in the tool.
func (t *Tool) values(name string) []string {
	for i := range t.args {
		if t.args[i].Name == name {
			return t.args[i].Values
		}
	}
	return nil
}

// Toolsets returns the names of the toolsets that have typed tools, in the order of
// [Tools].
func Toolsets() []string {
	var names []string
	for i := range tools {
		if !slices.Contains(names, tools[i].Toolset) {
			names = append(names, tools[i].Toolset)
		}
	}
	return names
}
