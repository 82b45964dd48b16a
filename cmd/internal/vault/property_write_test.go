package vault

import (
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/tests/assert"
)

func TestPropertyIsSet(t *testing.T) {
	const types = `{"types":{"n":"number","Due":"date","at":"datetime","l":"multitext","c":"checkbox","s":"text","tags":"tags","odd":"of-a-plugin"}}`
	for _, test := range []struct {
		name, before string
		args         []string
		want         string
	}{
		{"a block is made", "body", []string{"name=a", "value=b"}, "---\na: b\n---\nbody"},
		{"a property is added at the end", "---\nz: 1 # why\n---\nbody", []string{"name=a", "value=b"}, "---\nz: 1 # why\na: b\n---\nbody"},
		{"only its own lines change", "---\n# note\na: [x, y] # why\nz:   '1'\n---\n", []string{"name=A", "value=b", "type=text"}, "---\n# note\na: b # why\nz:   '1'\n---\n"},
		{"the line ends stay", "---\r\na: 1\r\n---\r\nbody\r\n", []string{"name=b", "value=x,y", "type=list"}, "---\r\na: 1\r\nb:\r\n  - x\r\n  - y\r\n---\r\nbody\r\n"},
		{"a value that it has already", "---\na:   'b'\n---\n", []string{"name=a", "value=b"}, "---\na:   'b'\n---\n"},
		{"what looks like a number is one", "", []string{"name=a", "value=12"}, "---\na: 12\n---\n"},
		{"unless it is to be text", "", []string{"name=a", "value=12", "type=text"}, "---\na: \"12\"\n---\n"},
		{"a backslash is no escape", "", []string{"name=a", `value=C:\new\table`}, "---\na: C:\\new\\table\n---\n"},
		{"commas make no list by themselves", "", []string{"name=a", "value=x, y"}, "---\na: x, y\n---\n"},
		{"a checkbox", "", []string{"name=a", "value=true"}, "---\na: true\n---\n"},
		{"a date", "", []string{"name=a", "value=2026-11-21", "type=date"}, "---\na: 2026-11-21\n---\n"},
		{"the user made it a number", "", []string{"name=N", "value=007"}, "---\nN: 7\n---\n"},
		{"a text stays one", "---\na: draft # why\n---\n", []string{"name=a", "value=12"}, "---\na: \"12\" # why\n---\n"},
		{"also one that looks like a number", "---\na: '007'\n---\n", []string{"name=A", "value=true"}, "---\na: \"true\"\n---\n"},
		{"a number stays one", "---\na: 5\n---\n", []string{"name=a", "value= 6.50 "}, "---\na: 6.5\n---\n"},
		{"a checkbox stays one", "---\na: true\n---\n", []string{"name=a", "value=False"}, "---\na: false\n---\n"},
		{"a date stays one", "---\na: 2026-11-21\n---\n", []string{"name=a", "value=2026-11-22"}, "---\na: 2026-11-22\n---\n"},
		{"nothing has no type", "---\na:\n---\n", []string{"name=a", "value=12"}, "---\na: 12\n---\n"},
		{"the type in the vault goes before that in the note", "---\nn: abc\ns: 1\n---\n", []string{"name=n", "value=5"}, "---\nn: 5\ns: 1\n---\n"},
		{"a list stays one where the vault has another type", "---\ns: [a, b]\n---\n", []string{"name=s", "value=c, d"}, "---\ns:\n  - c\n  - d\n---\n"},
		{"a given type goes before that in the note", "---\na: draft\n---\n", []string{"name=a", "value=12", "type=number"}, "---\na: 12\n---\n"},
		{"properties in a property are replaced if that is asked for", "---\na:\n  b: 1\n---\n", []string{"name=a", "value=x", "type=text"}, "---\na: x\n---\n"},
		{"a list stays one", "---\na:\n  - \"[[X]]\"\n---\n", []string{"name=a", "value=[[A]], [[B]]"}, "---\na:\n  - \"[[A]]\"\n  - \"[[B]]\"\n---\n"},
		{"a list of one line stays one", "---\nA: [x, y]\n---\n", []string{"name=a", "value=z"}, "---\nA:\n  - z\n---\n"},
		{"a list becomes text if that is asked for", "---\na: [x, y]\n---\n", []string{"name=a", "value=z", "type=text"}, "---\na: z\n---\n"},
		{"a comma in a link parts no list", "", []string{"name=a", "value=[[Smith, Ann]], [[B]", "type=list"}, "---\na:\n  - \"[[Smith, Ann]]\"\n  - \"[[B]\"\n---\n"},
		{"the user made it text", "", []string{"name=s", "value=12"}, "---\ns: \"12\"\n---\n"},
		{"the user made it a list", "", []string{"name=l", "value=x, y"}, "---\nl:\n  - x\n  - y\n---\n"},
		{"tags are a list", "", []string{"name=tags", "value=x"}, "---\ntags:\n  - x\n---\n"},
		{"aliases are one in every vault", "", []string{"name=Aliases", "value=x"}, "---\nAliases:\n  - x\n---\n"},
		{"the type of a plugin says nothing", "", []string{"name=odd", "value=12"}, "---\nodd: 12\n---\n"},
		{"a type that is given goes first", "", []string{"name=n", "value=abc", "type=text"}, "---\nn: abc\n---\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := build(t, map[string]string{"A.md": test.before, ".obsidian/types.json": types})
			said := "Set " + test.args[0][len("name="):] + ": " + test.args[1][len("value="):] + "\n"
			h.expect(command.ExitDone, said, append([]string{"property:set", "path=A.md"}, test.args...)...)
			assert.Equal(t, h.get("A.md"), test.want, "the note became")
		})
	}
}

func TestPropertyIsRemoved(t *testing.T) {
	for _, test := range []struct{ name, before, want string }{
		{"its lines alone", "---\n# x\na:\n  - 1\n  - 2\nb: 1\n---\nbody", "---\n# x\nb: 1\n---\nbody"},
		{"the last one with its block", "---\na: 1\n---\nbody", "body"},
		{"one that is not there", "---\nb: 1\n---\nbody", "---\nb: 1\n---\nbody"},
		{"from a note without any", "body", "body"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := build(t, map[string]string{"A.md": test.before})
			h.expect(command.ExitDone, "Removed: a\n", "property:remove", "file=A", "name=a")
			assert.Equal(t, h.get("A.md"), test.want, "the note became")
		})
	}
}

func TestPropertiesThatCannotBeChanged(t *testing.T) {
	notes := map[string]string{
		"A.md": "---\na: 1\n---\n", "Bad.md": "\ufeff---\r\na: 1\r\nb: [x\r\n---\r\n", "Twice.md": "---\na: 1\nb: 2\na: 3\n---\n",
		"Typed.md": "---\nnum: 5\nbox: true\nday: 2026-11-21\nmap:\n  b: 1\n---\n", "Braces.md": "---\n{a: 1}\n---\n", "p.png": "x", ".obsidian/types.json": `{"types":{"n":"number"}}`,
	}
	h := build(t, notes)
	const setUsage = "Usage: property:set name=<name> value=<value> [type=text|list|number|checkbox|date|datetime] [file=<name>] [path=<path>] [folder=<path>] [query=<text>]\n"
	h.steps([]turn{
		{"no number", "property:set path=A.md name=x value=abc type=number", command.ExitMisuse, "Error: Invalid number: abc\n"},
		{"no date", "property:set path=A.md name=x value=21.11.2026 type=date", command.ExitMisuse, "Error: Invalid date format. Use YYYY-MM-DD\n"},
		{"no number, and the user made it one", "property:set path=A.md name=N value=abc", command.ExitMisuse,
			"Error: Invalid number: abc. In this vault \"N\" is of the type number; type= sets it to another.\n"},
		{"no number, where the note has one", "property:set path=Typed.md name=num value=many", command.ExitMisuse,
			"Error: Invalid number: many. The property \"num\" of \"Typed.md\" is of the type number; type= sets it to another.\n"},
		{"no checkbox, where the note has one", "property:set path=Typed.md name=box value=maybe", command.ExitMisuse,
			"Error: Invalid checkbox: maybe. Use true or false. The property \"box\" of \"Typed.md\" is of the type checkbox; type= sets it to another.\n"},
		{"no date, where one note of several has one", "property:set folder=/ query=[day] name=day value=soon", command.ExitMisuse,
			"Error: Invalid date format. Use YYYY-MM-DD. The property \"day\" of \"Typed.md\" is of the type date; type= sets it to another.\n"},
		{"properties in a property", "property:set path=Typed.md name=map value=1", command.ExitMisuse,
			"Error: The property \"map\" of \"Typed.md\" has properties of its own; type= replaces them.\n"},
		{"no type", "property:set path=A.md name=x value=1 type=tags", command.ExitMisuse, "Error: Invalid value for type: tags. Use text, list, number, checkbox, date, datetime.\n"},
		{"no value", "property:set path=A.md name=x", command.ExitMisuse, "Error: Missing required parameter: value=<value>\n" + setUsage},
		{"an empty value", "property:set path=A.md name=x value=", command.ExitMisuse, "Error: Missing required parameter: value\n"},
		{"broken YAML, by its line in the note", "property:set path=Bad.md name=x value=1", command.ExitFailed,
			"Error: The properties of \"Bad.md\" cannot be changed: line 4: did not find expected ',' or ']'.\n"},
		{"also to remove", "property:remove path=Bad.md name=a", command.ExitFailed,
			"Error: The properties of \"Bad.md\" cannot be changed: line 4: did not find expected ',' or ']'.\n"},
		{"a key twice", "property:set path=Twice.md name=b value=1", command.ExitFailed, "Error: The properties of \"Twice.md\" cannot be changed: line 4: key \"a\" appears twice.\n"},
		{"properties in braces", "property:set path=Braces.md name=b value=1", command.ExitFailed,
			"Error: The properties of \"Braces.md\" cannot be changed: line 2: the properties are in braces, not on lines of their own.\n"},
		{"another file", "property:set path=p.png name=x value=1", command.ExitFailed, "Error: File is not a markdown file.\n"},
		{"a missing note", "property:remove path=B.md name=x", command.ExitFailed, "Error: File \"B.md\" not found.\n"},
		{"no note", "property:remove name=x", command.ExitFailed, "Error: No active file. Use file=<name> or path=<path> to specify a file.\n"},
	})
	h.expect(command.ExitFailed, "Error: The properties of \"A.md\" cannot be changed: the name of a property is one line.\n", "property:set", "path=A.md", "name=a\nb", "value=1")
	for path, text := range notes {
		assert.Equal(t, h.get(path), text, "%s became", path)
	}
	h.put(".obsidian/types.json", "[")
	if status, out, _ := h.run("property:set", "path=A.md", "name=x", "value=1"); status != command.ExitFailed || h.get("A.md") != notes["A.md"] {
		t.Errorf("with types that cannot be read: status %d, %q", status, out)
	}
	h.expect(command.ExitDone, "Set x: 1\n", "property:set", "path=A.md", "name=x", "value=1", "type=number")
}
