package protocol

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

func TestWhenACountIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		tally := NewTally(&out)
		tally.Found(3000)
		for range 10 {
			tally.Done()
			time.Sleep(tellAfter/10 - 1)
		}
		assert.That(t, out.Len() <= 0, "a short call tells %q", out.String())
		time.Sleep(100 * time.Nanosecond)
		for range 100 {
			tally.Done()
		}
		tally.Found(500)
		time.Sleep(tellApart)
		tally.Done()
		const read = "vaultwicket-progress: read 11 3000\nvaultwicket-progress: read 111 3500\n"
		assert.Equal(t, out.String(), read, "told")
		out.Reset()
		tally.Changing(7)
		time.Sleep(tellApart)
		tally.Done()
		want := "vaultwicket-progress: changed 1 7\n"
		assert.That(t, out.String() == want, "told %q, want %q", out.String(), want)
		tally.End()
		time.Sleep(time.Hour)
		tally.Done()
		assert.That(t, strings.Count(out.String(), "\n") == 1, "after the end: %q", out.String())
	})
}

func TestNoMoreIsDoneThanFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		tally := NewTally(&out)
		time.Sleep(time.Second)
		tally.Done()
		assert.That(t, out.String() == "vaultwicket-progress: read 1 1\n", "told %q", out.String())
	})
}

func TestNobodyIsTold(t *testing.T) {
	var none *Tally
	none.Found(1)
	none.Changing(1)
	none.Done()
	none.End()
}

func TestManyGoroutinesCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		tally := NewTally(&out)
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
		n := strings.Count(out.String(), "\n")
		assert.That(t, n >= 3 && n <= 5 && strings.Count(out.String(), "vaultwicket-progress: read ") == n, "told %q", out.String())
	})
}
