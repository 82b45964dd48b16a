package audit

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// bytesRead returns how many bytes this process has read.
func bytesRead(t *testing.T) (n int64) {
	t.Helper()
	text := string(require.Value(os.ReadFile("/proc/self/io"))(t))
	first, _, _ := strings.Cut(text, "\n")
	_, err := fmt.Sscanf(first, "rchar: %d", &n)
	require.NoError(t, err)
	return n
}

func TestTheNewestLinesOfALongLogTakeAsLittleAsOfAShortOne(t *testing.T) {
	read := map[int]int64{}
	for _, count := range []int{2_000, 15_000} {
		l := countedLines(t, count)
		before := bytesRead(t)
		got := callsOf(t, l.folder.dir, Filter{Limit: 100})
		read[count] = bytesRead(t) - before
		assert.Equal(t, len(got), 100)
	}
	assert.That(t, read[15_000] <= read[2_000]+2*partSize, "%d bytes of a long log, %d of a short one", read[15_000], read[2_000])
}
