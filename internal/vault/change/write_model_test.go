package change_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// model is a vault in memory: the notes, and for each name what was there before
// every change, the newest first.
type model struct {
	notes    map[string]string
	versions map[string][]string
	undo     []map[string]string // the notes before each change
}

func (m *model) set(path, text string) {
	old, there := m.notes[path]
	if there && old == text {
		return
	}
	m.begin()
	if there {
		m.versions[path] = append([]string{old}, m.versions[path]...)
	}
	m.notes[path] = text
}

func (m *model) begin() { m.undo = append(m.undo, maps.Clone(m.notes)) }

func (m *model) remove(path string) {
	m.begin()
	m.versions[path] = append([]string{m.notes[path]}, m.versions[path]...)
	delete(m.notes, path)
}

func (m *model) move(from, to string) {
	if from == to {
		return
	}
	m.begin()
	m.notes[to] = m.notes[from]
	m.versions[to] = slices.Clone(m.versions[from])
	delete(m.notes, from)
}

// turn draws a call and does in memory what it should do. It returns the call
// and whether it is to succeed.
func (m *model) turn(t *rapid.T) (call []string, fine bool) {
	const daily = "2026-11-21.md"
	path := rapid.SampledFrom([]string{"a.md", "b.md", "x/a.md", "x/y/c.md", daily}).Draw(t, "path")
	text := rapid.SampledFrom([]string{"1", "2\n", "---\na: 1\n---\n", "\r\n", "é"}).Draw(t, "text")
	old, there := m.notes[path]
	switch command := rapid.SampledFrom([]string{"create", "append", "prepend", "move", "rename", "delete",
		"daily:append", "history:restore"}).Draw(t, "command"); command {
	case "create":
		call = []string{"create", "path=" + path, "content=" + text}
		if rapid.Bool().Draw(t, "overwrite") {
			call, there = append(call, "overwrite"), false
		}
		if !there {
			m.set(path, text)
		}
		return call, !there
	case "append", "prepend":
		add := map[string]func([]byte, string, edit.Joint) []byte{"append": edit.Append, "prepend": edit.Prepend}[command]
		if there {
			m.set(path, string(add([]byte(old), inLineEndsOf(old, text), edit.OwnLine)))
		}
		return []string{command, "path=" + path, "content=" + text}, there
	case "daily:append":
		m.set(daily, string(edit.Append([]byte(m.notes[daily]), inLineEndsOf(m.notes[daily], text), edit.OwnLine)))
		return []string{command, "content=" + text}, true
	case "delete":
		call = []string{command, "path=" + path}
		if rapid.Bool().Draw(t, "permanent") {
			call = append(call, "permanent")
		}
		if there {
			m.remove(path)
		}
		return call, there
	case "move", "rename":
		to := rapid.SampledFrom([]string{"a.md", "b.md", "x/a.md", "z/z.md"}).Draw(t, "to")
		call = []string{command, "path=" + path, "to=" + to}
		if command == "rename" {
			to = filepath.Base(to)
			call[2] = "name=" + to
			to = filepath.ToSlash(filepath.Join(filepath.Dir(path), to))
		}
		if _, taken := m.notes[to]; !there || taken && to != path {
			return call, false
		}
		m.move(path, to)
		return call, true
	default:
		n := rapid.IntRange(1, 3).Draw(t, "version")
		call = []string{command, "path=" + path, "version=" + strconv.Itoa(n)}
		if n > len(m.versions[path]) {
			return call, false
		}
		m.set(path, m.versions[path][n-1])
		return call, true
	}
}

// inLineEndsOf returns a text as it is put into a note.
func inLineEndsOf(old, text string) string {
	if 2*strings.Count(old, "\r\n") <= strings.Count(old, "\n") {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}

func TestWritesAgainstAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		start := map[string]string{"a.md": "A\r\n", "x/a.md": "[[a]]", "LICENSE": "\x00"}
		h := embedded.New(t, start)
		at := h.Host()
		defer at.Close()
		run := func(words []string) (int, string) {
			status, out, _ := embedded.Called(at, append([]string{h.Dir, call.WriteSwitch}, words...)...)
			return status, out
		}
		m := &model{notes: maps.Clone(start), versions: map[string][]string{}}
		for range rapid.IntRange(1, 12).Draw(rt, "calls") {
			call, fine := m.turn(rt)
			status, out := run(call)
			require.That(rt, (status == answer.ExitDone) == fine, "%q: status %d, %q", call, status, out)
			got := h.Texts(false)
			require.That(rt, maps.Equal(got, m.notes), "%q made %q, the model has %q", call, got, m.notes)
		}
		for i, before := range slices.Backward(m.undo) {
			status, out := run([]string{"undo"})
			require.That(rt, status == answer.ExitDone, "undo %d: status %d, %q", i, status, out)
			got := h.Texts(false)
			require.That(rt, maps.Equal(got, before), "undo %d made %q, the model has %q", i, got, before)
		}
		got := h.Texts(true)
		require.That(rt, maps.Equal(got, start), "in the end there is %q", got)
		status, out := run([]string{"undo"})
		require.Equal(rt, status, answer.ExitFailed)
		require.Equal(rt, out, "Error: Nothing to undo.\n")
	})
}

// writeKinds are calls of every kind that writes, each after others that it
// needs.
var writeKinds = []struct {
	name   string
	before []string
	call   string
}{
	{"create", nil, "create path=n/m/new.md content=x"},
	{"replace", nil, "create path=a.md content=x overwrite"},
	{"append", nil, "append path=a.md content=x"},
	{"daily", nil, "daily:append content=x"},
	{"move", nil, "move path=linked.md to=n/m/other.md"},
	{"rename", nil, "rename path=linked.md name=other"},
	{"delete", nil, "delete path=x/b.md"},
	{"delete for good", nil, "delete path=x/b.md permanent"},
	{"bookmark", nil, "bookmark search=x"},
	{"template", nil, "template:insert name=t path=a.md"},
	{"unique", nil, "unique content=x"},
	{"task that recurs", nil, "task ref=r.md:1 done"},
	{"note of a week", nil, "periodic:append period=week content=x"},
	{"note of a day", nil, "daily:ensure date=tomorrow"},
	{"template with text", nil, "create path=n/new.md template=t content=x"},
	{"task in today's note", nil, "task:add daily content=x heading=Log create-heading"},
	{"restore", []string{"delete path=a.md"}, "history:restore path=a.md version=1"},
	{"undo of a move", []string{"move path=linked.md to=n/m/other.md"}, "undo"},
	{"undo of a deletion", []string{"delete path=x/b.md"}, "undo"},
	{"rename a tag", []string{"append path=a.md content=#t", "append path=x/b.md content=#t/u"}, "tag:rename name=t to=n"},
	{"rename a property", []string{"property:set name=p value=1 folder=x"}, "property:rename name=p to=n"},
	{"set a property of several", nil, "property:set name=p value=2 query=link"},
	{"rename a heading", []string{"append path=a.md content=\\n#\\tH", "append path=l1.md content=[[a#H]]",
		"append path=l2.md content=![[a#h]]"}, "heading:rename path=a.md heading=H to=New"},
	{"replace in several", nil, "vault:replace old=linked new=x"},
	{"undo of a replacement", []string{"vault:replace old=linked new=x"}, "undo"},
	{"move a folder", nil, "folder:move path=x to=y/z/"},
	{"rename a folder", []string{"append path=linked.md content=[[x/b]]"}, "folder:rename path=x name=z"},
	{"copy a folder", nil, "folder:copy path=x to=y"},
	{"delete a folder", nil, "folder:delete path=x"},
	{"undo of a moved folder", []string{"folder:move path=x to=y/"}, "undo"},
	{"undo of a deleted folder", []string{"create path=x/c.md content=c", "folder:delete path=x"}, "undo"},
	{"merge", nil, "note:merge path=linked.md into=a.md"},
	{"extract", []string{"append path=a.md content=\\n#\\tH\\nx", "append path=l1.md content=[[a#H]]"}, "note:extract path=a.md heading=H to=n/H.md"},
	{"undo of a creation", []string{"create path=n/m/new.md content=x"}, "undo"},
}

// Every call that changes the disk fails once, and from each on all fail, as if the process had been killed or the disk were gone.
// What the answer says is true of the disk then, and the next call finds the vault as it was or as it was to be, and nothing else.
func TestEveryFaultOfEveryWriteLeavesTheOldTreeOrTheNew(t *testing.T) {
	files := map[string]string{
		"a.md": "A\n", "r.md": "- [ ] x 🔁 every day 📅 2026-11-21\n", "x/b.md": "B", "linked.md": "[[./a]] [[linked]]",
		"l1.md": "[[linked]]", "l2.md": "[t](linked.md)", "T/t.md": "---\np: 1\n---\nT",
		".obsidian/app.json": embedded.FollowLinks, ".obsidian/templates.json": `{"folder":"T"}`, ".trash/b.md": "older",
	}
	apart := testenv.Count(2, 1)
	if testing.Short() {
		apart = 4
	}
	for _, kind := range writeKinds {
		start := func() *embedded.Vault {
			h := embedded.New(t, files)
			for _, call := range kind.before {
				h.Run(strings.Fields(call)...)
			}
			return h
		}
		whole := start()
		old := treeOf(whole)
		whole.Does(strings.Fields(kind.call)...)
		done := treeOf(whole)
		for _, dead := range []bool{false, true} { // whether all later calls fail too
			faults := 0
			for n, failing := 1, true; failing; n += apart {
				require.That(t, n <= 200, "it never succeeded")
				h := start()
				var said answer.Reply
				if said, failing = runFailing(h, n, dead, strings.Fields(kind.call)); failing {
					faults++
				}
				judge(h, t, fmt.Sprintf("%s, fault %d (dead: %v)", kind.name, n, dead), said, old, done)
			}
			assert.That(t, faults*apart >= 2, "%s: only %d faults", kind.name, faults)
		}
	}
}

// treeOf returns all files of a vault, and its folders, which end with a slash. Times in names are those of the call.
func treeOf(h *embedded.Vault) map[string]string {
	tree := h.Texts(true)
	err := filepath.WalkDir(h.Dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != h.Dir {
			name, _ := filepath.Rel(h.Dir, path)
			tree[filepath.ToSlash(name)+"/"] = ""
		}
		return err
	})
	require.NoError(h.T, err)
	for name, text := range tree {
		tree[name] = bookmarkTime.ReplaceAllString(text, `"ctime": 1`)
	}
	return tree
}

var bookmarkTime = regexp.MustCompile(`"ctime": [0-9]+`)

// runFailing runs a call of which the n-th change of the disk fails. It reports
// whether there was one.
func runFailing(h *embedded.Vault, n int, dead bool, args []string) (said answer.Reply, failing bool) {
	at := h.Host()
	defer at.Close()
	v := require.Value(at.Open(context.Background(), h.Dir, protocol.Request{}))(h.T)
	calls := 0
	v.Disk.Interpose(func(string) error {
		calls++
		if calls == n || dead && calls > n {
			return os.ErrDeadlineExceeded
		}
		return nil
	})
	said = vault.Respond(v, protocol.Request{Command: args[0], Args: args[1:], Write: protocol.Write{Allowed: true}}, nil)
	return said, calls >= n
}

// judge looks at what a call has left, and at what the next one makes of it.
func judge(h *embedded.Vault, t *testing.T, when string, said answer.Reply, old, done map[string]string) {
	t.Helper()
	left := treeOf(h)
	for path, text := range left {
		isRemains := strings.HasSuffix(path, ".tmp") || strings.HasSuffix(path, "/") || strings.HasPrefix(path, ".trash/")
		if said.Status != answer.ExitDone && !isRemains && text != old[path] {
			assert.Contains(t, said.Text(), path, "%s changed it", when)
		}
	}
	if said.Status == answer.ExitDone {
		assert.Equal(t, fmt.Sprintf("%q", withoutRemains(left)), fmt.Sprintf("%q", withoutRemains(done)), "%s says %q", when, said.Text())
	}
	h.Does("version")
	settled := treeOf(h)
	isOld, isDone := maps.Equal(settled, old), maps.Equal(settled, done)
	if !isOld && !isDone {
		t.Errorf("%s said %q and left\n%q, which the next call made to\n%q, and not to\n%q or\n%q", when, said.Text(), left, settled, old, done)
	}
	assert.That(t, said.Status != answer.ExitDone || isDone, "%s says %q and is taken back", when, said.Text())
	isTold := said.Status == answer.ExitDone || said.Kind.Code == protocol.CodePartlyApplied
	assert.That(t, isTold || isOld, "%s says %q and is made", when, said.Text())
	if isDone && !isOld {
		ids := h.Changes()
		status, out, _ := h.Run("undo", ids[len(ids)-1])
		assert.Equal(t, status, answer.ExitDone, "%s: undo says %q", when, out)
		got := treeOf(h)
		assert.That(t, maps.Equal(withoutTrash(got), withoutTrash(old)), "%s: undone, there is\n%q, was\n%q", when, got, old)
	}
}

// withoutRemains leaves out what a disk that failed may keep until the next call: temporary files and empty folders.
func withoutRemains(tree map[string]string) map[string]string {
	tree = maps.Clone(tree)
	maps.DeleteFunc(tree, func(path, _ string) bool { return strings.HasSuffix(path, ".tmp") || strings.HasSuffix(path, "/") })
	return tree
}

// withoutTrash leaves out the trash: what is taken back from there is not.
func withoutTrash(tree map[string]string) map[string]string {
	tree = maps.Clone(tree)
	maps.DeleteFunc(tree, func(path, _ string) bool { return strings.HasPrefix(path, ".trash/") })
	return tree
}
