package consent

import (
	"os"
	osexec "os/exec"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
)

func TestInstallAsksForTheRights(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"\ny\n":    "[agents.cursor]\ntier = \"v0\"\nallow-mutations = false\n",
		"2\ny\n":   "[agents.cursor]\ntier = \"v1\"\nallow-mutations = false\n",
		"3\ny\n\n": "[agents.cursor]\ntier = \"v2\"\nallow-mutations = true\nconfirm = \"writes\"\n",
		"3\nn\n":   "",
		"4\n":      "",
	} {
		r := harness.New(t, agentNotes)
		settings := r.Save()
		before, _ := os.ReadFile(settings)
		c := osexec.Command("/bin/sh", "-c", `exec "$0" "$@" 2>/dev/tty`, harness.Binary, "install", "cursor", "--agent")
		c.Env = []string{"HOME=" + r.Home, "TERM=dumb"}
		shown, err := harness.AtTerminal(t, c, typed)
		after, _ := os.ReadFile(settings)
		added := strings.TrimPrefix(strings.TrimPrefix(string(after), string(before)), "\n")
		assert.Equal(t, added, want, "typed %q: %v, added\n%s\nshown\n%s", typed, err, added, shown)
		assert.Equal(t, err == nil, want != "", "typed %q: %v, added\n%s\nshown\n%s", typed, err, added, shown)
	}
}
