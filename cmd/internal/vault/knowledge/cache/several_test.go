package cache

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"vaultwicket/cmd/internal/vault/disk/system"
	"vaultwicket/tests/assert"
)

// asProcess is the folder for a test binary that is to be one of several users.
const asProcess = "CACHE_TEST_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asProcess); dir != "" {
		if err := use(dir, 60); err != nil {
			fmt.Fprintln(os.Stderr, err)
			syscall.Exit(1)
		}
		syscall.Exit(0) // os.Exit lets the race detector sleep for a second
	}
	os.Exit(m.Run())
}

type failure struct{ sentence string }

func (f *failure) Errorf(format string, args ...any) {
	if f.sentence == "" {
		f.sentence = fmt.Sprintf(format, args...)
	}
}

// use opens, reads and updates the cache in dir, as others do at the same time.
func use(dir string, times int) error {
	f := &failure{}
	for range times {
		c := Open(dir, testVault, testProgram)
		u := c.Update()
		var files []file
		for n := range 30 {
			for state := int64(1); state <= 3; state++ {
				files = append(files, fileOf(fmt.Sprintf("note %d.md", n), state, n*n*n))
			}
		}
		for _, file := range files {
			r, ok := c.Find(file.path, file.stamp)
			if !ok {
				continue
			}
			// There are locks here, so that nothing is ever harmed.
			if text, facts := file.check(f, c); !text || facts != r.HasFacts() {
				f.Errorf("%s: text %v, facts %v", file.path, text, facts)
			}
			if rand.IntN(3) > 0 {
				u.Keep(file.path, r)
			}
		}
		for range 5 {
			file := files[rand.IntN(len(files))]
			found := file.found()
			if rand.IntN(2) == 0 {
				found.Facts = ""
			}
			if rand.IntN(4) == 0 {
				found.Filter = ""
			}
			u.Put(file.path, file.stamp, file.text(), found)
		}
		if rand.IntN(5) == 0 {
			u.Discard()
		} else if next, err := u.Commit(); err == nil {
			next.Close()
		} else if u != nil && !errors.Is(err, system.ErrInUse) {
			// Where a file cannot be removed while another process looks at it, a
			// commit that has waited for too long keeps nothing.
			f.Errorf("commit: %v", err)
		}
		c.Close()
	}
	if f.sentence != "" {
		return fmt.Errorf("%s", f.sentence)
	}
	return nil
}

func TestSeveralProcessesAtOnce(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			assert.NoError(t, use(dir, 60))
		})
		all.Go(func() {
			command := exec.Command(os.Args[0])
			command.Env = append(os.Environ(), asProcess+"="+dir)
			if out, err := command.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	assert.Equal(t, len(glob(t, dir, "*.pack")), 1, "packs")
}

func TestSeveralGoroutinesFillOneUpdate(t *testing.T) {
	dir, files := t.TempDir(), someFiles(400)
	save(t, dir, files[:200]...)
	c := open(t, dir)
	u := c.Update()
	var all sync.WaitGroup
	for part := range 4 {
		all.Go(func() {
			for i := part; i < len(files); i += 4 {
				f := files[i]
				r, ok := c.Find(f.path, f.stamp)
				switch {
				case !ok:
					u.Put(f.path, f.stamp, f.text(), f.found())
				case i%3 == 0:
					u.AddFacts(f.path, r, f.facts())
				default:
					f.check(t, c)
					u.Keep(f.path, r)
				}
			}
		})
	}
	all.Wait()
	next := commit(t, u)
	for range 4 {
		all.Go(func() { checkAll(t, next, files...) })
	}
	all.Wait()
}

func TestReadersThatEndEarlyDisturbNobody(t *testing.T) {
	dir, files := t.TempDir(), someFiles(200)
	save(t, dir, files...)
	c := Open(dir, testVault, testProgram)
	records := make([]Record, len(files))
	for i, f := range files {
		records[i], _ = c.Find(f.path, f.stamp)
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			c.Texts(records, func(i int, text []byte, ok bool) {
				if ok && string(text) != string(files[i].text()) {
					t.Errorf("%s: wrong text", files[i].path)
				}
			})
		})
	}
	c.Close()
	all.Wait()
}
