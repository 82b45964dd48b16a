package journal

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Mark is a file in the folder of a vault that names a change while it is made. One that is there without a process that makes
// the change belongs to a change that was broken off. There are two, because a change of one file may be made beside one of
// several files, see [Turn]; the zero Mark is none.
type Mark struct {
	journal *Journal
	file    string
	// isDurable says that the mark is not to be lost in a crash of the system.
	isDurable bool
}

const (
	unfinishedFile = "unfinished"
	singleFile     = "unfinished-single"
)

// Mark returns the mark of a change that is made by a caller with [Journal.Alone], or with the lock of its caller.
func (j *Journal) Mark() Mark { return Mark{journal: j, file: unfinishedFile} }

// BesideMark returns the mark of a change of one file by a caller with [Journal.Beside].
func (j *Journal) BesideMark() Mark { return Mark{journal: j, file: singleFile} }

// Durable returns the same mark, which is not lost in a crash of the system once it is set. Without that the newest entry tells
// of a change that was broken off, which is not enough where there may be two.
func (m Mark) Durable() Mark {
	m.isDurable = true
	return m
}

// Set notes that the change with an id is about to be made. The caller calls [Mark.Clear] once its outcome is kept.
func (m Mark) Set(id string) error {
	name := m.journal.folder.file(m.file)
	file, err := m.journal.sys.Create(name)
	if err != nil {
		return unusable(name, err)
	}
	_, err = file.Write([]byte(id + takingForward))
	if err == nil && m.isDurable {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil && m.isDurable {
		err = m.journal.sys.SyncFolder(m.journal.folder.dir)
	}
	return unusable(name, err)
}

// Keep makes a mark durable that another caller has set. One that is gone is no error: its change has ended.
func (m Mark) Keep() error {
	name := m.journal.folder.file(m.file)
	file, err := m.journal.sys.Open(name, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = errors.Join(file.Sync(), file.Close(), m.journal.sys.SyncFolder(m.journal.folder.dir))
	}
	return unusable(name, err)
}

// SetTakingBack notes that the change that is marked is being taken back.
func (m Mark) SetTakingBack(id string) error {
	name := m.journal.folder.file(m.file)
	file, err := m.journal.sys.Open(name, os.O_RDWR)
	if err != nil {
		return unusable(name, err)
	}
	_, err = file.WriteAt([]byte(takingBack), int64(len(id)))
	return unusable(name, errors.Join(err, file.Sync(), file.Close()))
}

// What is behind the id of a change that is being made, and of one that is being taken back. Both are as long, so that a
// disk without room takes the second in the place of the first.
const (
	takingForward = "     "
	takingBack    = " back"
)

// Clear notes that the change has ended.
func (m Mark) Clear() {
	if m.journal != nil {
		_ = m.journal.sys.Remove(m.journal.folder.file(m.file))
	}
}

// IsSet reports whether a change is marked.
func (m Mark) IsSet() bool { return m.journal.has(m.file) }

// read returns the id of the change that is marked, which may be cut off, and whether it is being taken back.
func (m Mark) read() (id string, isTakenBack bool, err error) {
	name := m.journal.folder.file(m.file)
	text, err := os.ReadFile(name)
	if err != nil {
		return "", false, unusable(name, err)
	}
	id, isTakenBack = strings.CutSuffix(string(text), takingBack)
	return strings.TrimSpace(id), isTakenBack, nil
}

// HasUnfinished reports whether a change or a batch is being made, or was broken off.
func (j *Journal) HasUnfinished() bool {
	return j.Mark().IsSet() || j.BesideMark().IsSet() || j.has(batchFile)
}

func (j *Journal) has(name string) bool {
	_, err := os.Lstat(j.folder.file(name))
	return err == nil
}

// BrokenOff is a change that was broken off before its outcome was kept.
type BrokenOff struct {
	Entry
	TakingBack bool // it was being taken back, and nobody was told that it is made
}

// BrokenOff returns the change that the mark names, nil if it names none that has not ended. If no process makes it, it was
// broken off. For [Journal.Mark] the first call of a process also looks at the newest entry: after a crash of the system the mark
// may be lost.
func (m Mark) BrokenOff(ctx context.Context) (*BrokenOff, error) {
	j := m.journal
	marked := m.IsSet()
	first := m.file == unfinishedFile && !j.looked.Swap(true)
	if !marked && !first {
		return nil, nil
	}
	id := ""
	isTakenBack := false
	if marked {
		var err error
		id, isTakenBack, err = m.read()
		if errors.Is(err, fs.ErrNotExist) { // its change has just ended
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	if _, err := ParseID(id); err != nil { // the mark was cut off, or there is none
		if id, err = j.newestBegun(); err != nil || id == "" {
			return nil, err
		}
	}
	e, err := j.Entry(ctx, id)
	if err == nil && e.Batch != "" && e.Batch != id { // a part of a batch is broken off with it
		whole, failed := j.Entry(ctx, e.Batch)
		if failed == nil && slices.Contains(whole.Parts, id) {
			e = whole
		}
	}
	if _, unknown := errors.AsType[*Unknown](err); unknown {
		return nil, nil // it was not even begun
	}
	if err != nil || e.State != Begun {
		return nil, err
	}
	return &BrokenOff{e, isTakenBack}, nil
}
