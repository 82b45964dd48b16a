//go:build linux || darwin

package audit

import (
	"fmt"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// limitFiles lets the system refuse larger files to this process: the nearest
// there is to a full disk.
func limitFiles(largest string) {
	size := uint64(0)
	if n, _ := fmt.Sscan(largest, &size); n == 0 {
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	_ = syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit)
	limit.Cur = size
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		panic(err)
	}
}

func TestAFullDisk(t *testing.T) {
	for size := 5_000; size < 5_700; size += 61 {
		l := newLog(t, childLimits)
		said := &strings.Builder{}
		cmd := start(t, l.folder.dir, said, "COUNT=40", fmt.Sprintf("LARGEST=%d", size))
		require.NoError(t, cmd.Wait())
		wrote, failed := strings.Count(said.String(), "wrote "), strings.Count(said.String(), "error ")
		require.That(t, wrote != 0, "limit %d: %s", size, said)
		require.That(t, failed != 0, "limit %d: %s", size, said)
		require.Equal(t, wrote+failed, 40, "limit %d: %s", size, said)
		// Nothing half is left, and there is nothing to repair.
		r := verified(t, l)
		require.That(t, r.Broken == nil, "limit %d: %+v, %d were promised", size, r, wrote)
		require.Equal(t, r.Torn, 0, "limit %d: %+v, %d were promised", size, r, wrote)
		require.Equal(t, r.Gaps, 0, "limit %d: %+v, %d were promised", size, r, wrote)
		require.Equal(t, r.Lines, wrote, "limit %d: %+v, %d were promised", size, r, wrote)
		writeAll(t, l, 1, 1)
		wantWhole(t, l, wrote+1)
	}
}
