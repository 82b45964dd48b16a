package access

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// canaryWord is in everything that is hidden and that no request names.
const canaryWord = "zqx"

// hiddenVault is a vault with rules, with the gateways that serve it.
type hiddenVault struct {
	t          *testing.T
	dir, state string
	log        strings.Builder
	gateway    *gateway.Gateway
}

// openNotes are what may be seen of the vault.
var openNotes = map[string]string{
	"Open/Plan.md":        "---\ntags: [tag]\nprop: 1\naliases: [Second]\n---\n# Plan\ntext [[Note]] [[Hid/Secret]] [[Secret]] ^blk\n- [ ] do 🔁 every day 📅 2026-11-21 #tag\n",
	"Open/Note.md":        "# Note\n[[Plan]] [[nowhere]] #tag/sub\n- [x] done\n",
	"Open/Books.base":     "views:\n  - type: table\n    name: One\n",
	"Open/Board.canvas":   `{"nodes":[{"id":"1","type":"file","file":"Open/Plan.md"},{"id":"2","type":"file","file":"Hid/Secret.md"}]}`,
	"Open/Deep/Plan.md":   "deep [[Open/Plan]] ![[pic.png]]\n",
	"Open/pic.png":        "\x89PNG\r\n\x1a\n\x00",
	"Hid/Shown/Note.md":   "within what is hidden [[Plan]]\n",
	"Read/Only.md":        "# Only\n[[Plan]] [[Linked]]\n- [ ] look #tag\n",
	"Write/Linked.md":     "# Linked\nwritten [[Plan]]\n- [ ] change\n",
	"Templates/Day.md":    "# {{title}}\n",
	"2026-11-21.md":       "# Today\n- [ ] today 📅 2026-11-20\n",
	"Open/Secret Note.md": "a name that begins like another\n",
	"Open/Absent Note.md": "and one that begins like a missing one\n",
}

var hiddenLevels = map[string]access.Level{
	"/": access.Delete, "Hid": access.None, "Shut": access.None, "Hid/Shown": access.Read, "Open/One.md": access.None,
	"Read": access.Read, "Write": access.Write,
}

// hiddenParts are what may be hidden in the vault, one after the other. A file that a pattern hides
// is only in Open, which the rules do not let anyone move as a whole: elsewhere it would have the
// folder refused, because it must not be left alone or moved along.
var hiddenParts = []map[string]string{
	{"Hid/Secret.md": "# zqxhead\n#zqxtag zqxword [[Plan]] ^zqxblk\n- [ ] zqxtask 📅 2026-11-21\n", "Open/One.md": "zqx",
		"Open/x.draft.md": "zqx [[zqxlink]]", "Hid/zqxname.md": "zqx"},
	{},
	{"Hid/Secret.md": "---\ntags: [tag, zqxtag]\nprop: zqxvalue\nzqxprop: 1\naliases: [Plan, zqxalias]\n---\n# Plan\n[[Plan]] [[Open/Note]] [[nowhere]] #tag #tag\n- [ ] do #tag\n",
		"Hid/Plan.md": "zqx", "Hid/Shown2/zqx.md": "zqx"},
	{"Hid/Note.md": "#TAG #TAG #TAG", "Hid/Day.md": "zqx {{title}}", "Hid/2026-11-21.md": "- [ ] zqx",
		"Hid/Books.base": "views:\n  - name: zqx\n", "Hid/zqxdir/a/b/c.md": "x", "Open/One.md": "[[Plan]]",
		"Open/zqx.draft.md": "# zqx", "Hid/p.png": "zqx", "Hid/pic.png": "zqx",
		"Hid/Secret.md": "![[pic.png]] deep written"},
}

func newHiddenVault(t *testing.T, change func(*gateway.Config)) *hiddenVault {
	t.Helper()
	h := &hiddenVault{t: t, dir: filepath.Join(t.TempDir(), "Vault")}
	for path, text := range openNotes {
		h.put(path, text)
	}
	h.put(".vaultwicketignore", "*.draft.md\n")
	h.put(".obsidian/templates.json", `{"folder":"Templates"}`)
	h.put(".obsidian/app.json", `{"alwaysUpdateLinks":true}`)
	log := slog.New(slog.NewTextHandler(&h.log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	o := harness.NewInProcess(t, func(c *gateway.Config) {
		c.Vault, c.Log, c.Session = gateway.Vault{Name: "Vault", Folder: h.dir}, log, "agent"
		c.Policy.Ceiling, c.Policy.Publish, c.Policy.Confirm, c.Policy.Access = tiers.V3, true, policy.ConfirmNever, harness.Rules(t, hiddenLevels)
		if change != nil {
			change(c)
		}
	})
	h.state, h.gateway = o.State, o.Gateway
	return h
}

func (h *hiddenVault) put(path, text string) {
	h.t.Helper()
	harness.WriteFile(h.t, filepath.Join(h.dir, filepath.FromSlash(path)), []byte(text))
}

// hide puts another part in the place of what is hidden, and has the settings of
// the app name it.
func (h *hiddenVault) hide(part map[string]string) {
	h.t.Helper()
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		rest, _ := filepath.Rel(h.dir, path)
		_, open := openNotes[filepath.ToSlash(rest)]
		switch {
		case err != nil || open || rest == ".":
			return err
		case strings.HasPrefix(rest, ".") && d.IsDir():
			return filepath.SkipDir
		case !d.IsDir() && !strings.HasPrefix(rest, "."):
			return os.Remove(path)
		}
		return nil
	})
	require.NoError(h.t, err)
	for _, folder := range []string{"Hid/zqxdir", "Hid/Shown2"} {
		os.RemoveAll(filepath.Join(h.dir, folder))
	}
	var recent, marks []string
	for path, text := range part {
		h.put(path, text)
		recent = append(recent, path)
		marks = append(marks, `{"type":"file","path":"`+path+`","title":"zqxtitle"}`)
	}
	marks = append(marks, `{"type":"file","path":"Open/Plan.md","title":"seen"}`)
	h.put(".obsidian/workspace.json",
		`{"active":"1","main":{"id":"1","state":{"state":{"file":"Hid/Secret.md"}}},"lastOpenFiles":["`+
			strings.Join(append(recent, "Open/Note.md"), `","`)+`"]}`)
	h.put(".obsidian/bookmarks.json", `{"items":[`+strings.Join(marks, ",")+`]}`)
}

// ask returns all that a caller sees of an answer but the time it took: of a call
// that changes something, of its dry run.
func (h *hiddenVault) ask(req gateway.Request) string {
	h.t.Helper()
	var answer any
	if h.gateway.Changes(req) {
		answer = h.gateway.DryRun(h.t.Context(), req)
	} else {
		result := h.gateway.Do(h.t.Context(), req)
		result.DurationMs = 0
		answer = result
	}
	text := require.Value(json.Marshal(answer))(h.t)
	assert.That(h.t, !strings.Contains(strings.ToLower(string(text)), canaryWord), "%s %v tells what is hidden: %s", req.Command, req.Params, text)
	return string(text)
}

// sampleValues are values of a parameter, what is hidden among them.
func sampleValues(p allowlist.Param) []allowlist.Value {
	switch {
	case p.Kind == "path:line":
		return texts("Open/Plan.md:8", "Hid/Secret.md:2", "Open/One.md:1")
	case p.Kind == "folder":
		return texts("Open", "Hid", "Hid/Shown", "Gone")
	case p.Kind == "folder/ or path":
		return texts("Open/Deep/", "Hid/", "Hid/Secret.md", "Write/New.md", "Read/")
	case p.Kind == "path":
		return texts("Open/Plan.md", "Hid/Secret.md", "Hid/Gone.md", "Open/One.md", "Open/x.draft.md",
			"Hid/Shown/Note.md", "Read/Only.md", "Write/Linked.md", "Open/Gone.md", "Open/Books.base", "Hid/Books.base",
			"Hid", "Open/Board.canvas", "Open/pic.png", "Hid/pic.png")
	case p.Kind == "note name" || p.Kind == "base name":
		return texts("Plan", "Secret", "Note", "Hid/Plan", "One", "Books", "Gone", "Day")
	case p.Kind == "file name":
		return texts("Plan", "One", "Fresh", "x.draft")
	case p.Name == "query":
		return texts("text", "path:Hid", "tag:#tag", "[prop]", "task:do", "-path:Open", "file:Secret", "/e/")
	case p.Name == "name" && p.Kind == "name":
		return texts("tag", "prop", "Day", "tags", "Hid/Secret")
	case p.Name == "old":
		return texts("text", "deep", "(t)ext", "written")
	case p.Name == "to" && p.Kind == "name":
		return texts("fresh", "tag/sub", "other")
	case p.Name == "heading":
		return texts("Plan", "Note", "Linked")
	case p.Kind == "number":
		return texts("1", "2")
	}
	return valuesOf(p)
}

func texts(all ...string) (values []allowlist.Value) {
	for _, s := range all {
		values = append(values, allowlist.Text(s))
	}
	return values
}

// sampleRequests are requests with every value of every parameter, alone and with
// one of each other parameter.
func sampleRequests(c allowlist.Command) (all []gateway.Request) {
	base := required(c, sampleValues)
	with := func(more ...allowlist.Params) {
		all = append(all, gateway.Request{Command: c.Name, Params: merged(base, more...)})
	}
	with()
	for _, p := range c.Params {
		for _, v := range sampleValues(p) {
			one := allowlist.Params{p.Name: v}
			with(one)
			for _, q := range c.Params {
				if q.Name != p.Name && !(p.Name == "file" && q.Name == "path") &&
					(p.Kind == "path" || p.Kind == "note name" || p.Kind == "folder" || p.Kind == "path:line" ||
						p.Name == "query") {
					with(one, allowlist.Params{q.Name: sampleValues(q)[0]})
				}
			}
		}
	}
	return all
}

// required are the parameters that a command must have.
func required(c allowlist.Command, valuesOf func(allowlist.Param) []allowlist.Value) allowlist.Params {
	params := allowlist.Params{}
	for _, p := range c.Params {
		if p.Required {
			params[p.Name] = valuesOf(p)[0]
		}
	}
	return params
}

func merged(base allowlist.Params, more ...allowlist.Params) allowlist.Params {
	all := maps.Clone(base)
	for _, m := range more {
		maps.Copy(all, m)
	}
	return all
}

func chancy(req gateway.Request) bool {
	_, seeded := req.Params["seed"]
	return strings.HasPrefix(req.Command, "random") && !seeded || req.Command == "file"
}

// Every command with every parameter, by a gateway whose worker lives on while
// what is hidden changes.
func TestResultsDoNotDependOnWhatIsHidden(t *testing.T) {
	t.Parallel()
	h := newHiddenVault(t, nil)
	var requests []gateway.Request
	commands := 0
	mine := testenv.Shard(t, 6)
	for c := range allowlist.Commands() {
		for i, req := range sampleRequests(c) {
			if mine(i) {
				requests = append(requests, req)
			}
		}
		commands++
	}
	var first []string
	answered := 0
	parts := hiddenParts
	if testenv.Long() {
		parts = append(slices.Clone(parts), parts[0])
	}
	for round, part := range parts {
		h.hide(part)
		for i, req := range requests {
			// Each request again with one of the other parts hidden, or with each of them.
			if round > 0 && i%(len(parts)-1) != round-1 && !testenv.Long() {
				continue
			}
			said := h.ask(req)
			answered++
			if round == 0 {
				first = append(first, said)
			} else if said != first[i] && !chancy(req) {
				t.Errorf("%s %v: %s\nbefore: %s", req.Command, req.Params, said, first[i])
			}
		}
	}
	granted := 0
	for _, said := range first {
		// A dry run of a call that is granted and would fail is not ok.
		isGranted := strings.Contains(said, `"ok":true`) || strings.Contains(said, `"decision":"allow"`)
		if isGranted {
			granted++
		}
	}
	t.Logf("%d commands, %d requests, %d of them granted, %d answers", commands, len(requests), granted, answered)
	assert.That(t, granted >= 300, "only %d requests were granted: too few to mean anything", granted)
	h.lookForCanaries()
}

// lookForCanaries looks at all that is written besides answers: the log and the
// audit log, and what the worker says of itself.
func (h *hiddenVault) lookForCanaries() {
	h.t.Helper()
	assert.Equal(h.t, h.log.String(), "", "the log of the gateway contains")
	logs := 0
	look := func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		logs += len(text)
		assert.NotContains(h.t, strings.ToLower(string(text)), canaryWord, "%s tells what is hidden", path)
		assert.NotContains(h.t, string(text), "Secret", "%s tells what is hidden", path)
		return err
	}
	state := filepath.Join(h.state, "vaultwicket")
	err := errors.Join(filepath.WalkDir(audit.AuditFolder(state), look), filepath.WalkDir(audit.CallsFolder(state), look))
	require.Equal(h.t, err, nil, "the audit log has %d bytes", logs)
	assert.That(h.t, logs != 0, "the audit log has %d bytes", logs)
}

// A note that may not be seen and one that is not there get the same answer, but
// for the name.
func TestAHiddenNoteIsMissing(t *testing.T) {
	t.Parallel()
	h := newHiddenVault(t, nil)
	h.hide(hiddenParts[0])
	h.put("Shut/Secret.md", "zqx")
	// What is hidden, and what is not there. Of the second pair both lie where
	// nothing may be made.
	pairs := []struct {
		hidden, missing string
		reads           bool // calls that make something differ, by right
	}{
		{"Hid/Secret.md", "Own/Absent.md", true},
		{"Shut/Secret.md", "Own/Absent.md", true},
		{"Hid/Secret.md", "Hid/Absent.md", false},
		{"Open/One.md", "Open/Two.md", true},
		{"Open/x.draft.md", "Open/x.gone.md", true},
		{"Hid/Secret.md/In.md", "Hid/Absent.md/In.md", false},
	}
	compared, classes := 0, 0
	for c := range allowlist.Commands() {
		requests := sampleRequests(c)
		for _, p := range c.Params {
			var to func(path string) string
			switch p.Kind {
			case "path":
				to = func(path string) string { return path }
			case "path:line":
				to = func(path string) string { return path + ":1" }
			case "note name", "base name":
				to = func(path string) string { return strings.TrimSuffix(path, ".md") }
			case "folder":
				to = filepath.Dir
			default:
				continue
			}
			for _, pair := range pairs {
				// The others are folders in which something can be seen.
				if p.Kind == "folder" && !strings.HasPrefix(pair.hidden, "Shut/") ||
					pair.reads && (strings.HasSuffix(c.Name, "create") || c.Name == "note:extract") {
					continue
				}
				given := slices.DeleteFunc(slices.Clone(requests), func(req gateway.Request) bool {
					_, ok := req.Params[p.Name]
					return !ok || chancy(req) && c.Name != "file"
				})
				classes++
				for i, req := range given {
					if i != classes%len(given) && !testenv.Long() {
						continue // one call of each parameter of each command, with one of its other parameters
					}
					compared++
					a, b := withParam(req, p.Name, to(pair.hidden)), withParam(req, p.Name, to(pair.missing))
					got, want := h.ask(a), h.ask(b)
					same := strings.NewReplacer("Open/Absent Note.md", "Open/Secret Note.md", pair.missing, pair.hidden,
						to(pair.missing), to(pair.hidden), filepath.Dir(pair.missing), filepath.Dir(pair.hidden),
						strings.TrimSuffix(pair.missing, ".md"), strings.TrimSuffix(pair.hidden, ".md")).Replace(want)
					assert.That(t, got == same || got == want, "%s %v: %s\nof a missing one: %s", c.Name, a.Params, got, want)
					if !h.gateway.Changes(a) && strings.Contains(got, "access_denied") && !strings.Contains(want, "access_denied") {
						t.Errorf("%s %v: a read is refused: %s", c.Name, a.Params, got)
					}
				}
			}
		}
	}
	t.Logf("%d pairs of answers", compared)
}

func withParam(req gateway.Request, name, value string) gateway.Request {
	return gateway.Request{Command: req.Command, Params: merged(req.Params, allowlist.Params{name: allowlist.Text(value)})}
}

// The file of patterns applies from the next call on, for a worker that lives.
func TestPatternsHoldAtTheNextCall(t *testing.T) {
	t.Parallel()
	h := newHiddenVault(t, nil)
	h.hide(nil)
	ask := func(command string, params allowlist.Params) gateway.Result {
		return h.gateway.Do(t.Context(), gateway.Request{Command: command, Params: params})
	}
	plan := allowlist.Params{"path": allowlist.Text("Open/Plan.md")}
	sees := func() bool {
		byName := ask("read", allowlist.Params{"file": allowlist.Text("Open/Plan")}).OK
		byPath := ask("read", plan).OK
		found := strings.Contains(ask("search", allowlist.Params{"query": allowlist.Text("text")}).Stdout, "Open/Plan.md")
		listed := strings.Contains(ask("files", nil).Stdout, "Open/Plan.md")
		tagged := strings.Contains(ask("tags", allowlist.Params{"counts": allowlist.Flag(true)}).Stdout, "#tag\t4")
		if byName != byPath || byPath != found || found != listed {
			t.Fatalf("read by name: %v, by path: %v, found: %v, listed: %v, tags: %v", byName, byPath, found, listed, tagged)
		}
		return byPath
	}
	ignore := filepath.Join(h.dir, ".vaultwicketignore")
	for round := range 3 {
		require.That(t, sees(), "round %d: what no pattern hides is not seen", round)
		h.put(".vaultwicketignore", "*.draft.md\n/Open/Plan.md\n")
		require.That(t, !sees(), "round %d: what a pattern hides is seen", round)
		result := ask("append", allowlist.Params{"path": plan["path"], "content": allowlist.Text("x")})
		require.That(t, !result.OK, "an append to what a pattern hides: %+v", result)
		assert.Equal(t, result.Error.Code, "not_found", "an append to what a pattern hides: %+v", result)
		require.NoError(t, os.Remove(ignore))
	}
	require.NoError(t, os.Symlink(filepath.Join(h.dir, "Open", "Note.md"), ignore))
	for _, c := range []string{"files", "read", "tags"} {
		if result := ask(c, plan); result.OK || result.Stdout != "" && !strings.Contains(result.Stdout, "nothing is answered") {
			t.Errorf("with a link in the place of the patterns %s answers %+v", c, result)
		}
	}
}

func TestABatchIsTakenBackWithinItsRights(t *testing.T) {
	t.Parallel()
	for _, refused := range []gateway.Request{
		{Command: "delete", Params: allowlist.Params{"path": allowlist.Text("Write/Linked.md")}},
		{Command: "append", Params: allowlist.Params{"path": allowlist.Text("Hid/Secret.md"), "content": allowlist.Text("x")}},
		{Command: "rename", Params: allowlist.Params{"path": allowlist.Text("Write/Linked.md"),
			"name": allowlist.Text("Other")}}, // a link in Read/Only.md would have to follow
		{Command: "create", Params: allowlist.Params{"path": allowlist.Text("Write/Linked.md"),
			"content": allowlist.Text("x"), "overwrite": allowlist.Flag(true)}},
	} {
		h := newHiddenVault(t, nil)
		h.hide(hiddenParts[0])
		before := h.notes()
		result := h.gateway.DoBatch(t.Context(), gateway.Batch{Atomic: true, Operations: []gateway.Operation{
			{ClientID: "a", Request: gateway.Request{Command: "create",
				Params: allowlist.Params{"path": allowlist.Text("Write/New.md"), "content": allowlist.Text("new")}}},
			{ClientID: "b", Request: gateway.Request{Command: "append",
				Params: allowlist.Params{"path": allowlist.Text("Write/Linked.md"),
					"content": allowlist.Text("more")}}},
			{ClientID: "c", Request: refused},
		}})
		assert.That(t, !result.OK, "a batch with %s %v is done", refused.Command, refused.Params)
		after := h.notes()
		assert.That(t, after == before, "a batch with %s %v left\n%s\nbefore\n%s", refused.Command, refused.Params, after, before)
		text := fmt.Sprintf("%+v", result)
		assert.That(t, !strings.Contains(text, canaryWord), "the batch tells what is hidden: %s", text)
	}
}

// notes are the texts of all notes.
func (h *hiddenVault) notes() string {
	var out strings.Builder
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || strings.HasPrefix(d.Name(), ".") && d.IsDir() {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		if !d.IsDir() {
			text, _ := os.ReadFile(path)
			fmt.Fprintf(&out, "%s %q\n", path, text)
		}
		return nil
	})
	require.NoError(h.t, err)
	return out.String()
}

func TestMain(m *testing.M) { harness.Main(m) }
