package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// synchronizesByGit runs the command of the service once in each of two clones of a repository: what
// both have changed apart from each other arrives in both, and where both have changed the same line
// neither loses its own.
func synchronizesByGit(t *testing.T, command string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no git or sh here: the service is not run")
	}
	folder := t.TempDir()
	in := func(at, script string) {
		t.Helper()
		c := exec.Command("sh", "-c", script)
		c.Dir = filepath.Join(folder, at)
		c.Env = append(os.Environ(), "HOME="+folder, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@localhost", "GIT_CONFIG_NOSYSTEM=1")
		said, err := c.CombinedOutput()
		require.That(t, err == nil, "%s: %v: %s", script, err, said)
	}
	once := strings.Replace(command, "sleep 300", "break", 1)
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(folder, name))
		return string(text)
	}
	in("",
		"git init -q --bare -b main hub && git clone -q hub one && cd one && printf 'a\\nb\\nc\\n' >Plan.md && git add -A && git commit -qm x && git push -q -u origin HEAD:main && cd .. && git clone -q hub two")
	in("one", "echo new >New.md")
	in("two", "echo more >More.md && rm Plan.md && printf 'a\\nb\\nC\\n' >Plan.md")
	in("one", once)
	in("two", once)
	in("one", once)
	if read("one/More.md") != "more\n" || read("two/New.md") != "new\n" || read("one/Plan.md") != "a\nb\nC\n" {
		t.Errorf("%q, %q, %q", read("one/More.md"), read("two/New.md"), read("one/Plan.md"))
	}
	in("one", "printf 'a\\nb\\none\\n' >Plan.md")
	in("two", "printf 'a\\nb\\ntwo\\n' >Plan.md")
	in("one", once)
	in("two", once)
	in("two", once)
	if read("one/Plan.md") != "a\nb\none\n" || read("two/Plan.md") != "a\nb\ntwo\n" {
		t.Errorf("a line that both have changed: %q, %q", read("one/Plan.md"), read("two/Plan.md"))
	}
}

// The compose file starts the program as its flags are, reachable through the proxy alone and
// without rights that it does not need.
func TestTheComposeFile(t *testing.T) {
	t.Parallel()
	text := require.Value(os.ReadFile(filepath.Join("..", "..", "packaging", "compose", "compose.yaml")))(t)
	type service struct {
		Image, User       string
		Command           []string
		Network           string `yaml:"network_mode"`
		Ports             []string
		ReadOnly          bool     `yaml:"read_only"`
		Drops             []string `yaml:"cap_drop"`
		Options           []string `yaml:"security_opt"`
		Volumes, Profiles []string
	}
	var file struct{ Services map[string]service }
	require.NoError(t, yaml.Unmarshal(text, &file))
	own, proxy := file.Services["vaultwicket"], file.Services["proxy"]
	if own.Ports != nil || own.Network != "service:proxy" || !own.ReadOnly ||
		!slices.Equal(own.Drops, []string{"ALL"}) || !slices.Equal(own.Options, []string{"no-new-privileges:true"}) {
		t.Errorf("vaultwicket is %+v", own)
	}
	registry := harness.JSON(t, decode(t, filepath.Join("..", "..", "packaging", "server.json")))
	assert.That(t, strings.Contains(registry, `"`+own.Image+":"), "the image is %q", own.Image)
	assert.That(t, len(proxy.Ports) != 0, "the proxy is %+v", proxy)
	for _, name := range []string{"syncthing", "obsidian", "git"} { // none runs by itself, or as another user
		s := file.Services[name]
		assert.EqualSlices(t, s.Profiles, []string{name}, "%s is %+v", name, s)
		assert.Equal(t, s.User, "${OWNER:-1000:1000}", "%s is %+v", name, s)
		assert.HasPrefix(t, s.Volumes[0], "${VAULT}:", "%s is %+v", name, s)
	}
	var args []string
	for _, arg := range own.Command {
		args = append(args, strings.ReplaceAll(arg, "${PUBLIC_NAME}", "notes.example"))
	}
	at := slices.Index(args, "--vault")
	require.That(t, at >= 0, "the vault of %q", args)
	require.Equal(t, args[at+1], "/vault", "the vault of %q", args)
	require.That(t, slices.ContainsFunc(own.Volumes, func(v string) bool { return strings.HasSuffix(v, ":/vault") }),
		"the vault of %q", args)
	accepted(t, slices.Delete(args, at, at+2))
	caddy, err := os.ReadFile(filepath.Join("..", "..", "packaging", "compose", "Caddyfile"))
	if err != nil || !strings.Contains(string(caddy), "reverse_proxy "+args[slices.Index(args, "--http")+1]+" ") {
		t.Errorf("the proxy does not pass on to the server: %s, %v", caddy, err)
	}
	synchronizesByGit(t, file.Services["git"].Command[0])
}
