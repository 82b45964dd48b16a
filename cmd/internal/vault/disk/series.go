package disk

import (
	"bytes"
	"io/fs"
	"strings"
	"sync"

	"vaultwicket/cmd/internal/vault/disk/system"
)

// series is the state of changes that become durable together.
type series struct {
	ready   map[Path]prepared
	folders map[string]bool // that have names to make durable
}

// prepared is the text of a note in a temporary file next to it.
type prepared struct {
	temp string
	text []byte
	perm fs.FileMode
}

// waiting is how many files or folders are made durable at once. Each waits for the disk, which
// does the work of several in the time of one.
const waiting = 16

// Series returns the same open folder for changes that are made one after the other. texts are
// those of notes that Swap is going to replace: they are written and made durable beforehand,
// several at once. What cannot be prepared is written when its turn comes, as without a series.
//
// end has to be called once after the last change, with whether all were made: it makes their
// names durable, each folder once, or removes what was prepared in vain. Its error is an
// *[Unsettled].
func (f *Folder) Series(texts map[Path][]byte) (g *Folder, end func(made bool) error) {
	one := *f
	one.series = &series{ready: map[Path]prepared{}, folders: map[string]bool{}}
	var mu sync.Mutex
	var each work
	for p, text := range texts {
		each.do(func() {
			dir, err := f.parent(p)
			if err != nil {
				return
			}
			defer dir.Close()
			info, err := f.in(dir).info(p.base())
			if err != nil || mayReplace(p, info) != nil || checkSize(p, text) != nil {
				return
			}
			if temp, err := f.stage(dir, text, info.Mode().Perm(), true); err == nil {
				mu.Lock()
				defer mu.Unlock()
				one.series.ready[p] = prepared{temp, text, info.Mode().Perm()}
			}
		})
	}
	each.Wait()
	return &one, func(made bool) (err error) {
		for p, left := range one.series.ready {
			if dir, err := f.parent(p); err == nil {
				_ = f.sys.Remove(dir, left.temp) // otherwise it is swept
				dir.Close()
			}
		}
		if !made {
			return nil
		}
		var each work
		for folder := range one.series.folders {
			each.do(func() {
				dir, failed := f.enter(strings.FieldsFunc(folder, func(r rune) bool { return r == '/' }))
				if failed == nil {
					defer dir.Close()
					failed = f.sys.Sync(dir)
				} else if IsMissing(failed) || system.IsNoName(failed) {
					failed = nil // it was removed since
				}
				if failed != nil {
					mu.Lock()
					defer mu.Unlock()
					err = &Unsettled{folder, failed}
				}
			})
		}
		each.Wait()
		return err
	}
}

// take returns the temporary file that was prepared for a note, "" if none was for this text and
// mode. It is in the folder of the note.
func (s *series) take(p Path, text []byte, perm fs.FileMode) (temp string) {
	if s == nil {
		return ""
	}
	if one := s.ready[p]; one.perm == perm && bytes.Equal(one.text, text) {
		temp = one.temp
		delete(s.ready, p)
	}
	return temp
}

// work runs functions in up to waiting goroutines.
type work struct {
	sync.WaitGroup
	free chan struct{}
}

func (w *work) do(f func()) {
	if w.free == nil {
		w.free = make(chan struct{}, waiting)
	}
	w.free <- struct{}{}
	w.Go(func() {
		defer func() { <-w.free }()
		f()
	})
}
