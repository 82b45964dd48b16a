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
	segmentSuffix   = ".lines"
	objectSuffix    = ".object"
	temporarySuffix = ".half" // what is being written

	numberDigits = 10
)

func segmentName(number uint64) string {
	return fmt.Sprintf("%0*d%s", numberDigits, number, segmentSuffix)
}

func objectName(number uint64, hash string) string {
	return fmt.Sprintf("%0*d-%s%s", numberDigits, number, hash, objectSuffix)
}

// segment is one segment as it is on the disk.
type segment struct {
	number  uint64
	size    int64 // of the lines
	objects int64 // of the files next to it
	files   []string
	last    time.Time // when it was last written to
}

// list is what is in the folder.
type content struct {
	segments  []segment // by number
	temporary []string
}

// list looks at the folder. Names that this package does not make are ignored.
func (p folder) list() (content, error) {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return content{}, unusable(p.dir, err)
	}
	var s content
	byNumber := map[uint64]int{}
	for _, e := range entries { // sorted: a segment's own file comes after its objects
		number, end, ok := parseName(e.Name())
		if !ok {
			continue
		}
		if end == temporarySuffix {
			s.temporary = append(s.temporary, e.Name())
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
			return content{}, unusable(p.file(e.Name()), err)
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
	if end == objectSuffix {
		s.objects += info.Size()
	} else {
		s.size = info.Size()
	}
	if info.ModTime().After(s.last) {
		s.last = info.ModTime()
	}
}

// parseName returns the number in a name of this package, and what its end says it is.
func parseName(name string) (number uint64, end string, ok bool) {
	if len(name) < numberDigits {
		return 0, "", false
	}
	number, err := strconv.ParseUint(name[:numberDigits], 10, 64)
	if err != nil {
		return 0, "", false
	}
	for _, end := range []string{segmentSuffix, objectSuffix, temporarySuffix} {
		rest, has := strings.CutSuffix(name[numberDigits:], end)
		if has && (rest == "") == (end == segmentSuffix) {
			return number, end, end != objectSuffix || object.IsHash(strings.TrimPrefix(rest, "-"))
		}
	}
	return 0, "", false
}
