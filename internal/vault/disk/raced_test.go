package disk

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
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
				dir := testenv.MemoryFolder(t)
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
				got := contents(t, filepath.Join(dir, "Private"))
				require.That(t, maps.Equal(got, want), "Private contains %q", got)
				os.RemoveAll(dir)
			}
			t.Logf("%d rounds, %d exchanges, %d changes done", raceRounds, swaps, done)
		})
	}
}

// exchange puts a link to the folder target in the place of the folder name,
// which is called name+" away" from then on.
func exchange(t testing.TB, dir, name, target string) {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(name))
	err := os.Rename(full, full+" away")
	if err == nil {
		// A link that stays inside is one that os.Root follows.
		err = os.Symlink(filepath.Join("..", target), full)
	}
	require.NoError(t, err)
}

// swappedVault is a vault in which the rules hide Private and let no one write
// in Kept. Both hold what the calls of these tests expect, so that nothing but
// the folder tells the right file from the wrong one.
var swappedVault = map[string]string{
	"A/sub/n.md": "same", "A/other.md": "other", "B/sub/x.md": "x",
	"Private/n.md": "same", "Private/x.md": "x", "Kept/n.md": "same", "Kept/x.md": "x", ".trash/gone.md": "same",
}

// changesOfSwapped are calls that concern a file in A/sub or B/sub.
var changesOfSwapped = map[string]func(*Folder) error{
	"swap":    func(f *Folder) error { return swap(f, Path{"A/sub/n.md"}, []byte("same"), []byte("edited")) },
	"make":    func(f *Folder) error { return makeNote(f, Path{"A/sub/made.md"}, []byte("made")) },
	"remove":  func(f *Folder) error { return remove(f, Path{"A/sub/n.md"}, Text([]byte("same"))) },
	"trash":   func(f *Folder) error { _, err := trash(f, Path{"A/sub/n.md"}, Text([]byte("same"))); return err },
	"untrash": func(f *Folder) error { return f.Untrash("gone.md", Path{"A/sub/back.md"}, Text([]byte("same"))) },
	"untrash into new folders": func(f *Folder) error {
		return f.Untrash("gone.md", Path{"A/sub/new/deep/back.md"}, Text([]byte("same")))
	},
	"move out": func(f *Folder) error { return f.Move(Path{"A/sub/n.md"}, Path{"B/moved.md"}, Text([]byte("same"))) },
	"move in": func(f *Folder) error {
		return f.Move(Path{"A/other.md"}, Path{"B/sub/moved.md"}, Text([]byte("other")))
	},
	"move in, nested": func(f *Folder) error {
		return f.Move(Path{"A/other.md"}, Path{"B/sub/new/moved.md"}, Text([]byte("other")))
	},
	"rename":           func(f *Folder) error { return f.Move(Path{"A/sub/n.md"}, Path{"A/sub/other.md"}, Text([]byte("same"))) },
	"rename, the case": func(f *Folder) error { return f.Move(Path{"A/sub/n.md"}, Path{"A/sub/N.md"}, Text([]byte("same"))) },
	"move from folder to folder": func(f *Folder) error {
		return f.Move(Path{"A/sub/n.md"}, Path{"B/sub/n.md"}, Text([]byte("same")))
	},
}

// A folder that is exchanged for a link, at any moment before the file in it is
// changed, leads the change nowhere: the target of the link stays as it is.
func TestAChangeDoesNotFollowAFolderThatBecameALink(t *testing.T) {
	needsLinks(t)
	for name, act := range changesOfSwapped {
		for _, target := range []string{"Private", "Kept"} {
			for _, can := range []faulty{{}, {noMove: true}, {noMove: true, noLink: true}} {
				moments := 0
				for n := 1; n <= moments+1; n++ {
					dir := testenv.MemoryFolder(t)
					plant(t, dir, swappedVault)
					f, calls := openFolder(t, dir), 0
					broken := can
					f.sys = broken.calls(system.Patient)
					f.Interpose(func(string) error {
						if calls++; calls == n {
							exchange(t, dir, "A/sub", target)
							exchange(t, dir, "B/sub", target)
						}
						return nil
					})
					err := act(f)
					moments = max(moments, calls)
					checkBehind(t, dir, name, n, err)
				}
				assert.That(t, moments >= 2, "%s: %d calls, so no moment to exchange a folder", name, moments)
			}
		}
	}
}

// checkBehind looks at what no call may have reached.
func checkBehind(t *testing.T, dir, name string, n int, err error) {
	t.Helper()
	for _, folder := range []string{"Private", "Kept"} {
		want := map[string]string{"n.md": "same", "x.md": "x"}
		got := contents(t, filepath.Join(dir, folder))
		assert.That(t, maps.Equal(got, want), "%s, exchanged before call %d: %v, and %s contains %q", name, n, err, folder, got)
	}
}

// needsLinks skips a test where no symbolic link can be made.
func needsLinks(t testing.TB) {
	t.Helper()
	if err := os.Symlink("x", filepath.Join(t.TempDir(), "link")); err != nil {
		t.Skip(err)
	}
}

// An exchange of the file itself is noticed as well: what was not looked at is
// neither moved nor removed.
func TestAChangeDoesNotTakeAFileThatTookTheName(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open cannot be replaced there")
	}
	changes := map[string]func(*Folder) error{
		"remove": changesOfSwapped["remove"], "trash": changesOfSwapped["trash"],
		"move": changesOfSwapped["move out"], "rename": changesOfSwapped["rename"],
		"untrash": func(f *Folder) error { return f.Untrash("gone.md", Path{"A/back.md"}, Text([]byte("same"))) },
	}
	for name, act := range changes {
		for _, can := range []faulty{{}, {noMove: true}, {noMove: true, noLink: true}} {
			dir := testenv.MemoryFolder(t)
			plant(t, dir, swappedVault)
			f := openFolder(t, dir)
			broken, calls := can, 0
			f.sys = broken.calls(system.Patient)
			f.Interpose(func(string) error {
				if calls++; calls > 1 {
					return nil
				}
				for _, taken := range []string{"A/sub/n.md", ".trash/gone.md"} {
					other := filepath.Join(dir, "other")
					assert.NoError(t, errors.Join(os.WriteFile(other, []byte("secret"), 0o600), os.Rename(other, filepath.Join(dir, taken))))
				}
				return nil
			})
			err := act(f)
			got := contents(t, dir)
			if !errors.Is(err, ErrChanged) || got["A/sub/n.md"] != "secret" || got[".trash/gone.md"] != "secret" || len(got) != len(swappedVault) {
				t.Errorf("%s %+v: %v, %q", name, can, err, got)
			}
		}
	}
}
