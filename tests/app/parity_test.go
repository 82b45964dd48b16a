package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// The app writes what it found in a note into its index. These notes are ours;
// each is built like one whose index was seen, so that what has to be found in
// it is known: headings, tasks and tags by their line, and targets of links.
var parityNotes = []struct {
	name, note string
	headings   string // level:line text
	tasks      string // line:mark
	tags       string // in their order
	links      string // resolved or not, in the order of listings
}{
	{
		name: "a comment of the app hides a task and neither a tag nor a link",
		note: "# Aside\n\nThe item below is not there:\n%%\n- [ ] #job one in a block\n%%\n\n" +
			"- [ ] #job two, with a tag: %% #seen  %% inside\n- [ ] #job three, with a link: %% [[Elsewhere]]  %% inside\n",
		headings: "1:1 Aside", tasks: "8:  9: ", tags: "#job #job #seen #job", links: "Elsewhere.md",
	},
	{
		name: "a comment of HTML hides everything",
		note: "# Aside\n\nThe item below is not there:\n<!--\n- [ ] #job one in a block\n-->\n\n" +
			"- [ ] #job two, with a tag: <!-- #unseen  --> inside\n- [ ] #job three, with a link: <!-- [[Elsewhere]]  --> inside\n",
		headings: "1:1 Aside", tasks: "8:  9: ", tags: "#job #job",
	},
	{
		name:     "what looks like a task in code and comments",
		note:     "# None\n\n```query\nfind {{this}}\n```\n\n```\n- [ ] code\n```\n\nText with `<!-- x ->` in it.\n\n<!--\n- [ ] hidden\n-->\n\nText with `%% x %%` in it.\n\n%%\n- [ ] hidden\n%%\n",
		headings: "1:1 None",
	},
	{
		name: "code within items",
		note: "# Code\n\n## With tags\n\n- [ ] #job a\n    - [ ] #job b\n      ```sh\n      ls\n      ```\n    - [ ] #job c\n- [ ] #job d\n  ```sh\n  ls\n  ```\n- [ ] #job e\n\n" +
			"Seen before:\n\n- #12: [one](https://example.org/12)\n- #34: [two](https://example.org/34)\n\n## Without\n\n- [ ] f\n",
		headings: "1:1 Code 2:3 With tags 2:22 Without", tasks: "5:  6:  10:  11:  15:  24: ", tags: "#job #job #job #job #job",
	},
	{
		name:     "a character without width in front of the item",
		note:     "# Width\n\n- Root\n\t- [ ] #job a tab in front\n- Root\n\u200b\t- [ ] #job more than a tab in front\n",
		headings: "1:1 Width", tasks: "4: ", tags: "#job #job",
	},
	{
		name:     "two tags on one line of the properties are none",
		note:     "---\ntags: first-of-two, second-of-two\n---\n\n# Tags\n\n- [ ] #job one\n",
		headings: "1:5 Tags", tasks: "7: ", tags: "#job",
	},
	{
		name:  "links of every kind within items",
		note:  "- [ ] [text](Elsewhere.md) [[Elsewhere]] [[Elsewhere|other]] [[#Part]] [[#Part#Below||odd]] [[Elsewhere#Part|x]] [y](Elsewhere.md#Part#Below) [[#^block]]\n\n## Part\n\n### Below\n\nend ^block\n",
		tasks: "1: ", headings: "2:3 Part 3:5 Below", links: "Elsewhere.md Note.md",
	},
	{
		name:     "paths with odd characters, and links that are empty",
		note:     "# Odd\n- [ ]  [[pa#th/to/Elsewhere]] [[Elsewhere.md]]\n- [ ] [[]]\n- [ ] [[|]]\n- [ ] [[|alias]]\n- [ ] [[|#alias]]\n",
		headings: "1:1 Odd", tasks: "2:  3:  4:  5:  6: ", links: "Elsewhere.md pa (unresolved) | (unresolved) |alias (unresolved)",
	},
}

func TestParityWithTheIndexOfTheApp(t *testing.T) {
	for _, test := range parityNotes {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			for name, text := range map[string]string{"Note.md": test.note, "Elsewhere.md": "# Elsewhere\n"} {
				require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
			}
			seen := look(startWorker(t, folder), "Note.md")
			assert.Equal(t, seen.headings, test.headings, "headings")
			assert.Equal(t, seen.tasks, test.tasks, "tasks")
			assert.Equal(t, seen.tags, tally(strings.Fields(test.tags)), "tags")
			assert.Equal(t, strings.Join(seen.links, " "), test.links, "links")
		})
	}
}

// seen is what the program says of one note, in the form of the table above.
type seen struct {
	headings, tasks, tags string
	links                 []string
}

func look(program resident, note string) (s seen) {
	var headings []struct {
		Level, Line int
		Heading     string
	}
	_ = json.Unmarshal([]byte(program.ask("outline\tpath="+note+"\tformat=json")), &headings) // a sentence is for none
	var titles []string
	for _, h := range headings {
		titles = append(titles, fmt.Sprintf("%d:%d %s", h.Level, h.Line, h.Heading))
	}
	s.headings = strings.Join(titles, " ")
	var tasks []struct{ Status, Line string }
	_ = json.Unmarshal([]byte(program.ask("tasks\tpath="+note+"\tformat=json")), &tasks)
	var items []string
	for _, task := range tasks {
		items = append(items, task.Line+":"+task.Status)
	}
	s.tasks = strings.Join(items, " ")
	if tags := program.ask("tags\tpath=" + note + "\tcounts"); tags != "No tags found.\n" {
		rows := strings.Split(strings.TrimSuffix(strings.ToLower(strings.ReplaceAll(tags, "\t", " ")), "\n"), "\n")
		slices.Sort(rows)
		s.tags = strings.Join(rows, "\n")
	}
	if links := program.ask("links\tpath=" + note); links != "No links found.\n" {
		s.links = strings.Split(strings.TrimSuffix(links, "\n"), "\n")
		slices.Sort(s.links)
	}
	return s
}

// tally counts tags: the case does not tell them apart.
func tally(tags []string) string {
	counts := map[string]int{}
	for _, tag := range tags {
		counts[strings.ToLower(tag)]++
	}
	var out []string
	for _, tag := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprint(tag, " ", counts[tag]))
	}
	return strings.Join(out, "\n")
}

// TestHelpShowsWhatAFolderAnswers compares the help of the embedded program with the
// table of commands: it shows what a folder answers and nothing else, and a command that
// needs the app says so.
func TestHelpShowsWhatAFolderAnswers(t *testing.T) {
	program := startWorker(t, t.TempDir())
	_, list, found := strings.Cut(program.ask("help"), "\nCommands:\n")
	require.That(t, found, "the help has no list of commands")
	var shown, want []string
	for line := range strings.Lines(list) {
		if strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "   ") {
			shown = append(shown, strings.Fields(line)[0])
		}
	}
	for _, command := range harness.FolderCommands() {
		want = append(want, command.Name)
		block := program.ask("help " + command.Name)
		assert.That(t, strings.HasPrefix(block, "  "+command.Name+" "), "help %s: %q", command.Name, block)
	}
	slices.Sort(shown)
	slices.Sort(want)
	assert.That(t, slices.Equal(shown, want), "the help shows\n%q\nand a folder answers\n%q", shown, want)
	for command := range allowlist.Commands() {
		want := "Error: \"" + command.Name + "\" needs the Obsidian app.\n"
		got := program.ask(command.Name)
		assert.That(t, !command.NeedsApp || command.Name == "random" || got == want, "%s: %q, want %q", command.Name, got, want)
	}
}
