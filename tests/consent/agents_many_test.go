package consent

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// giveTokens gives each agent the token "vwa_" and its name, as the file of tokens has it.
func giveTokens(r *harness.Program, agents []string) (file string) {
	var list []map[string]string
	for _, name := range agents {
		list = append(list, map[string]string{"agent": name, "sha256": fmt.Sprintf("%x", sha256.Sum256([]byte("vwa_"+name))), "made": "2026-11-21T00:00:00Z"})
	}
	require.NoError(r.T, os.MkdirAll(stateOf(r), 0o700))
	file = filepath.Join(stateOf(r), "agents.json")
	require.NoError(r.T, os.WriteFile(file, []byte(harness.JSON(r.T, list)), 0o600))
	return file
}

// rights are those of an agent, or of the server, in words of this test.
type rights struct {
	tier      int
	mutations bool
	confirm   string
	vaults    bool           // it may use the vault
	access    map[string]int // by folder, 0 none to 3 rwd; "" is the root
}

func drawRights(r *rand.Rand) rights {
	d := rights{tier: r.IntN(4), mutations: r.IntN(3) > 0,
		confirm: []string{"never", "destructive", "writes"}[r.IntN(3)], vaults: r.IntN(8) > 0,
		access: map[string]int{"": r.IntN(4)}}
	for _, folder := range []string{"Ann", "Bob"} {
		if r.IntN(2) > 0 {
			d.access[folder] = r.IntN(4)
		}
	}
	return d
}

func (d rights) table(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[agents.%s]\ntier = \"v%d\"\nallow-mutations = %v\nconfirm = %q\n", name, d.tier, d.mutations, d.confirm)
	if !d.vaults {
		b.WriteString("vaults = [\"Other\"]\n")
	}
	fmt.Fprintf(&b, "[agents.%s.access]\n", name)
	for folder, level := range d.access {
		fmt.Fprintf(&b, "%q = %q\n", cmp.Or(folder, "/"), []string{"none", "r", "rw", "rwd"}[level])
	}
	return b.String()
}

func (d rights) level(path string) int {
	folder, _, _ := strings.Cut(path, "/")
	if level, has := d.access[folder]; has {
		return level
	}
	return d.access[""]
}

// matrixCall is a command of the matrix: its tier, the level that it needs, and what it does.
type matrixCall struct {
	command, params  string
	tier, needs      int
	writes, destroys bool
}

var matrixCalls = []matrixCall{
	{command: "read", tier: 1, needs: 1},
	{command: "append", params: `,"content":"x"`, tier: 1, needs: 2, writes: true},
	{command: "create", params: `,"content":"x","overwrite":true`, tier: 1, needs: 3, writes: true, destroys: true},
	{command: "delete", tier: 1, needs: 3, writes: true, destroys: true},
	{command: "history", tier: 2, needs: 1},
	{command: "wordcount", tier: 3, needs: 1},
}

// serverTier is that of the server of the matrix, which allows everything else.
const serverTier = 2

// opens reports whether the agent has the command at all.
func (d rights) opens(c matrixCall) bool {
	return d.vaults && min(d.tier, serverTier) >= c.tier && (!c.writes || d.mutations)
}

// decides returns what becomes of a call on a note: allow, ask, deny, or missing where the note is
// as one that does not exist.
func (d rights) decides(c matrixCall, note string) string {
	switch level := d.level(note); {
	case !d.opens(c), level > 0 && level < c.needs:
		return "deny"
	case level == 0:
		return "missing"
	case c.destroys && d.confirm != "never", c.writes && d.confirm == "writes":
		return "ask"
	}
	return "allow"
}

// Fifty agents of one server over HTTP: what a dry run, the call itself, explain, and the list of
// commands say of each is what server and agent both allow, by a rule that is written here.
func TestFiftyAgentsOverHTTP(t *testing.T) {
	t.Parallel()
	draws := rand.New(rand.NewPCG(26, 51))
	r := harness.New(t, map[string]string{"Ann/Plan.md": "a\n", "Bob/Plan.md": "b\n", "Both/Plan.md": "c\n"})
	r.Set("tier", `"v2"`).Set("confirm", `"never"`)
	all, names := map[string]rights{}, []string{}
	for i := range 50 {
		name := fmt.Sprintf("agent-%02d", i)
		all[name] = drawRights(draws)
		names = append(names, name)
		r.Tables += all[name].table(name)
	}
	r.Save()
	giveTokens(r, names)
	http := r.OverHTTP()
	counts := map[string]int{}
	for _, name := range names[:testenv.Count(12, 50)] {
		d, c, listed := all[name], connected(http, name), map[string]bool{}
		text := c.resource("vaultwicket://policy")
		var policies []struct {
			Settings []struct {
				Name  string
				Value any
			}
			Access struct{ Root string }
		}
		err := json.Unmarshal([]byte(text), &policies)
		require.Equal(t, err, nil, "%s", text)
		require.Equal(t, len(policies), 1, "%s", text)
		wants := map[string]any{"tier": fmt.Sprintf("v%d", min(d.tier, serverTier)), "allow-mutations": d.mutations,
			"confirm": d.confirm, "root": []string{"", "r", "rw", "rwd"}[d.access[""]]}
		if !d.vaults {
			wants = map[string]any{"tier": "none", "allow-mutations": false, "confirm": "writes", "root": ""}
		}
		has := map[string]any{"root": policies[0].Access.Root}
		for _, s := range policies[0].Settings {
			if _, wanted := wants[s.Name]; wanted {
				has[s.Name] = s.Value
			}
		}
		assert.That(t, maps.Equal(has, wants), "%s (%+v): the policy is %v, want %v", name, d, has, wants)
		var rows []struct {
			Name    string
			Allowed bool
		}
		text = c.resource("vaultwicket://commands")
		require.Equal(t, json.Unmarshal([]byte(text), &rows), nil, "%s", text)
		require.That(t, len(rows) != 0, "%s", text)
		for _, row := range rows {
			listed[row.Name] = row.Allowed
		}
		for _, call := range matrixCalls {
			open := d.opens(call)
			explained, _ := c.do(harness.Call{"command": "help", "params": map[string]any{"command": call.command}})
			described := c.resource("vaultwicket://help/" + call.command)
			assert.That(t, !d.vaults || strings.Contains(described, "\n  allowed  yes\n") == open,
				"%s: the resource of %s says\n%s", name, call.command, described)
			if listed[call.command] != open || explained.OK != d.vaults || d.vaults && strings.Contains(explained.Stdout, "\n  allowed  yes\n") != open {
				t.Errorf("%s: %s is listed: %v, want %v; help says\n%s", name, call.command, listed[call.command], open, explained.Stdout)
			}
			for _, note := range []string{"Ann/Plan.md", "Bob/Plan.md", "Both/Plan.md"} {
				want := d.decides(call, note)
				counts[want]++
				arguments := fmt.Sprintf(`{"command":%q,"params":{"path":%q%s},"dryRun":true}`, call.command, note, call.params)
				_, text := c.send(harness.ToolCall(9, arguments))
				var answer struct {
					Result struct{ StructuredContent gateway.DryRun }
				}
				require.NoError(t, json.Unmarshal([]byte(text), &answer))
				if want == "missing" { // as a note that was never there
					if _, never := c.send(harness.ToolCall(9, strings.Replace(arguments, "Plan", "Plam", 1))); strings.ReplaceAll(never, "Plam", "Plan") != text {
						t.Errorf("%s (%+v): %s of %s, which is hidden, says\n%s\nand of a note that never was\n%s", name, d, call.command, note, text, never)
					}
				} else {
					assert.Equal(t, answer.Result.StructuredContent.Decision, want, "%s (%+v): %s of %s", name, d, call.command, note)
				}
				if call.command == "read" {
					result, _ := c.do(harness.Calling("read", "path="+note))
					assert.That(t, result.OK == (want == "allow"), "%s: read of %s: %+v, want %s", name, note, result.Error, want)
				}
			}
		}
	}
	assert.Equal(t, len(counts), 4, "the draw shows too little: %v", counts)
	assert.That(t, slices.Min([]int{counts["allow"], counts["ask"], counts["deny"], counts["missing"]}) >= 10,
		"the draw shows too little: %v", counts)
	t.Logf("%v", counts)
}

func TestAThousandAgents(t *testing.T) {
	t.Parallel()
	r := harness.New(t, agentNotes)
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprintf("a%03d.x_y-z", i))
		r.Tables += fmt.Sprintf("[agents.\"a%03d.x_y-z\"]\ntier = \"v1\"\nrate = %d\n", i, 100+i)
	}
	r.Save()
	file := giveTokens(r, names)
	server := r.OverHTTP()
	status := func(token string) int { return callerOf(server, token).connect() }
	for i, name := range names {
		if i%40 > 0 && i < 990 {
			continue
		}
		result, code := connected(server, name).do(harness.Calling("read", "path=Ann/Plan.md"))
		require.That(t, result.OK, "%s: %d %+v", name, code, result.Error)
	}
	sum := sha256.Sum256([]byte("vwa_" + names[0]))
	for _, token := range []string{
		"vwa_", "vwa_" + strings.ToUpper(names[0]), names[0], "vwa_" + names[0] + " ", " vwa_" + names[0],
		"vwa_" + names[0] + "\t", "vwa_a0000.x_y-z", "vwa_../x", "vwa_" + strings.Repeat("a", 1<<12),
		fmt.Sprintf("%x", sum), string(names[0][0]),
	} {
		got := status(token)
		assert.That(t, got == http.StatusUnauthorized || strings.TrimSpace(token) == "vwa_"+names[0], "the token %.40q: %d", token, got)
	}
	require.NoError(t, os.Chmod(file, 0o644))
	assert.Equal(t, status("vwa_"+names[0]), http.StatusUnauthorized, "a file of tokens that others can read")
	require.NoError(t, os.Chmod(file, 0o600))
	assert.Equal(t, status("vwa_"+names[0]), http.StatusOK, "the file as it was")
}
