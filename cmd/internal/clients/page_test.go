package clients

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

const (
	pageFile    = "../../../docs/clients.md"
	pagesFolder = "../../../docs/clients/"
	readmeFile  = "../../../README.md"
)

func TestThePageIsFresh(t *testing.T) { testenv.GoldenFile(t, pageFile, clientsPage()) }

func TestTheREADMEIsFresh(t *testing.T) {
	testenv.GoldenFile(t, readmeFile, testenv.PageBetween(t, *read(t, readmeFile), "clients", readmePart(t)))
}

func readmePart(t *testing.T) string {
	var names []string
	for _, c := range All() {
		if _, ok := c.Writes(User); ok {
			names = append(names, c.Name)
		}
	}
	text := require.Value(client(t, "cursor").Snippet(example()))(t)
	return "`install` knows " + strings.Join(names,
		", ") +
		", and prints the entry for others ([docs/clients.md](docs/clients.md)). To configure a client by hand, add this; most accept it:\n\n```json\n" +
		text + "```\n\n"
}

// example is the server of the snippets.
func example() Server {
	return Server{Name: "vaultwicket", Command: "/usr/local/bin/vaultwicket", Args: Args("/home/me/Notes", false, ""),
		Token: "VAULTWICKET_TOKEN", System: "linux"}
}

const pageIntro = `# Clients

<!-- Made by go generate ./cmd/internal/clients; a test fails when it is stale. -->

` + "```sh" + `
vaultwicket install --list                              # which clients are here, and what is installed
vaultwicket install cursor --vault ~/Notes --dry-run    # show the difference only
vaultwicket install cursor --vault ~/Notes              # show it, ask, write
vaultwicket install --all --vault ~/Notes               # every client that was found
vaultwicket uninstall cursor
` + "```" + `

The entry is read-only: it has ` + "`--allow-mutations=false`" + `, whatever the settings file says. ` + "`--edit`" + ` writes ` + "`--allow-mutations`" + ` instead: the
agent can then change what its tier allows: daily notes with ` + "`v0`" + `, and all notes with ` + "`--tier v1 --edit`" + ` (without ` + "`--tier`" + `, the tier is that of the settings). Calls that delete or replace text still need your approval. The entry never makes the client skip its own questions about changes, with one exception: with ` + "`--edit`" + ` Codex leaves the questions to vaultwicket, because it refuses all changes if it has no terminal.

Claude Code, Gemini CLI and Qwen Code also ask about reading, and refuse it if they have no terminal. For them ` + "`install`" + ` adds a rule to their settings that allows the tool that only reads, ` + "`obsidianRead`" + ` (` + "`obsidianCli`" + ` for an entry without ` + "`--edit`" + `, which only reads). The rule is shown with the change; for Claude Code you are asked first. Installing again in another mode replaces the rule, and ` + "`uninstall`" + ` removes what ` + "`install`" + ` wrote, and none of your own rules.

| flag | |
|---|---|
| ` + "`--vault`" + ` | name or id of a vault, or its folder, which is written as an absolute path |
| ` + "`--name`" + ` | name of the server (default ` + "`vaultwicket`" + `); one for each vault and agent |
| ` + "`--agent`" + `, ` + "`--access`" + ` | start the server for an agent with its own rights, which are asked for at a terminal; access to folders, such as ` + "`Work=rw`" + ` |
| ` + "`--headless`" + ` | add the rule for reading without a question, without asking you; with ` + "`=false`" + `, do not add it |
| ` + "`--scope project`" + ` | the settings of the project in the current folder, if the client has them |
| ` + "`--url`" + `, ` + "`--token-env`" + ` | connect to a running ` + "`vaultwicket serve --http`" + `; the client reads the token from the environment variable, and it is never written to the file |
| ` + "`--print`" + `, ` + "`--link`" + ` | print the entry, or a link with which the client asks to add it; nothing is written |
| ` + "`--dry-run`, `--yes`" + ` | only show; write without asking |
| ` + "`--replace`" + ` | replace an existing entry with this name, whatever it starts |

How the file of a client is changed:

- Comments, order, indentation, line ends and other entries stay byte for byte, and ` + "`uninstall`" + ` restores the old bytes. A file that did not exist before is deleted.
- A malformed file is refused, with line and column. So are a file that another program has changed after the difference was shown, and a file of another user. A symbolic link is followed: the
  file that it points to is edited.
- The file is replaced atomically. A backup is kept in ` + "`vaultwicket/clients`" + ` in the state folder, up to 20 for each file.
- An existing entry with the same name for another program, vault or agent is kept, unless ` + "`--replace`" + ` is given. Installing the same entry twice changes nothing.
- Claude Code changes its file all the time, so its own command (` + "`claude mcp add-json`" + `) is run for the scope user, if it is on the PATH; it may reformat the file.

Exit status: 0 done or nothing to do, 1 another program's entry or a changed file is in the way, 2 invalid arguments, 3 declined, 4 a file cannot be used.

`

// pageOfQuestions is what was seen when tests/clients/asked.mjs was run with the programs, in the versions named.
const pageOfQuestions = `## Questions, as they were seen

Real clients with a faked model asked to delete a note for good, to overwrite one, to replace a text in 22 notes, and for a batch, with the default ` + "`ask = \"auto\"`" + `. The owner approved in a terminal, on the page and by the link. Nothing was done before the owner had approved, and all of it within three seconds after, on a busy machine.

| client | started as | what you see | what the agent is told |
|---|---|---|---|
| Claude Code 2.1.332 | ` + "`claude -p`" + ` | nothing: it closes the question by itself within half a second | it waits, and the client closed the question after 18 ms |
| | ` + "`claude`" + ` | a dialog with the first line of the question and the link; it ends by itself when you have decided, wherever that is | the result of the change |
| | ` + "`claude -p`" + ` with all permissions and a hook that accepts after 2 s | nothing: the hook accepts the link, which decides nothing | after 50 s: it waits, the client accepted the link, and nobody has answered it there |
| Codex 0.171.0 | ` + "`codex exec`" + `, ` + "`codex`" + `, full access | nothing: it declines links by itself within 20 ms | it waits, and the client answered after 1 ms, before anybody could have read it; the link is for you |
| Copilot CLI 1.0.102 | ` + "`copilot -p`" + `, ` + "`--yolo`" + ` | nothing: it declines by itself within 3 ms | the same |
| | ` + "`copilot`" + ` | a dialog with the first line of the question and the link; it ends when the link is opened | the result of the change, when you have decided |
| Gemini CLI 0.61.0, Qwen Code 0.24.4 | ` + "`-p`" + `, at a terminal, ` + "`--yolo`" + ` | no dialog | it waits; the link is for you |
| opencode 1.18.33 | ` + "`opencode run`" + ` | no dialog | the same |
| | ` + "`opencode`" + ` (delete and replace only) | no dialog | the same |

Where the agent is told that it waits, it waits with ` + "`approvals wait=50`" + `, which ends when you have decided, and sends the same call again. Claude Code, Codex, Copilot CLI, Gemini CLI and Qwen Code read without a terminal with what ` + "`install --headless`" + ` writes.

`

// theSystems are those whose paths are shown, with short names for the user's folders.
func theSystems() []System {
	return []System{
		{OS: "linux", Project: "/", Getenv: environ("HOME=/~")},
		{OS: "darwin", Project: "/", Getenv: environ("HOME=/~")},
		{OS: "windows", Project: `C:\`, Getenv: environ(`USERPROFILE=C:\%USERPROFILE%`, `APPDATA=C:\%APPDATA%`)},
	}
}

func clientsPage() string {
	var b strings.Builder
	b.WriteString(pageIntro)
	b.WriteString(pageOfQuestions)
	b.WriteString("## All clients\n\n| client | `install` | written for the user | for a project | without the token in the file: HTTP |\n|---|---|---|---|---|\n")
	for _, c := range All() {
		_, user := c.Writes(User)
		_, project := c.Writes(Project)
		_, http := c.shape.entry(Server{URL: "x", Token: "x"})
		fmt.Fprintf(&b, "| [%s](clients/%s.md) | `%s` | %s | %s | %s |\n", c.Name, c.ID, c.ID,
			mark(user, "yes", "printed"), mark(project, "yes", "–"),
			mark(http, mark(c.shape.inputs, "printed", "yes"), "–"))
	}
	return b.String()
}

func TestEveryClientHasAFreshPage(t *testing.T) {
	pages := map[string]bool{}
	for _, c := range All() {
		pages[c.ID+".md"] = true
		testenv.GoldenFile(t, pagesFolder+c.ID+".md", clientPage(t, c))
	}
	for _, e := range require.Value(os.ReadDir(pagesFolder))(t) {
		assert.That(t, pages[e.Name()], "%s is the page of no client", e.Name())
	}
}

func clientPage(t *testing.T, c Client) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n<!-- Made by go generate ./cmd/internal/clients; a test fails when it is stale. -->\n", c.Name)
	writeInstall(&b, c)
	writePlaces(&b, c)
	text := require.Value(c.Snippet(example()))(t)
	fmt.Fprintf(&b,
		"\n## The entry\n\nTo add it by hand, put this into its settings. With `--edit` the last argument is `--allow-mutations`.\n\n%s",
		fenced(c, text))
	if link := c.Link(example()); link != "" {
		fmt.Fprintf(&b,
			"\nThis link makes the client ask for the same entry; `vaultwicket install %s --link` prints it with your paths:\n\n```text\n%s\n```\n",
			c.ID, link)
	}
	writeBehaviour(&b, c)
	writeHTTP(t, &b, c)
	fmt.Fprintf(&b,
		"\n## If it shows no tools\n\nThis starts the server as the client does, and says what is wrong:\n\n```sh\nvaultwicket doctor\n```\n\n[Approvals](../permissions.md#approvals), [FAQ](../faq.md), [all clients](../clients.md).\n")
	return b.String()
}

func writeInstall(b *strings.Builder, c Client) {
	why, user := c.Writes(User)
	_, project := c.Writes(Project)
	if user {
		fmt.Fprintf(b,
			"\nThis shows the change of its settings, asks, and writes it:\n\n```sh\nvaultwicket install %s --vault ~/Notes\n```\n\nThe agent can then read notes but not change them; `--edit` lets it change daily notes, and `--tier v1 --edit` all notes.\n",
			c.ID)
	} else {
		fmt.Fprintf(b,
			"\nThis prints the entry:\n\n```sh\nvaultwicket install %s --vault ~/Notes --print\n```\n\nvaultwicket does not write it: %s.\n",
			c.ID, why)
	}
	if project {
		b.WriteString("With `--scope project` the entry is for the project in the current folder.\n")
	}
	fmt.Fprintf(b, "%s\n", c.after)
	if c.warning != "" {
		fmt.Fprintf(b, "%s\n", c.warning)
	}
	if user {
		fmt.Fprintf(b, "\n`vaultwicket uninstall %s` removes the entry and changes nothing else.\n", c.ID)
	}
}

// writeBehaviour says what the client does by itself, as far as it was tried.
func writeBehaviour(b *strings.Builder, c Client) {
	if c.does == (behaviour{}) {
		return
	}
	server := example()
	server.Args = Args("/home/me/Notes", true, "")
	fmt.Fprintf(b, "\n## How it behaves\n\n- It asks about %s.\n- Long answers: %s.\n", c.does.asks, c.does.longAnswers)
	if how := c.Asks(); how != "" {
		fmt.Fprintf(b, "- [Questions](../ui.md#links-to-questions) of vaultwicket: %s.\n", how)
	}
	if c.reads.file != "" {
		fmt.Fprintf(b, "- To read without a terminal it needs a rule in `%s`: %s.\n",
			shown(theSystems()[0].path(server.fillIn(c.reads.file))),
			mark(c.reads.asked, "`install` asks, and writes it", "`install` writes it"))
	}
	for _, need := range c.Headless(server, false) {
		fmt.Fprintf(b, "- %s\n", strings.ReplaceAll(strings.ReplaceAll(need, "To read without a terminal", "By hand"),
			"obsidianRead", "obsidianRead (obsidianCli without --edit)"))
	}
}

func writePlaces(b *strings.Builder, c Client) {
	var rows strings.Builder
	systems := theSystems()
	for _, s := range systems {
		if file := s.File(c, User); file != "" && c.on(s.OS) {
			fmt.Fprintf(&rows, "| %s | `%s` |\n", map[string]string{"linux": "Linux", "darwin": "macOS", "windows": "Windows"}[s.OS], shown(file))
		}
	}
	if file := systems[0].File(c, Project); file != "" && c.on("linux") {
		fmt.Fprintf(&rows, "| project | `%s` |\n", strings.TrimPrefix(file, "/"))
	}
	if rows.Len() > 0 {
		fmt.Fprintf(b, "\n## Its settings\n\n| for | file (%s) |\n|---|---|\n%s", c.format, rows.String())
	}
}

// writeHTTP shows how the client connects to a server that runs already.
func writeHTTP(t *testing.T, b *strings.Builder, c Client) {
	remote := example()
	remote.URL = "http://127.0.0.1:8765/mcp"
	if _, ok := c.shape.entry(remote); !ok {
		return
	}
	text := require.Value(c.Snippet(remote))(t)
	fmt.Fprintf(b, "\n## Over HTTP\n\nFor `vaultwicket serve --http`, see [services](../services.md). The token is not in the file: the client %s.\n\n%s",
		mark(c.shape.inputs, "asks for it when it starts the server", "reads it from the environment variable `VAULTWICKET_TOKEN`"), fenced(c, text))
}

func fenced(c Client, text string) string {
	language := map[format]string{tomlFormat: "toml", yamlFormat: "yaml", relaxedJSON: "jsonc", commentJSON: "jsonc", strictJSON: "json"}[c.format]
	return "```" + language + "\n" + text + "```\n"
}

// shown writes a path of an example with the short names of its folders.
func shown(path string) string { return strings.TrimPrefix(strings.TrimPrefix(path, `C:\`), "/") }

func mark(ok bool, yes, no string) string {
	if ok {
		return yes
	}
	return no
}
