package allowlist

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// Every word has one place, so that what a name asks for is not ambiguous.
func TestWordsOfNames(t *testing.T) {
	seen := map[string]tiers.Effect{}
	for effect, verbs := range intents {
		for word := range strings.FieldsSeq(verbs) {
			if known, twice := seen[word]; twice {
				t.Errorf("%q is %v and %v", word, known, effect)
			}
			seen[word] = effect
		}
	}
	sets := map[string]bool{}
	for _, row := range advices {
		for names := range strings.SplitSeq(row.names, "; ") {
			words := strings.Fields(names)
			slices.Sort(words)
			key := strings.Join(words, " ")
			assert.That(t, !sets[key], "%q has two advices", names)
			sets[key] = true
		}
		for _, command := range quotedCommands(row.advice) {
			assert.That(t, find(command) != nil, "%q names the unknown command %q", row.advice, command)
		}
	}
}

// inQuotes are words in quotes, but not the keys of JSON.
var inQuotes = regexp.MustCompile(`"([^"]*)"(?:[^:]|$)`)

// quotedCommands returns the commands that a hint names.
func quotedCommands(hint string) (commands []string) {
	for _, quoted := range inQuotes.FindAllStringSubmatch(hint, -1) {
		if find(quoted[1]) != nil {
			commands = append(commands, quoted[1])
		}
	}
	return commands
}

// askedBy are verbs by the worst effect that an agent asks for with them, apart from the table.
var askedBy = map[tiers.Effect][]string{
	tiers.Reads: {"read", "get", "list", "show", "find", "search", "view", "query", "count", "check", "fetch", "print",
		"info", "status", "all", "describe", "look up", "export", "preview", "see"},
	tiers.Shows: {"open", "focus", "reveal", "go to"},
	tiers.Writes: {"add", "append", "create", "new", "make", "write", "set", "update", "edit", "change", "insert",
		"rename", "move", "copy", "duplicate", "archive", "undo", "redo",
		"restore", "revert", "mark", "complete", "toggle", "link", "tag", "pin", "save", "replace", "import",
		"schedule", "split", "extract", "patch", "modify", "put", "unarchive"},
	tiers.Destroys: {"delete", "remove", "clear", "purge", "erase", "drop", "trash", "wipe", "overwrite", "merge", "combine"},
}

// subjectsOfNames are what the commands of agents are about.
var subjectsOfNames = []string{
	"", "note", "notes", "file", "files", "folder", "directory", "tag", "tags", "property", "properties", "frontmatter",
	"metadata", "task", "tasks", "todo", "daily", "daily note", "journal",
	"weekly", "periodic", "canvas", "canvases", "card", "node", "edge", "base", "bases", "view", "formula", "row",
	"heading", "section", "block", "line", "lines", "content", "text", "link",
	"links", "backlinks", "alias", "aliases", "template", "templates", "bookmark", "bookmarks", "attachment",
	"attachments", "image", "pdf", "embed", "graph", "history", "version", "change",
	"changes", "undo", "vault", "vaults", "workspace", "tab", "tabs", "plugin", "plugins", "theme", "snippet",
	"command", "commands", "hotkey", "batch", "context", "random", "recent", "trash",
	"archive", "index", "outline", "query", "search", "related", "footnote", "date", "status", "name", "path",
}

// formsOf writes the words of a name in the ways of other tools.
func formsOf(verb, subject string) []string {
	if subject == "" {
		return []string{verb, strings.ToUpper(verb)}
	}
	v, s := strings.ReplaceAll(verb, " ", ""), strings.ReplaceAll(subject, " ", "")
	camel := v + strings.ToUpper(s[:1]) + s[1:]
	return []string{
		subject + ":" + verb, subject + " " + verb, verb + " " + subject, v + "_" + s, camel,
		verb + " " + subject + " Plan", "obsidian_" + v + "_" + s,
	}
}

// No hint for a name that does not exist leads to a command that does more than was asked. With it
// goes what a hint leaves out: a command line keeps its words.
func TestHintsNeverAskForMore(t *testing.T) {
	names, helped, worse := 0, 0, 0
	const everyForm = 8 // subjects; the others have two forms in turn, because each name is compared with every command
	for effect, verbs := range askedBy {
		for i, verb := range verbs {
			for j, subject := range subjectsOfNames {
				forms := formsOf(verb, subject)
				for n, name := range forms {
					isInTurn := n == (i+j)%len(forms) || n == (i+j+3)%len(forms)
					if find(name) != nil || j > everyForm && !isInTurn {
						continue
					}
					_, err := Parse(name, nil)
					hint := err.(*ParseError).Hint()
					names++
					if hint != "" {
						helped++
					}
					// A destroying subject, as in "list trash", asks for no more.
					allowed := max(effect, askedOf(subject))
					for _, command := range quotedCommands(hint) {
						if isSameName(command, name) {
							continue
						}
						if find(command).effect.WorseThan(allowed) {
							worse++
							t.Errorf("%q (%v): the hint names %q (%v): %s", name, effect, command, find(command).effect, hint)
						}
					}
				}
			}
		}
	}
	t.Logf("%d names, %d with a hint, %d hints for more than was asked", names, helped, worse)
}

func askedOf(subject string) tiers.Effect {
	for effect, verbs := range askedBy {
		if slices.Contains(verbs, subject) {
			return effect
		}
	}
	return tiers.Reads
}

// isSameName reports whether a name has the words of a command and no others, so that it was asked for.
func isSameName(command, name string) bool {
	words := without(wordsOf(name), []string{"obsidian", "plan"})
	wanted := wordsOf(command)
	slices.Sort(words)
	slices.Sort(wanted)
	return slices.Equal(words, wanted)
}

// Every command with a blank or another sign in place of its colon is that command, whatever stands behind it.
func TestCommandsWithABlank(t *testing.T) {
	for _, name := range Names() {
		first, second, ok := strings.Cut(name, ":")
		if !ok || find(name).tier == tiers.Restricted {
			continue
		}
		for _, written := range []string{first + " " + second, first + "_" + second, first + "." + second, first + "/" + second} {
			_, err := Parse(written, nil)
			assert.Equal(t, err.(*ParseError).Hint(), "did you mean \""+name+"\"?", "%s", written)
		}
		_, err := ParseWords(first, []string{second})
		if find(first) != nil && find(first).tier != tiers.Restricted && first != "help" {
			assert.Contains(t, err.(*ParseError).Hint(), name, "%s %s as words", first, second)
		}
		_, err = Parse(first+" "+second+" path=A.md", nil)
		assert.Contains(t, err.(*ParseError).Hint(), `"command":"`+name+`"`, "%s with a parameter", name)
	}
}

// What agents ask for and no command does by that name is answered with what does it.
func TestWhatDoesIt(t *testing.T) {
	for name, want := range map[string]string{
		"redo": `"undo:list"`, "archive": `"move"`, "archive_note": `"move"`, "canvas:list": `"files"`,
		"list_canvases": `"files"`, "tag:add": `"property:add"`, "add_tag": `"property:add"`,
		"tag add": `"property:add"`, "tag:remove": `"property:remove-item"`, "mkdir": `"folder:create"`,
		"image": `"attachment:read"`, "embed": `"append"`, "batch": "a batch",
		"graph": `"links"`, "restore": `"undo:list"`, "delete_tag": `"property:remove-item"`,
		"duplicate_note": `"copy"`, "base:new": `"create"`, "undo list": `"undo:list"`,
		"daily read": `"daily:read"`, "tag rename": `"tag:rename"`, "search context": `"search:context"`,
		"list undo": `"undo:list"`, "delete tag work": `"property:remove-item"`,
		"move a.md b.md": `"move" have names`, "undo everything": `"undo" have names`,
	} {
		_, err := Parse(name, nil)
		assert.Contains(t, err.(*ParseError).Hint(), want, "%s", name)
	}
}

// Values with an obvious meaning are taken: lists and checkboxes of properties, paths as a list, and
// that a note is not to be opened.
func TestObviousValuesAreTaken(t *testing.T) {
	for _, tt := range []struct {
		command string
		params  Params
		want    []string
	}{
		{"property:set", Params{"name": Text("tags"), "value": List([]string{"a", "b, c"}), "path": Text("A.md")},
			[]string{"property:set", "name=tags", "path=A.md", "type=list", `value=["a","b, c"]`}},
		{"property:set", Params{"name": Text("done"), "value": Flag(true), "path": Text("A.md")},
			[]string{"property:set", "name=done", "path=A.md", "value=true"}},
		{"property:set", Params{"name": Text("done"), "value": Flag(false), "path": Text("A.md")},
			[]string{"property:set", "name=done", "path=A.md", "value=false"}},
		{"property:add", Params{"name": Text("tags"), "value": List([]string{"a"}), "path": Text("A.md")},
			[]string{"property:add", "name=tags", "path=A.md", `value=["a"]`}},
		{"move", Params{"files": List([]string{"A.md", "B.md"}), "to": Text("Done/")}, []string{"move", "files=A.md\nB.md", "to=Done/"}},
		{"create", Params{"name": Text("A"), "silent": Flag(true)}, []string{"create", "name=A"}},
		{"daily:append", Params{"content": Text("x"), "date": Text("tomorrow")}, []string{"daily:append", "content=x", "date=tomorrow"}},
		{"daily:prepend", Params{"content": Text("x"), "offset": Number("1")}, []string{"daily:prepend", "content=x", "offset=1"}},
	} {
		call, err := Parse(tt.command, tt.params)
		assert.NoError(t, err)
		assert.EqualSlices(t, call.Items(), tt.want)
	}
	for _, params := range []Params{{"path": List([]string{"A.md"})}, {"path": Text("A.md"), "silent": Flag(true)}} {
		_, err := Parse("read", params)
		assert.That(t, err != nil, "%v is taken", params)
	}
	_, err := Parse("move", Params{"files": List([]string{"A\nB.md"}), "to": Text("Done/")})
	assert.That(t, err != nil, "a path with a line break is taken")
}

// What a command has no parameter for is answered with what does it. No hint leaves out where something
// is to be done.
func TestUnknownParametersNameWhatDoesIt(t *testing.T) {
	for _, tt := range []struct {
		command, key string
		value        Value
		want         string
	}{
		{"daily:append", "path", Text("Inbox.md"), `"append" writes to a note by its path`},
		{"attachments", "path", Text("Ideas/Bread.md"), `did you mean "note"? note="Ideas/Bread.md" lists what that note uses`},
		{"attachments", "path", Text("Ideas"), `folder="Ideas" lists those in a folder, note= those that a note uses`},
		{"note:replace", "all", Flag(true), "the old text has to occur once: give more of the text around it, and call once for each place"},
		{"undo", "path", Text("A.md"), `"history" with path= lists the changes of a note with their ids; undo takes them with id=`},
		{"folder:delete", "permanent", Flag(true), "a folder goes where the vault keeps deleted files; nothing deletes a folder for good"},
		{"read", "vault", Text("Work"), `"vault" is an argument next to "params", not one of them`},
	} {
		params := find(tt.command).fewest()
		params[tt.key] = tt.value
		_, err := Parse(tt.command, params)
		assert.Equal(t, err.(*ParseError).Hint(), tt.want, "%s %s", tt.command, tt.key)
	}
	_, err := Parse("rename", Params{"path": Text("A.md"), "name": Text("Sub/X")})
	assert.Equal(t, err.(*ParseError).Hint(), `rename keeps the folder; "move" with to="Sub/X.md" moves it`)
}
