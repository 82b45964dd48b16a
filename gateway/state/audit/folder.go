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
	presentFile = "audit.jsonl" // the one that is written to
	headFile    = "head.json"
	lockFile    = "audit.lock"
	newEnd      = ".new" // of a file that is not yet what it will be
)

// olderName is the name of a file that was laid aside, counted from 1.
func olderName(number uint64) string { return fmt.Sprintf("audit-%06d.jsonl", number) }

// olderNumber reads such a name, in the one way that it is written.
func olderNumber(name string) (number uint64, ok bool) {
	digits, _ := strings.CutPrefix(name, "audit-")
	digits, _ = strings.CutSuffix(digits, ".jsonl")
	number, err := strconv.ParseUint(digits, 10, 63)
	return number, err == nil && number > 0 && olderName(number) == name
}

// survey is what lies in the folder.
type survey struct {
	older   []uint64 // the numbers of the files that were laid aside, rising
	present bool
}

func (s survey) isEmpty() bool { return !s.present && len(s.older) == 0 }

func (p place) survey() (survey, error) {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return survey{}, unusable(p.dir, err)
	}
	var s survey
	for _, entry := range entries {
		if number, ok := olderNumber(entry.Name()); ok {
			s.older = append(s.older, number)
		}
		s.present = s.present || entry.Name() == presentFile
	}
	slices.Sort(s.older)
	return s, nil
}

// prepare creates the folder if it is missing, and returns an error unless it
// belongs to this user alone.
func (l *Log) prepare() error {
	return unusable(l.place.dir, private.MakeFolder(l.sys, l.place.dir))
}

// replace writes a small file so that at any moment there is all of it, or of
// the one before.
func (l *Log) replace(name string, text []byte) error {
	_, err := private.Replace(l.sys, l.place.file(name+newEnd), l.place.file(name), text, time.Time{})
	return err
}
