package system

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// TestMain is also the process that is locked in: the wall can never be taken
// down again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "probe" {
		probe(os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6] == "names")
		return
	}
	os.Exit(m.Run())
}

// probe locks itself into the folder inside and prints what it can still do.
func probe(inside, outside, address, allowed string, names bool) {
	say := func(what string, err error) { fmt.Printf("%s: %v\n", what, err == nil) }
	network := Network{Port: netip.MustParseAddrPort(allowed).Port(), Names: names}
	earlier, err := os.Open(filepath.Join(outside, "secret"))
	say("open before", err)
	fmt.Printf("state: %v\n", Confine([]string{inside, filepath.Join(inside, "missing")}, network))

	_, err = os.ReadFile(filepath.Join(inside, "note.md"))
	say("read inside", err)
	say("write inside", os.WriteFile(filepath.Join(inside, "new.md"), []byte("x"), 0o600))
	err = errors.Join(os.Mkdir(filepath.Join(inside, "folder"), 0o700), os.Rename(filepath.Join(inside, "new.md"), filepath.Join(inside, "folder", "new.md")))
	say("move inside", err)
	say("remove inside", os.Remove(filepath.Join(inside, "folder", "new.md")))

	_, err = os.ReadFile(filepath.Join(outside, "secret"))
	say("read outside", err)
	_, err = os.ReadFile(filepath.Join(inside, "link"))
	say("read through a link", err)
	_, err = os.ReadDir(outside)
	say("list outside", err)
	say("write outside", os.WriteFile(filepath.Join(outside, "new"), []byte("x"), 0o600))
	say("remove outside", os.Remove(filepath.Join(outside, "secret")))
	say("move out", os.Rename(filepath.Join(inside, "note.md"), filepath.Join(outside, "note.md")))
	say("start a process", exec.Command("/bin/true").Run())
	for what, to := range map[string]string{"connect": address, "connect to the allowed port": allowed} {
		conn, err := net.Dial("tcp", to)
		say(what, err)
		if conn != nil {
			conn.Close()
		}
	}
	_, err = os.ReadFile("/etc/hosts")
	say("read what has addresses of names", err)
	_, err = earlier.Read(make([]byte, 1))
	say("read what was open", err)
}

func TestALockedProcessReachesItsFoldersAndNothingElse(t *testing.T) {
	level, err := llsys.LandlockGetABIVersion()
	if err != nil || level < 4 {
		t.Skipf("Landlock of level %d (%v): this test wants files and TCP held", level, err)
	}
	inside, outside := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{filepath.Join(inside, "note.md"): "note", filepath.Join(outside, "secret"): "secret"} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret"), filepath.Join(inside, "link")))
	listener := require.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	allowed := require.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer allowed.Close()
	for kind, readable := range map[string]bool{"names": true, "addresses": false} {
		out, err := exec.Command(os.Args[0], "probe", inside, outside, listener.Addr().String(), allowed.Addr().String(), kind).CombinedOutput()
		require.That(t, err == nil, "%v\n%s", err, out)
		for _, want := range []string{
			"open before: true", "state: landlock ", "read inside: true", "write inside: true", "move inside: true", "remove inside: true",
			"read outside: false", "read through a link: false", "list outside: false", "write outside: false", "remove outside: false",
			"move out: false", "start a process: false", "connect: false", "connect to the allowed port: true", "read what was open: true",
			fmt.Sprintf("read what has addresses of names: %v", readable),
		} {
			assert.That(t, strings.Contains(string(out), want), "%s: want %q in\n%s", kind, want, out)
		}
		require.NoError(t, os.Remove(filepath.Join(inside, "folder")))
	}
	_, err = os.Stat(filepath.Join(outside, "secret"))
	assert.NoError(t, err)
}
