package ownerfiles

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// TestMain is also a server that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("REGISTER_IN"); dir != "" {
		remove, err := RegisterServer(dir, Server{Session: "1-killed"})
		if err != nil {
			os.Exit(1)
		}
		os.Stdout.WriteString("registered\n")
		time.Sleep(time.Hour) // a process that only waits for nothing ends
		remove()
	}
	os.Exit(m.Run())
}

func TestAServerIsListedWhileItRuns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "servers")
	list, err := Servers(dir)
	require.Equal(t, len(list), 0, "%v, %v in no folder", list, err)
	require.Equal(t, err, nil, "%v, %v in no folder", list, err)
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	one := Server{Session: "1-one", PID: 1, Since: begun, Transport: "stdio", Vaults: []string{"Notes"}, CallsMinute: 120}
	two := Server{Session: "2-two", PID: 2, Since: begun.Add(time.Second), Transport: "http"}
	var remove []func()
	for _, s := range []Server{one, two} {
		r := require.Value(RegisterServer(dir, s))(t)
		remove = append(remove, r)
	}
	list, err = Servers(dir)
	if err != nil || len(list) != 2 || list[0].Session != "2-two" || list[1].CallsMinute != 120 ||
		!slices.Equal(list[1].Vaults, one.Vaults) || !list[1].Since.Equal(begun) {
		t.Errorf("%+v, %v", list, err)
	}
	remove[0]()
	list, _ = Servers(dir)
	require.Equal(t, len(list), 1, "%+v after one has ended", list)
	assert.Equal(t, list[0].Session, "2-two", "%+v after one has ended", list)
	remove[1]()
	left, err := os.ReadDir(dir)
	assert.Equal(t, len(left), 0, "%v, %v are left", left, err)
	assert.NoError(t, err, "%v, %v are left", left, err)
}

// A process that is killed removes nothing; its lock ends all the same.
func TestAKilledServerIsNotListed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "servers")
	c := osexec.Command(os.Args[0])
	c.Env = append(os.Environ(), "REGISTER_IN="+dir)
	out := require.Value(c.StdoutPipe())(t)
	require.NoError(t, c.Start())
	defer c.Process.Kill()
	require.Value(out.Read(make([]byte, 20)))(t)
	list, err := Servers(dir)
	assert.Equal(t, len(list), 1, "%v, %v while it runs", list, err)
	assert.NoError(t, err, "%v, %v while it runs", list, err)
	_ = c.Process.Kill()
	_ = c.Wait()
	list, err = Servers(dir)
	assert.Equal(t, len(list), 0, "%v, %v when it was killed", list, err)
	assert.NoError(t, err, "%v, %v when it was killed", list, err)
	left, _ := os.ReadDir(dir)
	assert.That(t, len(left) == 0, "%v are left", left)
}

func TestFilesThatAreNoneAreIgnored(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "servers")
	remove := require.Value(RegisterServer(dir, Server{Session: "1-one"}))(t)
	defer remove()
	for name, text := range map[string]string{"readme": "x", "Upper.json": "{}", "..json": "{}"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "1-one.json"), []byte("{"), 0o600))
	list, err := Servers(dir)
	assert.Equal(t, len(list), 0)
	assert.NoError(t, err)
	for _, name := range []string{"", "a/b", "..", "A"} {
		_, err := RegisterServer(dir, Server{Session: name})
		assert.That(t, err != nil, "session %q is registered", name)
	}
}
