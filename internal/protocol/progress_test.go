package protocol

import (
	"context"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
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
	}
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
