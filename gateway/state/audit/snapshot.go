package audit

import (
	"errors"
	"io/fs"
	"os"

	"vaultwicket/gateway/state/private"
)

// snapshot is the log as it was at one moment. Up to the sizes that the files had
// nothing changes in them any more.
type snapshot struct {
	content content
	head    head
	why     string // there is no head, "" if there is
	files   []snapshotFile
}

type snapshotFile struct {
	name   string
	number uint64 // 0 for the present file
	file   *os.File
	size   int64
}

// accept opens all files of a log, the oldest first. Of a folder that is missing
// it returns none.
func (p folder) takeSnapshot() (s *snapshot, err error) {
	if err := unusable(p.dir, private.CheckFolder(p.dir)); errors.Is(err, fs.ErrNotExist) {
		return &snapshot{why: headMissing}, nil
	} else if err != nil {
		return nil, err
	}
	unlock, err := p.lockToRead()
	if err != nil {
		return nil, err
	}
	defer unlock()
	s = &snapshot{}
	if err := s.fill(p); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *snapshot) fill(p folder) (err error) {
	if s.content, err = p.list(); err != nil {
		return err
	}
	if s.head, s.why, err = p.readHead(); err != nil {
		return err
	}
	for _, number := range s.content.rotated {
		// One below the first was to be removed.
		if s.why == "" && number < s.head.first {
			continue
		}
		if err := s.open(p, rotatedName(number), number); err != nil {
			return err
		}
	}
	if !s.content.current {
		return nil
	}
	return s.open(p, currentFile, 0)
}

func (s *snapshot) open(p folder, name string, number uint64) error {
	file, err := private.Open(p.file(name), os.O_RDONLY)
	if err != nil {
		return unusable(p.file(name), err)
	}
	s.files = append(s.files, snapshotFile{name, number, file, 0})
	info, err := file.Stat()
	if err != nil {
		return unusable(p.file(name), err)
	}
	s.files[len(s.files)-1].size = info.Size()
	return nil
}

func (s *snapshot) close() {
	for _, f := range s.files {
		_ = f.file.Close()
	}
}
