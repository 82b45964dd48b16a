package journal

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Mark is a file in the folder of a vault's journal that names a change while it is made. If no process is
// making the change, it was interrupted. There are two marks, because a change of one file may be made beside a
// change of several files, see [Turn]. The zero Mark is no mark.
type Mark struct {
	journal *Journal
	file    string
	// isDurable is set if the mark must survive a crash of the system.
	isDurable bool
}

const (
	unfinishedFile = "unfinished"
	singleFile     = "unfinished-single"
)

// Mark returns the mark for a change by a caller with [Journal.Alone], or with the lock of the process that
// called it.
func (j *Journal) Mark() Mark { return Mark{journal: j, file: unfinishedFile} }

// BesideMark returns the mark for a change of one file by a caller with [Journal.Beside].
func (j *Journal) BesideMark() Mark { return Mark{journal: j, file: singleFile} }

// Durable returns the mark in a form that survives a crash of the system. Without it, the newest entry
// identifies an interrupted change, which is not enough if there may be two.
func (m Mark) Durable() Mark {
	m.isDurable = true
	return m
}

// Set records that the change with the id is about to be made. The caller must call [Mark.Clear] after
// recording its outcome.
func (m Mark) Set(id string) error {
	name := m.journal.folder.file(m.file)
	file, err := m.journal.sys.Create(name)
	if err != nil {
		return unusable(name, err)
	}
	_, err = file.Write([]byte(id + makingSuffix))
	if err == nil && m.isDurable {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil && m.isDurable {
		err = m.journal.sys.SyncFolder(m.journal.folder.dir)
	}
	return unusable(name, err)
}

// Keep makes a mark durable that another caller has set. It does nothing if the mark was cleared, because its
// change has ended.
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

// SetTakingBack records that the marked change is being undone.
func (m Mark) SetTakingBack(id string) error {
	name := m.journal.folder.file(m.file)
	file, err := m.journal.sys.Open(name, os.O_RDWR)
	if err != nil {
		return unusable(name, err)
	}
	_, err = file.WriteAt([]byte(undoingSuffix), int64(len(id)))
	return unusable(name, errors.Join(err, file.Sync(), file.Close()))
}

// Suffixes of the id of a change that is being made, or undone. They have the same length, so that one can
// overwrite the other on a full disk.
const (
	makingSuffix  = "     "
	undoingSuffix = " back"
)

// Clear records that the change has ended.
func (m Mark) Clear() {
	if m.journal != nil {
		_ = m.journal.sys.Remove(m.journal.folder.file(m.file))
	}
}

// IsSet reports whether the mark names a change.
func (m Mark) IsSet() bool { return m.journal.has(m.file) }

// read returns the id of the marked change, which may be truncated, and whether it is being undone.
func (m Mark) read() (id string, isUndoing bool, err error) {
	name := m.journal.folder.file(m.file)
	text, err := os.ReadFile(name)
	if err != nil {
		return "", false, unusable(name, err)
	}
	id, isUndoing = strings.CutSuffix(string(text), undoingSuffix)
	return strings.TrimSpace(id), isUndoing, nil
}

// HasUnfinished reports whether a change or a batch is being made, or was interrupted.
func (j *Journal) HasUnfinished() bool {
	return j.Mark().IsSet() || j.BesideMark().IsSet() || j.has(batchFile)
}

func (j *Journal) has(name string) bool {
	_, err := os.Lstat(j.folder.file(name))
	return err == nil
}

// BrokenOff is a change that was interrupted before its outcome was recorded.
type BrokenOff struct {
	Entry
	TakingBack bool // it was being undone, and nobody was told that it was made
}

// BrokenOff returns the change that the mark names, nil if there is none or it has ended. If no process is
// making it, it was interrupted. For [Journal.Mark], the first call of a process also checks the newest entry,
// because the mark may be lost after a crash of the system.
func (m Mark) BrokenOff(ctx context.Context) (*BrokenOff, error) {
	j := m.journal
	isMarked := m.IsSet()
	isFirst := m.file == unfinishedFile && !j.checkedNewest.Swap(true)
	if !isMarked && !isFirst {
		return nil, nil
	}
	id := ""
	isUndoing := false
	if isMarked {
		var err error
		id, isUndoing, err = m.read()
		if errors.Is(err, fs.ErrNotExist) { // its change has just ended
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	if _, err := ParseID(id); err != nil { // the mark is truncated or missing
		if id, err = j.newestBegun(); err != nil || id == "" {
			return nil, err
		}
	}
	e, err := j.Entry(ctx, id)
	if err == nil && e.Batch != "" && e.Batch != id { // an operation of a batch is interrupted together with it
		whole, batchErr := j.Entry(ctx, e.Batch)
		if batchErr == nil && slices.Contains(whole.Parts, id) {
			e = whole
		}
	}
	if _, isUnknown := errors.AsType[*Unknown](err); isUnknown {
		return nil, nil // it was never begun
	}
	if err != nil || e.State != Begun {
		return nil, err
	}
	return &BrokenOff{e, isUndoing}, nil
}
