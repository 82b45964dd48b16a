package app

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// callsOfASession are what an agent asks for in a session, each with what is undone afterwards.
var callsOfASession = []struct {
	command string
	pairs   []string
	changes bool
}{
	{"read", []string{"path", "Plan.md"}, false},
	{"read", []string{"file", "Plan"}, false},
	{"read", []string{"path", "Gone.md"}, false},
	{"daily:read", nil, false},
	{"daily:path", nil, false},
	{"files", nil, false},
	{"file", []string{"path", "Plan.md"}, false},
	{"search", []string{"query", "first"}, false},
	{"search", []string{"query", "nowhere to be found"}, false},
	{"search", []string{"query", "first", "format", "json"}, false},
	{"properties", []string{"path", "Plan.md"}, false},
	{"random:read", []string{"folder", "A"}, false},
	{"daily:append", []string{"content", "new"}, true},
	{"append", []string{"path", "Plain.md", "content", "new"}, true},
	{"prepend", []string{"path", "Plain.md", "content", "new"}, true},
	{"create", []string{"path", "N/New.md", "content", "text"}, true},
	{"create", []string{"path", "Plan.md", "content", "text"}, false},
	{"property:set", []string{"path", "Plan.md", "name", "due", "value", "x"}, true},
	{"property:remove", []string{"path", "Plan.md", "name", "n"}, true},
	{"task", []string{"path", "Plan.md", "line", "9", "done", "true"}, true},
	{"move", []string{"path", "Plain.md", "to", "N/Plain.md"}, true},
	{"delete", []string{"path", "Plain.md"}, true},
	{"append", []string{"path", "Gone.md", "content", "new"}, false},
}

// TestASessionInWhichTheAppGoesAndComesBack: who answers changes, and the shape of the answers does not: their fields, the codes of
// their errors, the paths, and of reads the text.
func TestASessionInWhichTheAppGoesAndComesBack(t *testing.T) {
	t.Parallel()
	a := newAppVault(t, appNotes)
	a.put(appToday+".md", "today\n")
	a.serve(howNamed[0].settings, "--backend=auto", "--tier=v3", "--rate=0")
	var first [][]string
	for _, phase := range []struct {
		name string
		away bool
	}{{"the app is there", false}, {"it is away", true}, {"it is back", false}, {"it is away again", true}} {
		a.away = phase.away
		a.tell(false)
		var shapes [][]string
		backends := map[string]int{}
		for _, c := range callsOfASession {
			before := a.disk()
			a.ask("obsidianCli", c.command, c.pairs...)
			var fields map[string]any
			unmarshalResult(t, a.receive(), &fields)
			shapes = append(shapes, shapeOf(fields, c.changes))
			if backend, _ := fields["backend"].(string); fields["ok"] == true {
				backends[backend]++
			}
			change, changed := fields["change"].(map[string]any)
			require.Equal(t, changed, c.changes, "%s: %s %q names a change: %v", phase.name, c.command, c.pairs, fields)
			if changed {
				back := a.do("undo", "id", change["id"].(string))
				assert.That(t, back.OK, "%s: undo of %s: %+v", phase.name, c.command, back.Error)
			}
			assert.That(t, maps.Equal(a.disk(), before), "%s: the disk after %s", phase.name, c.command)
		}
		assert.Equal(t, backends["obsidian"] > 0, !phase.away, "%s: the app answers, of %v", phase.name, backends)
		if first == nil {
			first = shapes
		}
		for i, c := range callsOfASession {
			assert.EqualSlices(t, shapes[i], first[i], "%s: %s %q", phase.name, c.command, c.pairs)
		}
	}
}

// shapeOf is what must not depend on who answers.
func shapeOf(fields map[string]any, changes bool) []string {
	var shape []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch value := fields[name]; name {
		case "notices", "durationMs", "backend", "exitCode", "hash": // the app writes properties and line breaks in its own form
		case "error":
			problem := value.(map[string]any)
			shape = append(shape, "error "+problem["code"].(string))
		case "change":
			shape = append(shape, "change "+strings.Join(slices.Sorted(maps.Keys(value.(map[string]any))), " "))
		case "stdout":
			lines := strings.Split(strings.TrimRight(value.(string), "\n"), "\n")
			lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "created\t") }) // undo makes a file anew
			slices.Sort(lines)                                                                                       // the app lists files in no order
			if _, failed := fields["error"]; !changes && !failed {
				shape = append(shape, "stdout "+strings.Join(lines, "\n"))
			}
		default:
			text, _ := json.Marshal(value)
			shape = append(shape, name+" "+string(text))
		}
	}
	return shape
}
