package access

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// bounded is one combination of managed settings and of what the user and an agent say against them.
type bounded struct {
	managed map[string]string // lines of TOML by setting
	user    map[string]string // values as of flags
	by      string            // how the user says it: file, profile, variables, flags or agent
}

// the values of a managed setting, "" for one that is not written, and what a user would say against it.
var boundedSettings = []struct {
	name    string
	managed []string
	loose   []string
}{
	{"secrets", []string{"", `"block"`, `"strict"`, `"redact"`}, []string{"", "allow", "redact"}},
	{"private-tags", []string{"", `["staff"]`}, []string{"", "private"}},
	{"shadow", []string{"", "", `["secrets"]`, `["private"]`, `["secrets", "private"]`},
		[]string{"", "secrets", "private", "secrets,private", "secrets,private,suspicious,remote-links,flow"}},
	{"exceptions", []string{"", "", `["secrets Docs # samples", "private Docs # samples"]`},
		[]string{"", "secrets Docs # why", "private Docs # why", "secrets Docs # why,private Docs # why"}},
	{"tier", []string{"", `"v0"`, `"v1"`}, []string{"v1", "v3"}},
	{"allow-mutations", []string{"", "false"}, []string{"true"}},
	{"allow-publish", []string{"", "false"}, []string{"true"}},
	{"confirm", []string{"", `"writes"`}, []string{"never"}},
	{"disable", []string{"", `["append"]`}, []string{"", "delete"}},
	{"remote-links", []string{"", `"ask"`}, []string{"", "allow"}},
	{"suspicious", []string{"", `"ask"`}, []string{"", "off"}},
}

func drawBounded(r *rand.Rand) bounded {
	b := bounded{managed: map[string]string{}, user: map[string]string{}, by: []string{"file", "profile", "variables", "flags", "agent"}[r.IntN(5)]}
	for _, s := range boundedSettings {
		if line := s.managed[r.IntN(len(s.managed))]; line != "" {
			b.managed[s.name] = line
		}
		if value := s.loose[r.IntN(len(s.loose))]; value != "" {
			b.user[s.name] = value
		}
	}
	return b
}

// keeps reports whether the machine states a rule about texts and leaves it its effect for a note in Docs, by
// docs/permissions.md.
func (b bounded) keeps(setting, rule string) bool {
	return b.managed[setting] != "" && !strings.Contains(b.managed["shadow"], rule) && !strings.Contains(b.managed["exceptions"], rule+" ")
}

// files writes the managed settings and those of the user, and returns the arguments and variables of a command.
func (b bounded) files(t *testing.T, folder, vault string) (args, env []string) {
	t.Helper()
	var machine, lines strings.Builder
	for _, s := range boundedSettings {
		if line, has := b.managed[s.name]; has {
			fmt.Fprintf(&machine, "%s = %s\n", s.name, line)
		}
		value, has := b.user[s.name]
		if !has {
			continue
		}
		switch {
		case slices.Contains([]string{"shadow", "exceptions", "private-tags", "disable"}, s.name):
			fmt.Fprintf(&lines, "%s = [\"%s\"]\n", s.name, strings.ReplaceAll(value, ",", `", "`))
		case s.name == "allow-mutations", s.name == "allow-publish":
			fmt.Fprintf(&lines, "%s = %s\n", s.name, value)
		default:
			fmt.Fprintf(&lines, "%s = %q\n", s.name, value)
		}
		switch b.by {
		case "flags":
			args = append(args, "--"+s.name+"="+value)
		case "variables":
			env = append(env, "VAULTWICKET_"+strings.ToUpper(strings.ReplaceAll(s.name, "-", "_"))+"="+value)
		}
	}
	file := fmt.Sprintf("vault = %q\n", vault)
	switch b.by {
	case "file":
		file += lines.String()
	case "profile":
		file += "[profiles.wide]\n" + lines.String()
		args = append(args, "--profile=wide")
	case "agent": // who has nothing that the file does not have, too
		file += lines.String() + "[agents.wide]\n" + lines.String()
		args = append(args, "--agent=wide")
	}
	harness.WriteFile(t, filepath.Join(folder, "managed.toml"), []byte(machine.String()+"[access]\n\"/\" = \"rwd\"\n\"Pay\" = \"none\"\n"))
	harness.WriteFile(t, filepath.Join(folder, "user.toml"), []byte(file))
	return append(args, "--config="+filepath.Join(folder, "user.toml")), env
}

// boundedCommands are what is asked of the program, each into a file of its own.
var boundedCommands = [][]string{
	{"run", "read", "path=Docs/Key.md"}, {"run", "read", "path=Docs/Staff.md"}, {"run", "read", "path=Pay/Roll.md"},
	{"commands", "--json"}, {"explain", "--json", "append"}, {"access", "--json", "Docs/Staff.md"},
	{"dry-run", "--json", "append", "path=Docs/Plan.md", "content=x"},
}

const boundedKey = "ghp_" + "R8dk2Lx0PqW3mZt7YbN5cVj1HsA9fGe4U012"

// TestBoundsHoldInTheProgram draws combinations of managed settings and of what a user says against them in a file, a
// profile, variables, flags and as an agent, and asks the program itself: what is listed, explained, planned and
// printed never has more than the machine allows.
func TestBoundsHoldInTheProgram(t *testing.T) {
	t.Parallel()
	etc, vault, home, work := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	inside := func(args ...string) *osexec.Cmd {
		return osexec.Command("unshare", append([]string{"-rm", "sh", "-c", `mount --bind "$0" /etc && exec "$@"`, etc}, args...)...)
	}
	if out, err := inside("true").CombinedOutput(); err != nil {
		t.Skipf("no namespace here: %v %s", err, out)
	}
	require.NoError(t, os.MkdirAll(filepath.Join(etc, "vaultwicket"), 0o755))
	harness.WriteFile(t, filepath.Join(vault, ".obsidian", "app.json"), []byte("{}"))
	harness.WriteFile(t, filepath.Join(vault, "Docs", "Key.md"), []byte("the key is "+boundedKey+" here\n"))
	harness.WriteFile(t, filepath.Join(vault, "Docs", "Staff.md"), []byte("a word about #staff\n"))
	harness.WriteFile(t, filepath.Join(vault, "Docs", "Plan.md"), []byte("plan\n"))
	harness.WriteFile(t, filepath.Join(vault, "Pay", "Roll.md"), []byte("salary\n"))
	r := rand.New(rand.NewPCG(44, 1620))
	n := testenv.Count(48, 1620)
	drawn := make([]bounded, n)
	var script strings.Builder // one shell runs all of them: a namespace costs more than the program
	for i := range drawn {
		drawn[i] = drawBounded(r)
		folder := filepath.Join(work, fmt.Sprint(i))
		args, env := drawn[i].files(t, folder, vault)
		fmt.Fprintf(&script, "cat %s/managed.toml > /etc/vaultwicket/config.toml\n", folder)
		for k, command := range boundedCommands {
			words := append([]string{command[0]}, append(slices.Clone(args), command[1:]...)...)
			fmt.Fprintf(&script, "env %s %s > %s/%d 2>&1 < /dev/null\n", quoted(env...), quoted(append([]string{harness.Binary}, words...)...), folder, k)
		}
	}
	harness.WriteFile(t, filepath.Join(work, "all.sh"), []byte(script.String()))
	command := inside("sh", filepath.Join(work, "all.sh"))
	command.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	_ = command.Run() // most commands are refused
	widened, printed, refused := 0, 0, 0
	for i, b := range drawn {
		said := make([]string, len(boundedCommands))
		for k := range boundedCommands {
			said[k] = string(require.Value(os.ReadFile(filepath.Join(work, fmt.Sprint(i), fmt.Sprint(k))))(t))
		}
		wider := b.wider(t, said)
		if widened += len(wider); len(wider) > 0 {
			t.Errorf("widened: %q\n%+v\n%q", wider, b, said)
		}
		if strings.Contains(said[0], boundedKey) {
			printed++
		}
		if strings.Contains(said[0], "has secrets") {
			refused++
		}
	}
	t.Logf("%d combinations, %d commands, %d widened; the key was printed %d times, refused %d times", n, n*len(boundedCommands), widened, printed, refused)
	assert.That(t, printed > 0, "the draw shows too little: printed %d, refused %d", printed, refused)
	assert.That(t, refused > 0, "the draw shows too little: printed %d, refused %d", printed, refused)
}

func quoted(words ...string) string {
	for i, word := range words {
		words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return strings.Join(words, " ")
}

// wider returns what the program says or does beyond the bounds of the machine, by docs/settings.md.
func (b bounded) wider(t *testing.T, said []string) (wider []string) {
	t.Helper()
	beyond := func(is bool, what string) {
		if is {
			wider = append(wider, what)
		}
	}
	noTier := b.managed["tier"] == `"v0"` // read is of tier v1
	beyond(b.keeps("secrets", "secrets") && strings.Contains(said[0], boundedKey), "the key is printed")
	beyond(b.keeps("secrets", "secrets") && b.managed["secrets"] == `"block"` && !noTier &&
		!strings.Contains(said[0], "has secrets"), "an answer with a key is not refused")
	beyond(b.keeps("private-tags", "private") && strings.Contains(said[1], "a word about"), "a private note is read")
	beyond(strings.Contains(said[2], "salary"), "a hidden note is read")
	beyond(noTier && (strings.Contains(said[0], "the key is") || strings.Contains(said[1], "a word about")), "a note is read in tier v0")
	var listed []struct {
		Name, Tier, Effect string
		Allowed            bool
	}
	decode(t, said[3], &listed)
	require.That(t, len(listed) > 0, "no command is listed: %q", said[3])
	changes := func(effect string) bool { return effect != "read" && effect != "ui" }
	for _, c := range listed {
		isAllowed := func(bound bool, what string) { beyond(c.Allowed && bound, "commands has "+c.Name+" "+what) }
		isAllowed(noTier && c.Tier != "v0" || b.managed["tier"] == `"v1"` && c.Tier > "v1", "above the tier")
		isAllowed(b.managed["allow-mutations"] != "" && changes(c.Effect), "without changes")
		isAllowed(b.managed["allow-publish"] != "" && (c.Effect == "publish" || c.Name == "web"), "without publishing")
		isAllowed(strings.Contains(b.managed["disable"], `"`+c.Name+`"`), "though it is disabled")
	}
	noAppend := noTier || b.managed["allow-mutations"] != "" || b.managed["disable"] != ""
	var explained struct{ Allowed bool }
	decode(t, said[4], &explained)
	beyond(explained.Allowed && noAppend, "explain allows append")
	var rights struct {
		Read, Change, Delete struct {
			Allowed bool
			Why     string
		}
	}
	decode(t, said[5], &rights)
	beyond(b.keeps("private-tags", "private") && (rights.Read.Allowed || rights.Change.Allowed || rights.Delete.Allowed), "access allows a private note")
	beyond(noTier && rights.Read.Allowed || noAppend && rights.Change.Allowed, "access allows what the machine does not")
	var planned struct{ Decision string }
	decode(t, said[6], &planned)
	beyond(noAppend && planned.Decision != "deny", "a dry run decides "+planned.Decision)
	beyond(!noAppend && b.managed["confirm"] != "" && planned.Decision == "allow", "a dry run asks for no approval")
	return wider
}

// decode reads the JSON in an answer, which can have notices before it.
func decode(t *testing.T, answer string, into any) {
	t.Helper()
	at := strings.IndexAny(answer, "{[")
	require.That(t, at >= 0, "no JSON: %q", answer)
	err := json.NewDecoder(strings.NewReader(answer[at:])).Decode(into)
	require.That(t, err == nil, "%v: %q", err, answer)
}
