package consent

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"vaultwicket/gateway/state/private"
)

const (
	recordSuffix    = ".json"
	temporarySuffix = ".half" // a file that is being written

	// maxFiles is how many names are read. More were not made by this package.
	maxFiles = 4 * maxKept
)

// content is what is in the folder while its lock is held.
type content struct {
	now     time.Time
	live    []StoredQuestion // the oldest first
	expired []StoredQuestion // no longer there
	damaged []*Damaged
}

// readContent reads the folder, and removes expired questions and temporary files of killed
// processes. The caller has the lock.
func (d *Store) readContent() (content, error) {
	folder, err := os.Open(d.dir)
	if err != nil {
		return content{}, unusable(d.dir, err)
	}
	defer folder.Close()
	names, err := folder.Readdirnames(maxFiles + 1)
	if err != nil && err != io.EOF {
		return content{}, unusable(d.dir, err)
	}
	if len(names) > maxFiles {
		return content{}, &Unusable{Store: store, Path: d.dir, Reason: "has too many files"}
	}
	slices.Sort(names)
	s := content{now: d.now()}
	for _, name := range names {
		path := filepath.Join(d.dir, name)
		switch filepath.Ext(name) {
		case temporarySuffix:
			_ = d.system.Remove(path) // it counts for nothing
		case recordSuffix:
			q, err := readQuestion(path)
			var damaged *Damaged
			switch {
			case errors.As(err, &damaged):
				s.damaged = append(s.damaged, damaged)
			case err != nil:
				return content{}, err
			case q.isLive(s.now):
				s.live = append(s.live, q)
			default:
				_ = d.system.Remove(path) // it has expired, wherever it is
				s.expired = append(s.expired, q)
			}
		}
	}
	slices.SortStableFunc(s.live, func(a, b StoredQuestion) int { return a.Made.Compare(b.Made) })
	return s, nil
}

// readQuestion reads the file of a question. Its errors are *[Damaged] for what
// is not the file that was written, and *[Unusable].
func readQuestion(path string) (StoredQuestion, error) {
	name := filepath.Base(path)
	data, err := private.Read(path, maxRecord)
	var unsafe *private.Unsafe
	switch {
	case errors.As(err, &unsafe):
		return StoredQuestion{}, &Damaged{name, unsafe.Reason()}
	case errors.Is(err, fs.ErrPermission):
		return StoredQuestion{}, &Damaged{name, "cannot be read"}
	case err != nil: // it may be readable in a moment, and be a denial
		return StoredQuestion{}, unusable(path, err)
	}
	q, ok := parseQuestion(strings.TrimSuffix(name, recordSuffix), data)
	if !ok {
		return StoredQuestion{}, &Damaged{name, "is not what was written"}
	}
	return q, nil
}

// find returns the question about a call, the zero Question if there is none. If
// there are two, a denial counts more than an approval.
func (s content) find(vault string, digest Digest, session string) (found StoredQuestion) {
	for _, q := range s.live {
		if q.isFor(vault, digest, session) && q.State > found.State {
			found = q
		}
	}
	return found
}

func (s content) byCode(code string) (StoredQuestion, error) {
	for _, q := range s.live {
		if q.Code == displayCode(code) {
			return q, nil
		}
	}
	for _, damaged := range s.damaged {
		if damaged.Name == code+recordSuffix {
			return StoredQuestion{}, damaged
		}
	}
	return StoredQuestion{}, &Unknown{displayCode(code)}
}

func (d *Store) path(shownCode string) string {
	code, _ := parseCode(shownCode)
	return filepath.Join(d.dir, code+recordSuffix)
}

// save writes the file of q atomically. After an error the file, and with it q, may be gone: no
// answer is better than one that was reported as failed.
func (d *Store) save(q StoredQuestion) error {
	data, err := q.encode()
	if err != nil {
		return err
	}
	path := d.path(q.Code)
	half := strings.TrimSuffix(path, recordSuffix) + temporarySuffix
	replaced, err := private.Replace(d.system, half, path, data, time.Time{})
	if replaced && err != nil {
		_ = d.system.Remove(path)
	}
	return unusable(path, err)
}
