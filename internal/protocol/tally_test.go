package protocol

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

func TestWhenACountIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []Progress
		tally := NewTally(func(p Progress) { told = append(told, p) })
		tally.Found(3000)
		for range 10 {
			tally.Done()
			time.Sleep(firstReportAfter/10 - 1)
		}
		assert.Equal(t, len(told), 0, "a short call tells %v", told)
		time.Sleep(100 * time.Nanosecond)
		for range 100 {
			tally.Done()
		}
		tally.Found(500)
		time.Sleep(reportInterval)
		tally.Done()
		read := []Progress{{11, 3000, FilesRead}, {111, 3500, FilesRead}}
		assert.That(t, slices.Equal(told, read), "told %v, want %v", told, read)
		told = nil
		tally.Changing(7)
		time.Sleep(reportInterval)
		tally.Done()
		want := []Progress{{1, 7, FilesChanged}}
		assert.That(t, slices.Equal(told, want), "told %v, want %v", told, want)
		tally.End()
		time.Sleep(time.Hour)
		tally.Done()
		assert.Equal(t, len(told), 1, "after the end: %v", told)
	})
}

func TestNoMoreIsDoneThanFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []Progress
		tally := NewTally(func(p Progress) { told = append(told, p) })
		time.Sleep(time.Second)
		tally.Done()
		assert.That(t, slices.Equal(told, []Progress{{1, 1, FilesRead}}), "told %v", told)
	})
}

func TestNobodyIsTold(t *testing.T) {
	var none *Tally
	none.Found(1)
	none.Changing(1)
	none.Done()
	none.End()
	assert.That(t, NewTally(nil) == nil, "a tally that tells nobody")
}

func TestManyGoroutinesCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []Progress
		tally := NewTally(func(p Progress) { told = append(told, p) })
		tally.Found(8 * 100)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 100 {
					time.Sleep(20 * time.Millisecond)
					tally.Done()
				}
			})
		}
		all.Wait()
		tally.End()
		assert.That(t, len(told) >= 3, "told %v", told)
		assert.That(t, len(told) <= 5, "told %v", told)
	})
}
