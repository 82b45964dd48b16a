package http_test

import (
	"io"
	osexec "os/exec"
	"strings"
	"testing"

	"vaultwicket/tests/rig"
)

// A server asks the user at the terminal of the client, who sees what the server would show its
// owner; anything but a yes changes nothing.
func TestAServerAsksAtTheTerminalOfItsClient(t *testing.T) {
	r := rig.New(t, map[string]string{"a.md": "one\n", "b.md": "one\n", "c.md": "one\n"})
	server := r.OverHTTP()
	for _, test := range []struct {
		note, typed string
		gone        bool
	}{{"a.md", "n\n", false}, {"b.md", "\n", false}, {"c.md", "y\n", true}} {
		c := osexec.Command("/bin/sh", "-c", `exec "$0" "$@" 2>/dev/tty`, rig.Binary, "run", "--url=http://"+server.Addr+"/mcp", "delete", "path="+test.note)
		c.Env = []string{"HOME=" + t.TempDir(), "TERM=dumb", "VAULTWICKET_TOKEN=" + rig.Token}
		user := rig.StartAtTerminal(t, c)
		if _, err := user.WriteString(test.typed); err != nil {
			t.Fatal(err)
		}
		err := c.Wait()
		shown, _ := io.ReadAll(user) // to the end, which is an error of a terminal
		if !strings.Contains(string(shown), `removes: "`+test.note+`"`) || !strings.Contains(string(shown), "Allow this?") {
			t.Errorf("typed %q: shown %s", test.typed, shown)
		}
		if gone := r.Read(test.note) == ""; gone != test.gone || (err == nil) != test.gone || !test.gone && !strings.Contains(string(shown), "Cancelled. Nothing was changed.") {
			t.Errorf("typed %q: %v, gone %v, shown %s", test.typed, err, gone, shown)
		}
	}
}
