package mcpserver

import (
	"errors"
	"slices"
	"testing"

	"vaultwicket/allowlist"
	"vaultwicket/tiers"
)

// sampleOf is a value that each kind of parameter takes.
func sampleOf(t *testing.T, p allowlist.Param) allowlist.Value {
	t.Helper()
	if len(p.Choices) > 0 {
		return allowlist.Text(p.Choices[0])
	}
	samples := map[string]allowlist.Value{
		"flag": allowlist.Flag(true), "number": allowlist.Number("3"), "date": allowlist.Text("2026-11-21"), "path": allowlist.Text("Folder/Note.md"),
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

func (t *typedTool) argNamed(name string) *argument {
	for i := range t.args {
		if t.args[i].name == name {
			return &t.args[i]
		}
	}
	return nil
}

// TestTypedToolsKeepToTheAllowlist: every command, parameter and type of the
// table is that of the allowlist, and nothing in it is without use.
func TestTypedToolsKeepToTheAllowlist(t *testing.T) {
	forms := map[string]jsonType{"flag": asFlag, "number": asNumber}
	for i := range typedTools {
		tool := &typedTools[i]
		for _, a := range tool.args {
			if !slices.ContainsFunc(tool.acts, func(act act) bool { return act.uses(a.name) }) || a.says == "" || a.required && a.choices == nil {
				t.Errorf("%s: argument %q is of no use, is not described, or is required of what the allowlist requires", tool.name, a.name)
			}
		}
		mutates := false
		for _, a := range tool.acts {
			for _, name := range a.takes {
				p, arg := describedParam(t, a.command, name), tool.argNamed(name)
				want, special := forms[p.Kind]
				if !special {
					want = asText
				}
				if arg == nil || arg.form != want || arg.choices != nil {
					t.Errorf("%s: argument %q is %+v, parameter of %s is %s", tool.name, name, arg, a.command, p.Kind)
				}
			}
			for _, name := range slices.Concat(tool.choices(a.flags), a.with) {
				if p := describedParam(t, a.command, name); p.Kind != "flag" {
					t.Errorf("%s: %s is no flag of %s", tool.name, name, a.command)
				}
			}
			for _, name := range a.when {
				if arg := tool.argNamed(name); arg == nil || a.is != "" && !slices.Contains(arg.choices, a.is) {
					t.Errorf("%s: nothing asks for %s by %s", tool.name, a.command, name)
				}
			}
			c, err := allowlist.Describe(a.command)
			if err != nil || a.says == "" || c.Shows || c.Sends {
				t.Errorf("%s: %s is not for a typed tool: %v", tool.name, a.command, err)
			}
			effect := c.Effect
			for _, name := range tool.carries(&a) {
				if p := describedParam(t, a.command, name); p.Effect != tiers.Unknown && p.Effect.WorseThan(effect) {
					effect = p.Effect
				}
			}
			mutates = mutates || effect.Mutates()
		}
		always := slices.ContainsFunc(tool.acts, func(a act) bool { return a.when == nil })
		picks := slices.ContainsFunc(tool.args, func(a argument) bool { return a.required && len(a.choices) == len(tool.acts) })
		if always == picks {
			t.Errorf("%s: not every call has one act", tool.name)
		}
		if mutates != tool.writes {
			t.Errorf("%s: writes is %v", tool.name, tool.writes)
		}
		if tool.name == "" || tool.title == "" || !slices.Contains(ToolsetNames(), tool.toolset) || typedNamed(tool.name) != tool {
			t.Errorf("tool %d is %q, %q, %q", i, tool.name, tool.title, tool.toolset)
		}
	}
	for _, set := range ToolsetNames() {
		if of := slices.ContainsFunc(typedTools[:], func(tool typedTool) bool { return tool.toolset == set }); of != !slices.Contains([]string{setCLI, setBatch, setAll}, set) {
			t.Errorf("toolset %s has typed tools: %v", set, of)
		}
	}
}

// TestEveryRequestOfATypedToolParses tries every set of arguments that an act
// takes. What the allowlist has against one is only that two exclude each other,
// or that one is missing; and each argument is part of some call that is good.
func TestEveryRequestOfATypedToolParses(t *testing.T) {
	total := 0
	for i := range typedTools {
		tool := &typedTools[i]
		for j := range tool.acts {
			a := &tool.acts[j]
			good := map[string]bool{}
			for _, given := range tool.everyCall(t, a) {
				call, err := allowlist.Parse(a.command, tool.params(a, given))
				var refused *allowlist.ParseError
				switch {
				case err == nil:
					total++
					for name := range given {
						good[name] = true
					}
					for _, name := range a.with {
						if _, ok := call.Param(name); !ok {
							t.Errorf("%s: %s is without %s", tool.name, a.command, name)
						}
					}
				case !errors.As(err, &refused), refused.Code() != allowlist.CodeConflict && refused.Code() != allowlist.CodeMissingParam:
					t.Errorf("%s: %v", tool.name, err)
				}
			}
			for _, arg := range tool.args {
				if a.uses(arg.name) && !good[arg.name] {
					t.Errorf("%s: no call of %s with %q is good", tool.name, a.command, arg.name)
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
func (tool *typedTool) everyCall(t *testing.T, a *act) (calls []map[string]allowlist.Value) {
	var options []map[string]allowlist.Value // of each argument: to leave it out, or a value
	for _, arg := range tool.args {
		switch {
		case slices.Contains(a.takes, arg.name):
			options = append(options, map[string]allowlist.Value{arg.name: sampleOf(t, describedParam(t, a.command, arg.name))})
		case a.flags == arg.name:
			for _, value := range arg.choices {
				options = append(options, map[string]allowlist.Value{arg.name: allowlist.Text(value)})
			}
		case a.is != "" && slices.Contains(a.when, arg.name):
			options = append(options, map[string]allowlist.Value{arg.name: allowlist.Text(a.is)})
		case slices.Contains(a.when, arg.name):
			options = append(options, map[string]allowlist.Value{arg.name: allowlist.Flag(true)})
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
