package vault

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vaultwicket/allowlist"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
	"vaultwicket/tests/rig"
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
			same(t, "headings", seen.headings, test.headings)
			same(t, "tasks", seen.tasks, test.tasks)
			same(t, "tags", seen.tags, tally(strings.Fields(test.tags)))
			same(t, "links", strings.Join(seen.links, " "), test.links)
		})
	}
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	assert.That(t, got == want, "%s:\n%s\nwant\n%s", what, got, want)
}

// seen is what the program says of one note, in the form of the table above.
type seen struct {
	headings, tasks, tags string
	links                 []string
}

func look(program resident, note string) (s seen) {
	var headings []refHeadingRow
	_ = json.Unmarshal([]byte(program.ask("outline\tpath="+note+"\tformat=json")), &headings) // a sentence is for none
	s.headings = headingList(headings)
	var tasks []struct{ Status, Line string }
	_ = json.Unmarshal([]byte(program.ask("tasks\tpath="+note+"\tformat=json")), &tasks)
	var items []string
	for _, task := range tasks {
		items = append(items, task.Line+":"+task.Status)
	}
	s.tasks = strings.Join(items, " ")
	if tags := program.ask("tags\tpath=" + note + "\tcounts"); tags != "No tags found.\n" {
		s.tags = foldTally(tags)
	}
	if links := program.ask("links\tpath=" + note); links != "No links found.\n" {
		s.links = strings.Split(strings.TrimSuffix(links, "\n"), "\n")
		slices.Sort(s.links)
	}
	return s
}

type refHeadingRow struct {
	Level   int
	Heading string
	Line    int
}

func headingList(rows []refHeadingRow) string {
	var out []string
	for _, row := range rows {
		out = append(out, fmt.Sprintf("%d:%d %s", row.Level, row.Line, row.Heading))
	}
	return strings.Join(out, " ")
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

func foldTally(lines string) string {
	out := strings.Split(strings.TrimSuffix(strings.ToLower(strings.ReplaceAll(lines, "\t", " ")), "\n"), "\n")
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// demoVariable names a copy of the repository obsidian-tasks-group/obsidian-tasks,
// which has a whole vault with what the app's index said of it:
//
//	git clone --depth 1 https://github.com/obsidian-tasks-group/obsidian-tasks
//
// It has no prefix of ours, for the program refuses to start with a variable
// that looks like a setting of its own and is none.
const demoVariable = "TASKS_DEMO"

func demo(t *testing.T) string {
	t.Helper()
	folder := os.Getenv(demoVariable)
	if folder == "" {
		t.Skipf("%s names no copy of obsidian-tasks: only the notes of our own were compared", demoVariable)
	}
	return folder
}

// dump is what the app said of one note; lines count from 0.
type dump struct {
	FilePath, FileContents string
	GetAllTags             []string
	CachedMetadata         struct {
		Headings []struct {
			Heading  string
			Level    int
			Position position
		}
		ListItems []struct {
			Task     *string
			Position position
		}
	}
}

type position struct{ Start struct{ Line int } }

// TestParityWithRealDumps compares every dump of a note with what the program
// says of that note.
func TestParityWithRealDumps(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(demo(t), "tests", "Obsidian", "__test_data__", "*.json"))
	require.That(t, err == nil && len(names) != 0, "no dumps: %v", err)
	folder, dumps := t.TempDir(), map[string]dump{}
	for _, name := range names {
		var d dump
		text, err := os.ReadFile(name)
		require.That(t, err == nil && json.Unmarshal(text, &d) == nil && d.FilePath != "", "%s is no dump (%v)", name, err)
		dumps[d.FilePath] = d
		full := filepath.Join(folder, filepath.FromSlash(d.FilePath))
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		require.NoError(t, os.WriteFile(full, []byte(d.FileContents), 0o644))
	}
	program := startWorker(t, folder)
	for _, note := range slices.Sorted(maps.Keys(dumps)) {
		t.Run(note, func(t *testing.T) { dumps[note].compare(t, look(program, note)) })
	}
	t.Logf("%d dumps", len(dumps))
}

func (d dump) compare(t *testing.T, s seen) {
	var headings []refHeadingRow
	for _, h := range d.CachedMetadata.Headings {
		headings = append(headings, refHeadingRow{h.Level, h.Heading, h.Position.Start.Line + 1})
	}
	var tasks []string
	for _, item := range d.CachedMetadata.ListItems {
		if item.Task != nil {
			tasks = append(tasks, fmt.Sprint(item.Position.Start.Line+1, ":", *item.Task))
		}
	}
	same(t, "headings", s.headings, headingList(headings))
	same(t, "tasks", s.tasks, strings.Join(tasks, " "))
	same(t, "tags", s.tags, tally(d.GetAllTags))
}

// edited is how many notes of the vault may have been changed after the app's
// index was written down: one is known.
const edited = 1

// TestParityWithTheRealIndex compares the links of a whole vault.
func TestParityWithTheRealIndex(t *testing.T) {
	root := demo(t)
	want := map[string][]string{}
	for file, remark := range map[string]string{"resolvedLinks.json": "", "unresolvedLinks.json": " (unresolved)"} {
		text, err := os.ReadFile(filepath.Join(root, "tests", "Obsidian", "__test_data__", "metadataCache", file))
		require.NoError(t, err)
		var index map[string]map[string]int
		require.NoError(t, json.Unmarshal(text, &index))
		for source, targets := range index {
			want[source] = append(want[source], nil...)
			for target := range targets {
				want[source] = append(want[source], target+remark)
			}
		}
	}
	folder := filepath.Join(root, "resources", "sample_vaults", "Tasks-Demo")
	program, odd, compared := startWorker(t, folder), []string{}, 0
	for _, source := range slices.Sorted(maps.Keys(want)) {
		if _, err := os.Stat(filepath.Join(folder, filepath.FromSlash(source))); err != nil || filepath.Ext(source) != ".md" {
			continue
		}
		slices.Sort(want[source])
		compared++
		if got := look(program, source).links; !slices.Equal(got, want[source]) {
			odd = append(odd, fmt.Sprintf("%s: %q, want %q", source, got, want[source]))
		}
	}
	t.Logf("%d notes", compared)
	assert.That(t, compared != 0 && len(odd) <= edited, "%d of %d notes differ:\n%s", len(odd), compared, strings.Join(odd, "\n"))
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
	for _, command := range rig.FolderCommands() {
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

func TestMain(m *testing.M) { rig.Main(m) }
