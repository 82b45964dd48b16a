package protocol

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestCounts(t *testing.T) {
	for _, tt := range []struct {
		count Progress
		text  string
	}{
		{Progress{120, 3000, FilesRead}, "120 of 3000 files read"},
		{Progress{1, 2, FilesChanged}, "1 of 2 files changed"},
		{Progress{3, 10, Operations}, "3 of 10 operations"},
	} {
		assert.Equal(t, tt.count.String(), tt.text, "%+v", tt.count)
		got, ok := parseProgress(tt.count.Line())
		if want := tt.count.Of != Operations; ok != want || ok && got != tt.count {
			t.Errorf("%q is read as %+v, %v", tt.count.Line(), got, ok)
		}
	}
	for _, line := range []string{
		"", "vaultwicket-progress: ", "vaultwicket-progress: read 1", "vaultwicket-progress: read 1 2 3", "vaultwicket-progress: read -1 2",
		"vaultwicket-progress: read 3 2", "vaultwicket-progress: secret 1 2", "vaultwicket-progress: read 1 99999999999", " vaultwicket-progress: read 1 2",
		"vaultwicket-progress: read 1 2\n\n", "vaultwicket-facts: read 1 2",
	} {
		c, ok := parseProgress(line)
		assert.That(t, !ok, "%q is read as %+v", line, c)
	}
}

// A filter passes on every byte but the lines with counts, in whatever pieces they come.
func TestFilter(t *testing.T) {
	const printed = "one\nvaultwicket-progress: read 1 2\nvaultwicket-progress: read x 2\n\nvaultwicket-prog\nvaultwicket-progress: changed 2 2\ntwo vaultwicket-progress: read 1 1\n" +
		"vaultwicket-facts: {}\nvaultwicket-progress: read 1 "
	const want = "one\nvaultwicket-progress: read x 2\n\nvaultwicket-prog\ntwo vaultwicket-progress: read 1 1\nvaultwicket-facts: {}\nvaultwicket-progress: read 1 "
	for size := 1; size <= len(printed); size++ {
		var out strings.Builder
		var told []Progress
		f := NewProgressFilter(&out, func(c Progress) { told = append(told, c) })
		for piece := range slices.Chunk([]byte(printed), size) {
			n, err := f.Write(piece)
			require.That(t, n == len(piece) && err == nil, "%v %v", n, err)
		}
		require.NoError(t, f.Flush())
		require.That(t, out.String() == want && slices.Equal(told, []Progress{{1, 2, FilesRead}, {2, 2, FilesChanged}}), "in pieces of %d bytes: %q, %v", size, out.String(), told)
	}
}

// A line without an end is not kept in memory.
func TestALongLineIsPassedOn(t *testing.T) {
	var out strings.Builder
	f := NewProgressFilter(&out, func(Progress) { t.Error("a count") })
	count := Progress{1, 2, FilesRead}.Line() // in the middle of the line
	for _, text := range []string{progressMark, strings.Repeat("1", 1000), strings.Repeat("x", 1000), count} {
		require.Value(f.Write([]byte(text)))(t)
	}
	assert.That(t, out.Len() == len(progressMark)+2000+len(count) && len(f.begun) == 0, "%d bytes are passed on, %d kept", out.Len(), len(f.begun))
}

func TestTheContextTells(t *testing.T) {
	ProgressOf(context.Background())(Progress{1, 2, FilesRead}) // no one wants to know
	ProgressOf(WithProgress(context.Background(), nil))(Progress{1, 2, FilesRead})
	var told Progress
	ctx := WithProgress(context.Background(), func(c Progress) { told = c })
	ProgressOf(ctx)(Progress{1, 2, FilesRead})
	assert.Equal(t, told, (Progress{1, 2, FilesRead}), "told")
	told = Progress{}
	ProgressOf(WithProgress(ctx, nil))(Progress{1, 2, FilesRead})
	assert.That(t, told == (Progress{}), "a caller is told who does not want to know any more")
}
