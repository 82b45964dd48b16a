package audit

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"vaultwicket/gateway/state/private"
)

const (
	currentFile     = "audit.jsonl" // the one that is written to
	headFile        = "head.json"
	lockFile        = "audit.lock"
	temporarySuffix = ".new" // of a file that is not yet what it will be
)

// rotatedName is the name of a rotated file, counted from 1.
func rotatedName(number uint64) string { return fmt.Sprintf("audit-%06d.jsonl", number) }

// rotatedNumber reads such a name, in the one way that it is written.
func rotatedNumber(name string) (number uint64, ok bool) {
	digits, _ := strings.CutPrefix(name, "audit-")
	digits, _ = strings.CutSuffix(digits, ".jsonl")
	number, err := strconv.ParseUint(digits, 10, 63)
	return number, err == nil && number > 0 && rotatedName(number) == name
}

// list is what is in the folder.
type content struct {
	rotated []uint64 // the numbers of the rotated files, rising
	current bool
}

func (s content) isEmpty() bool { return !s.current && len(s.rotated) == 0 }

func (p folder) list() (content, error) {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return content{}, unusable(p.dir, err)
	}
	var s content
	for _, entry := range entries {
		if number, ok := rotatedNumber(entry.Name()); ok {
			s.rotated = append(s.rotated, number)
		}
		s.current = s.current || entry.Name() == currentFile
	}
	slices.Sort(s.rotated)
	return s, nil
}

// prepare creates the folder if it is missing, and returns an error unless it
// belongs to this user alone.
func (l *Log) prepare() error {
	return unusable(l.folder.dir, private.MakeFolder(l.sys, l.folder.dir))
}

// replace writes a small file so that at any moment there is all of it, or of
// the one before.
func (l *Log) replace(name string, text []byte) error {
	_, err := private.Replace(l.sys, l.folder.file(name+temporarySuffix), l.folder.file(name), text, time.Time{})
	return err
}
