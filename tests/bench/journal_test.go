package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

const (
	appendedTo = 2 << 10 // bytes of the note before the first append
	appended   = "- a line such as an agent adds to a log\n"
	appends    = 20 // before the note is as it was at first
)

// BenchmarkJournaledAppend measures an append at the pipe of the resident worker,
// which is kept in a journal, checked and can be taken back, against a bare one of
// the same durability: the note with the line is written to a temporary file,
// which is synced, renamed over the note, and the folder is synced.
func BenchmarkJournaledAppend(b *testing.B) {
	b.Setenv("XDG_STATE_HOME", b.TempDir())
	vault, bare := b.TempDir(), filepath.Join(b.TempDir(), "Log.md")
	note := filepath.Join(vault, "Log.md")
	text := []byte(strings.Repeat("Two high waters a day, fifty minutes later each time.\n", appendedTo/54+1))[:appendedTo-1]
	text = append(text, '\n')
	w := startWorker(b, program(b, "vaultwicket"), vault)
	words := []string{"--facts", "--write", "append", "path=Log.md", "content=" + appended}
	var ours, theirs []time.Duration
	for n := 0; b.Loop(); n++ {
		if n%appends == 0 {
			write(b, note, text)
			write(b, bare, text)
		}
		ours = append(ours, timed(func() { w.call(words) }))
		theirs = append(theirs, timed(func() { appendBare(b, bare) }))
	}
	got, err := os.ReadFile(note)
	require.Equal(b, err, nil, "the note is %.80q", got)
	require.That(b, bytes.HasPrefix(got, text), "the note is %.80q", got)
	require.That(b, strings.HasSuffix(string(got), appended), "the note is %.80q", got)
	against(b, "append", ours, "bare", theirs)
}

func write(b *testing.B, name string, text []byte) {
	require.NoError(b, os.WriteFile(name, text, 0o644))
}

// appendBare adds the line to a file as durably as can be without a journal.
func appendBare(b *testing.B, name string) {
	text := require.Value(os.ReadFile(name))(b)
	folder := require.Value(os.Open(filepath.Dir(name)))(b)
	defer folder.Close()
	temp, err := os.OpenFile(name+".tmp", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	require.NoError(b, err)
	for _, do := range []func() error{
		func() error { _, err := temp.Write(append(text, appended...)); return err },
		temp.Sync, temp.Close,
		func() error { return os.Rename(temp.Name(), name) },
		folder.Sync,
	} {
		require.NoError(b, do())
	}
}
