package disk

import (
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"vaultwicket/tests/memory"
)

// raceRounds is how often each change is made while another process exchanges its
// folder for a link and back without a pause.
const raceRounds = 60

// swapper exchanges a folder for a link and back until it is stopped.
type swapper struct {
	folder, away, link string
	stopped            chan struct{}
	done               sync.WaitGroup
	swaps              int
}

func startSwapper(t *testing.T, dir, folder, target string) *swapper {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(folder))
	s := &swapper{folder: full, away: full + " away", link: full + " link", stopped: make(chan struct{})}
	if err := os.Symlink(filepath.Join("..", target), s.link); err != nil {
		t.Skip(err)
	}
	s.done.Go(func() {
		for {
			select {
			case <-s.stopped:
				return
			default:
			}
			if os.Rename(s.folder, s.away) != nil {
				continue
			}
			if os.Rename(s.link, s.folder) == nil {
				s.swaps++
				_ = os.Rename(s.folder, s.link)
			}
			_ = os.Rename(s.away, s.folder)
		}
	})
	return s
}

// stop ends the exchanges and puts the folder back.
func (s *swapper) stop() {
	close(s.stopped)
	s.done.Wait()
}

func TestAChangeBesideExchangesOfItsFolder(t *testing.T) {
	needsLinks(t)
	acts := []string{"move out", "move in", "rename", "rename, the case", "remove", "trash", "untrash", "make", "swap"}
	for _, name := range acts {
		t.Run(name, func(t *testing.T) {
			done, swaps := 0, 0
			for range raceRounds {
				dir := memory.Folder(t)
				plant(t, dir, swappedVault)
				f := openFolder(t, dir)
				one, other := startSwapper(t, dir, "A/sub", "Private"), startSwapper(t, dir, "B/sub", "Private")
				if changesOfSwapped[name](f) == nil {
					done++
				}
				one.stop()
				other.stop()
				f.Close()
				swaps += one.swaps + other.swaps
				want := map[string]string{"n.md": "same", "x.md": "x"}
				if got := contents(t, filepath.Join(dir, "Private")); !maps.Equal(got, want) {
					t.Fatalf("Private contains %q", got)
				}
				os.RemoveAll(dir)
			}
			t.Logf("%d rounds, %d exchanges, %d changes done", raceRounds, swaps, done)
		})
	}
}
