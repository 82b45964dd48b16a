//go:build unix

package vault_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/date"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// childVariable turns the test binary into the program itself.
const childVariable = "VAULT_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		syscall.Exit(vault.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)) // os.Exit lets the race detector sleep for a second
	}
	embedded.Main(m)
}

// stateHome is the place of the journal of all processes of a test.
func stateHome(t *testing.T) string {
	dir := filepath.Join(os.TempDir(), "vaultwicket-test-"+strconv.Itoa(os.Getpid()), filepath.Base(t.Name()))
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(dir)) })
	return dir
}

// child is the program in a process of its own.
type child struct {
	process       *os.Process
	stdin, stdout *os.File // our ends
	lifeline      *os.File
}

func start(t *testing.T, lifelineNumber string, args ...string) *child {
	t.Helper()
	inRead, inWrite := pipe(t)
	outRead, outWrite := pipe(t)
	lifeRead, lifeWrite := pipe(t)
	process := require.Value(os.StartProcess(os.Args[0], append(os.Args[:1:1], args...), &os.ProcAttr{
		Env: []string{childVariable + "=1", vault.LifelineVariable + "=" + lifelineNumber,
			date.NowVariable + "=" + embedded.Saturday, "XDG_STATE_HOME=" + stateHome(t)},
		Files: []*os.File{inRead, outWrite, os.Stderr, lifeRead},
	}))(t)
	for _, theirs := range []*os.File{inRead, outWrite, lifeRead} {
		theirs.Close()
	}
	return &child{process, inWrite, outRead, lifeWrite}
}

func pipe(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { read.Close(); write.Close() })
	return read, write
}

func (c *child) wait(t *testing.T) (status int, stdout string) {
	t.Helper()
	var out bytes.Buffer
	_, err := io.Copy(&out, c.stdout)
	assert.NoError(t, err)
	return require.Value(c.process.Wait())(t).ExitCode(), out.String()
}

func TestACutLifelineEndsTheProcess(t *testing.T) {
	h := embedded.New(t, nil)
	c := start(t, "3", h.Dir, "--write", "--stdin", "content", "daily:append")
	require.Value(c.stdin.WriteString("half a sentence"))(t)
	c.lifeline.Close() // standard input stays open: only this can end it
	status, out := c.wait(t)
	assert.Equal(t, status, answer.ExitFailed, "status %d", status)
	assert.Equal(t, out, "", "status %d", status)
	h.Expect(answer.ExitDone, "0\n", "files", "total")
}

func TestWithAWholeLifelineTheProcessDoesItsWork(t *testing.T) {
	// A number that names nothing, or something else, is as good as none.
	children, vaults := map[string]*child{}, map[string]*embedded.Vault{}
	for _, number := range []string{"3", "", "0", "-1", "x", "4", "99", "99999999999999999999"} {
		vaults[number] = embedded.New(t, nil)
		children[number] = start(t, number, vaults[number].Dir, "--write", "--stdin", "content", "daily:append")
	}
	for number, c := range children {
		require.Value(c.stdin.WriteString("text"))(t)
		c.stdin.Close()
		defer func() {
			status, out := c.wait(t)
			assert.Equal(t, status, answer.ExitDone, "lifeline %q: status %d", number, status)
			assert.Equal(t, out, "Added to: 2026-11-21.md\n", "lifeline %q: status %d", number, status)
			assert.Equal(t, vaults[number].Get("2026-11-21.md"), "text", "lifeline %q: the note became", number)
		}()
	}
}

func TestManyProcessesAppendToOneNote(t *testing.T) {
	const processes = 8
	h := embedded.New(t, nil)
	var children []*child
	for range processes {
		children = append(children, start(t, "3", h.Dir, "--write", "daily:append", "content=line"))
	}
	for _, c := range children {
		status, out := c.wait(t)
		assert.That(t, status == answer.ExitDone, "status %d, %q", status, out)
	}
	assert.Equal(t, len(h.Get("2026-11-21.md")), processes*len("line\n")-1, "the note became")
}
