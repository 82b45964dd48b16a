package typed

import (
	"errors"
	"slices"
	"testing"

	"vaultwicket/allowlist"
	"vaultwicket/gateway/mcpserver/arguments"
	"vaultwicket/tiers"
)

// sampleOf is a value that each kind of parameter takes.
func sampleOf(t *testing.T, p allowlist.Param) allowlist.Value {
	t.Helper()
	if len(p.Choices) > 0 {
		return allowlist.Text(p.Choices[0])
	}
	samples := map[string]allowlist.Value{
		"flag": allowlist.Flag(true), "number": allowlist.Number("3"), "age": allowlist.Number("3"), "date": allowlist.Text("2026-11-21"), "path": allowlist.Text("Folder/Note.md"),
		"path:line": allowlist.Text("Folder/Note.md:8"), "folder": allowlist.Text("Folder"), "note name": allowlist.Text("Note"),
		"base name": allowlist.Text("Base"), "text": allowlist.Text("a query"), "content": allowlist.Text("text\n"), "name": allowlist.Text("A name"),
	}
	value, ok := samples[p.Kind]
	if !ok {
		t.Fatalf("parameter %s is of the kind %q, for which there is no sample", p.Name, p.Kind)
	}
	return value
}

func describedParam(t *testing.T, command, name string) allowlist.Param {
	t.Helper()
	c, err := allowlist.Describe(command)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(c.Params, func(p allowlist.Param) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("command %s has no parameter %q", command, name)
	}
	return c.Params[i]
}

func (t *Tool) argNamed(name string) *arguments.Property {
	for i := range t.args {
		if t.args[i].Name == name {
			return &t.args[i]
		}
	}
	return nil
}

// TestTypedToolsKeepToTheAllowlist: every command, parameter and type of the
// table is that of the allowlist, and nothing in it is without use.
func TestTypedToolsKeepToTheAllowlist(t *testing.T) {
	forms := map[string]arguments.Type{"flag": arguments.Boolean, "number": arguments.Integer, "age": arguments.Integer}
	for i := range tools {
		tool := &tools[i]
		for _, a := range tool.args {
			if !slices.ContainsFunc(tool.operations, func(o operation) bool { return o.uses(a.Name) }) || a.Description == "" || a.Required && a.Values == nil {
				t.Errorf("%s: argument %q is of no use, is not described, or is required of what the allowlist requires", tool.Name, a.Name)
			}
		}
		mutates := false
		for _, a := range tool.operations {
			for _, name := range a.params {
				p, arg := describedParam(t, a.command, name), tool.argNamed(name)
				want, special := forms[p.Kind]
				if !special {
					want = arguments.String
				}
				if arg == nil || arg.Type != want || arg.Values != nil {
					t.Errorf("%s: argument %q is %+v, parameter of %s is %s", tool.Name, name, arg, a.command, p.Kind)
				}
			}
			for _, name := range slices.Concat(tool.values(a.flagArgument), a.always) {
				if p := describedParam(t, a.command, name); p.Kind != "flag" {
					t.Errorf("%s: %s is no flag of %s", tool.Name, name, a.command)
				}
			}
			for _, name := range a.when {
				if arg := tool.argNamed(name); arg == nil || a.is != "" && !slices.Contains(arg.Values, a.is) {
					t.Errorf("%s: nothing asks for %s by %s", tool.Name, a.command, name)
				}
			}
			c, err := allowlist.Describe(a.command)
			if err != nil || a.description == "" || c.Shows || c.Sends {
				t.Errorf("%s: %s is not for a typed tool: %v", tool.Name, a.command, err)
			}
			effect := c.Effect
			for _, name := range tool.possibleParams(&a) {
				if p := describedParam(t, a.command, name); p.Effect != tiers.Unknown && p.Effect.WorseThan(effect) {
					effect = p.Effect
				}
			}
			mutates = mutates || effect.Mutates()
		}
		always := slices.ContainsFunc(tool.operations, func(a operation) bool { return a.when == nil })
		picks := slices.ContainsFunc(tool.args, func(a arguments.Property) bool { return a.Required && len(a.Values) == len(tool.operations) })
		if always == picks {
			t.Errorf("%s: not every call has one act", tool.Name)
		}
		if mutates != tool.writes {
			t.Errorf("%s: writes is %v", tool.Name, tool.writes)
		}
		if tool.Name == "" || tool.Title == "" || !slices.Contains(Toolsets(), tool.Toolset) || Named(tool.Name) != tool {
			t.Errorf("tool %d is %q, %q, %q", i, tool.Name, tool.Title, tool.Toolset)
		}
	}
}

// TestEveryRequestOfATypedToolParses tries every set of arguments that an act
// takes. What the allowlist has against one is only that two exclude each other,
// or that one is missing; and each argument is part of some call that is good.
func TestEveryRequestOfATypedToolParses(t *testing.T) {
	total := 0
	for i := range tools {
		tool := &tools[i]
		for j := range tool.operations {
			a := &tool.operations[j]
			good := map[string]bool{}
			for _, given := range tool.everyCall(t, a) {
				call, err := allowlist.Parse(a.command, tool.commandParams(a, given))
				var refused *allowlist.ParseError
				switch {
				case err == nil:
					total++
					for name := range given {
						good[name] = true
					}
					for _, name := range a.always {
						if _, ok := call.Param(name); !ok {
							t.Errorf("%s: %s is without %s", tool.Name, a.command, name)
						}
					}
				case !errors.As(err, &refused), refused.Code() != allowlist.CodeConflict && refused.Code() != allowlist.CodeMissingParam:
					t.Errorf("%s: %v", tool.Name, err)
				}
			}
			for _, arg := range tool.args {
				if a.uses(arg.Name) && !good[arg.Name] {
					t.Errorf("%s: no call of %s with %q is good", tool.Name, a.command, arg.Name)
				}
			}
		}
	}
	if total < 100 {
		t.Errorf("only %d calls were good", total)
	}
}

// everyCall is every set of arguments with which an act is picked and that it
// takes.
func (tool *Tool) everyCall(t *testing.T, a *operation) (calls []map[string]allowlist.Value) {
	var options []map[string]allowlist.Value // of each argument: to leave it out, or a value
	for _, arg := range tool.args {
		switch {
		case slices.Contains(a.params, arg.Name):
			options = append(options, map[string]allowlist.Value{arg.Name: sampleOf(t, describedParam(t, a.command, arg.Name))})
		case a.flagArgument == arg.Name:
			for _, value := range arg.Values {
				options = append(options, map[string]allowlist.Value{arg.Name: allowlist.Text(value)})
			}
		case a.is != "" && slices.Contains(a.when, arg.Name):
			options = append(options, map[string]allowlist.Value{arg.Name: allowlist.Text(a.is)})
		case slices.Contains(a.when, arg.Name):
			options = append(options, map[string]allowlist.Value{arg.Name: allowlist.Flag(true)})
		}
	}
	for set := range 1 << len(options) {
		given := map[string]allowlist.Value{}
		for i, option := range options {
			for name, value := range option {
				if set&(1<<i) != 0 {
					given[name] = value
				}
			}
		}
		if tool.pick(given) == a {
			calls = append(calls, given)
		}
	}
	return calls
}
