package settings

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vaultwicket/gateway"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// watched is a watch on a file in a world where time is made.
type watched struct {
	t              *testing.T
	file           string
	looks, reloads atomic.Int32
	asked          chan os.Signal
}

// watchIn runs story while a watch is looking at a file.
func watchIn(t *testing.T, story func(w *watched)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.toml")
	require.NoError(t, os.WriteFile(file, []byte("a"), 0o600))
	synctest.Test(t, func(t *testing.T) {
		w := &watched{t: t, file: file, asked: make(chan os.Signal, 1)}
		look := lookAt(file)
		counting := func() []fs.FileInfo { w.looks.Add(1); return look() }
		ctx, cancel := context.WithCancel(context.Background())
		go (&watch{look: counting, seen: look(), asked: w.asked}).run(ctx, func() { w.reloads.Add(1) })
		story(w)
		cancel()
		synctest.Wait()
	})
}

func (w *watched) after(d time.Duration, wantReloads int) {
	w.t.Helper()
	time.Sleep(d)
	synctest.Wait()
	got := int(w.reloads.Load())
	assert.That(w.t, got == wantReloads, "read %d times, want %d", got, wantReloads)
}

func (w *watched) write(content string) {
	require.NoError(w.t, os.WriteFile(w.file, []byte(content), 0o600))
}

func TestAFileIsLookedAtTwiceASecond(t *testing.T) {
	watchIn(t, func(w *watched) {
		w.after(lookEvery-time.Millisecond, 0)
		if got := w.looks.Load(); got != 0 {
			t.Errorf("looked %d times in the first moment", got)
		}
		w.after(10*time.Second, 0)
		if got := w.looks.Load(); got != 20 {
			t.Errorf("looked %d times in ten seconds", got)
		}
	})
}

func TestAFileIsReadWhenItHasSettled(t *testing.T) {
	watchIn(t, func(w *watched) {
		w.write("")
		w.after(lookEvery, 0) // seen, and it may be half written
		w.write("ab")
		w.after(settleFor, 0)
		w.after(settleFor, 1)
		w.after(10*time.Second, 1)
	})
}

func TestAFileThatGoesAndComes(t *testing.T) {
	watchIn(t, func(w *watched) {
		require.NoError(w.t, os.Remove(w.file))
		w.after(lookEvery, 0)
		w.after(settleFor, 1)
		w.write("back")
		w.after(lookEvery+settleFor, 2)
		w.after(10*time.Second, 2)
	})
}

func TestAFileThatIsAsItWasIsNotReadAgain(t *testing.T) {
	watchIn(t, func(w *watched) {
		other := w.file + ".away"
		require.NoError(w.t, os.Rename(w.file, other))
		w.after(lookEvery, 0)
		require.NoError(w.t, os.Rename(other, w.file))
		w.after(10*time.Second, 0)
	})
}

func TestASignalReadsAtOnce(t *testing.T) {
	watchIn(t, func(w *watched) {
		w.write("abc")
		w.asked <- os.Interrupt
		w.after(0, 1)
		w.after(10*time.Second, 1) // and not once more because the file had changed
	})
}

// An edit acts within a second, whenever it is made.
func TestAnEditIsReadWithinASecond(t *testing.T) {
	for phase := time.Duration(0); phase <= lookEvery; phase += lookEvery / 10 {
		watchIn(t, func(w *watched) {
			w.after(3*lookEvery+phase, 0)
			w.write("an edit")
			w.after(time.Second-50*time.Millisecond, 1)
		})
	}
}

// TestCallsGoOnWhileSettingsAreRead is for the race detector: calls are judged
// while the policy changes under them.
func TestCallsGoOnWhileSettingsAreRead(t *testing.T) {
	const loose = "tier = \"v3\"\nallow-mutations = true\n[[vaults]]\nname = \"A\"\n[vaults.access]\n\"/\" = \"rwd\"\n[[vaults]]\nname = \"B\"\n"
	const strict = "tier = \"v0\"\nrate = 1000\n[[vaults]]\nname = \"A\"\n[vaults.access]\n\"Private\" = \"none\"\n"
	file := writeSettings(t, loose)
	std := world(nil)
	f := NewFlags("serve")
	s, _, err := f.Load(std, []string{"--config=" + file})
	require.NoError(t, err)
	g := gateway.New(gateway.Config{Vaults: s.Served, Backend: s.Backend, Limits: s.Limits, Disabled: !s.Enabled, Session: "1-a", Getenv: std.Getenv, Log: s.Logger(std.Err)})
	r := newReloader(g, f, s, std, s.Logger(std.Err))

	stop := make(chan struct{})
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				for _, listed := range g.Listing() {
					if listed.Denial != nil {
						_ = listed.Denial.Hint()
					}
				}
			}
		})
	}
	for _, content := range []string{strict, loose, "tier = ", strict} {
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		r.reload(nil)
	}
	close(stop)
	calls.Wait()
	open := allowed(g)
	assert.That(t, !open["daily:append"] && !open["files"] && open["daily:read"], "open is %v", open)
}

func allowed(g *gateway.Gateway) map[string]bool {
	open := map[string]bool{}
	for _, listed := range g.Listing() {
		open[listed.Name] = listed.Denial == nil
	}
	return open
}
