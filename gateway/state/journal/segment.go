package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"vaultwicket/gateway/state/journal/object"
	"vaultwicket/gateway/state/private"
)

// The ends of names. Each begins with the number of its segment in ten digits;
// an object's name goes on with its hash.
const (
	segmentEnd = ".lines"
	objectEnd  = ".object"
	halfEnd    = ".half" // what is being written

	numberDigits = 10
)

func segmentName(number uint64) string {
	return fmt.Sprintf("%0*d%s", numberDigits, number, segmentEnd)
}

func objectName(number uint64, hash string) string {
	return fmt.Sprintf("%0*d-%s%s", numberDigits, number, hash, objectEnd)
}

// segment is one segment as it lies on the disk.
type segment struct {
	number  uint64
	size    int64 // of the lines
	objects int64 // of the files beside it
	files   []string
	last    time.Time // when it was last written to
}

// survey is what lies in the folder.
type survey struct {
	segments []segment // by number
	halves   []string
}

// survey looks at the folder. What does not look like ours is not ours.
func (p place) survey() (survey, error) {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return survey{}, unusable(p.dir, err)
	}
	var s survey
	byNumber := map[uint64]int{}
	for _, e := range entries { // sorted: a segment's own file stands behind its objects
		number, end, ok := parseName(e.Name())
		if !ok {
			continue
		}
		if end == halfEnd {
			s.halves = append(s.halves, e.Name())
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = private.CheckFile(p.file(e.Name()), info)
		}
		if err != nil {
			return survey{}, unusable(p.file(e.Name()), err)
		}
		at, known := byNumber[number]
		if !known {
			at = len(s.segments)
			byNumber[number] = at
			s.segments = append(s.segments, segment{number: number})
		}
		s.segments[at].add(e.Name(), end, info)
	}
	slices.SortFunc(s.segments, func(a, b segment) int {
		if a.number < b.number {
			return -1
		}
		return 1
	})
	return s, nil
}

func (s *segment) add(name, end string, info fs.FileInfo) {
	s.files = append(s.files, name)
	if end == objectEnd {
		s.objects += info.Size()
	} else {
		s.size = info.Size()
	}
	if info.ModTime().After(s.last) {
		s.last = info.ModTime()
	}
}

// parseName returns the number in a name of ours, and what its end says it is.
func parseName(name string) (number uint64, end string, ok bool) {
	if len(name) < numberDigits {
		return 0, "", false
	}
	number, err := strconv.ParseUint(name[:numberDigits], 10, 64)
	if err != nil {
		return 0, "", false
	}
	for _, end := range []string{segmentEnd, objectEnd, halfEnd} {
		rest, has := strings.CutSuffix(name[numberDigits:], end)
		if has && (rest == "") == (end == segmentEnd) {
			return number, end, end != objectEnd || object.IsHash(strings.TrimPrefix(rest, "-"))
		}
	}
	return 0, "", false
}
