package audit

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// Report is what [Verify] has found.
type Report struct {
	Files int // that are kept
	Lines int // that fit, up to the first that does not
	// First and Last are the numbers of the first and the last of these lines.
	// First is more than 1 if older files were removed for their age.
	First, Last uint64
	// Since is the time of the first line that can be read, zero if there is none.
	Since time.Time
	// Hash is the SHA-256 of the last of these lines, in hexadecimal. A copy of it
	// kept elsewhere, with its number, shows later whether the log was rewritten.
	Hash string
	// Gaps is how often the end of the log was repaired after a crash. Torn is
	// how many bytes are at the end of it that the next write will repair.
	Gaps int
	Torn int64
	// Broken is what is wrong first, nil if nothing is.
	Broken *Break
}

// Break says where a log is broken.
type Break struct {
	File string // its name in the folder
	Line int    // counted from 1; 0 if it is about the file
	Why  string // a sentence for people
}

// Verify checks all of the log in the folder dir and reports what is wrong with
// it. A missing or empty folder is not wrong. An error means
// that it could not be checked: an *[Unusable] or a *[Busy].
func Verify(dir string) (Report, error) {
	p := folder{dir}
	s, err := p.takeSnapshot()
	if err != nil {
		return Report{}, err
	}
	defer s.close()
	if s.content.isEmpty() && s.why != "" {
		return Report{Broken: s.brokenHead()}, nil
	}
	w := walker{at: s.head.start, mark: -1}
	r := Report{Files: len(s.files), First: w.at.seq + 1}
	if r.Broken, err = s.verify(&w, &r); err != nil {
		return Report{}, unusable(dir, err)
	}
	if r.Broken == nil && s.why == "" {
		r.Broken, err = p.verifyKey(s.head)
	}
	r.Since = s.since()
	r.Lines, r.Gaps, r.Last, r.Hash = w.lines, w.gaps, w.at.seq, hex.EncodeToString(w.at.hash[:])
	if r.Lines == 0 {
		r.First, r.Last, r.Hash, r.Since = 0, 0, "", time.Time{}
	}
	return r, err
}

// since returns the time of the first line of the oldest file that has one.
func (s *snapshot) since() time.Time {
	for i := range s.files {
		for line, err := range s.lines(i, Filter{}) {
			if err == nil {
				return line.Time
			}
		}
	}
	return time.Time{}
}

// brokenHead says that there is no head. Without any file a missing one is
// nothing: the log has not begun.
func (s *snapshot) brokenHead() *Break {
	if s.why == "" || s.why == headMissing && s.content.isEmpty() {
		return nil
	}
	return &Break{File: headFile, Why: s.why}
}

// verify follows the chain through all files, and returns the first break.
func (s *snapshot) verify(w *walker, r *Report) (*Break, error) {
	if b := s.brokenHead(); b != nil {
		return b, nil
	}
	if b := s.missing(); b != nil {
		return b, nil
	}
	marked := s.markedFile()
	for i, f := range s.files {
		w.mark = -1
		if i == marked {
			w.mark = s.head.size
		}
		if err := w.walk(f.name, f.file, 0, f.size); err != nil {
			return nil, err
		}
		if b := s.check(w, f, i == marked); b != nil {
			return b, nil
		}
		if w.loose >= 0 {
			r.Torn = f.size - w.loose
		}
	}
	if s.head.broken != 0 {
		return &Break{File: headFile, Why: breakNotKept}, nil
	}
	return nil, nil
}

// check returns what is wrong in the file that was just walked through.
func (s *snapshot) check(w *walker, f snapshotFile, isMarked bool) *Break {
	isBehind := f.number == 0 && (!isMarked || w.loose >= s.head.size)
	switch {
	case w.broke != nil && (w.loose < 0 || w.broke.Line <= w.misfit.Line):
		return w.broke
	case w.loose >= 0 && !isBehind:
		return &w.misfit
	case w.foreign != nil:
		return w.foreign
	case !isMarked:
		return nil
	case !w.marked:
		return &Break{f.name, 0, fileShorter}
	case w.atMark != s.head.end:
		return &Break{f.name, w.markNum, lastChanged}
	}
	return nil
}

// missing returns the first file that is to be there and is not, or the other
// way round.
func (s *snapshot) missing() *Break {
	next := s.head.first
	for _, f := range s.files {
		if f.number != 0 && f.number != next {
			if f.number > s.head.number {
				return &Break{File: f.name, Why: unknownRotated}
			}
			return &Break{File: rotatedName(next), Why: fileMissing}
		}
		if f.number != 0 {
			next++
		}
	}
	switch {
	case next < s.head.number:
		return &Break{File: rotatedName(next), Why: fileMissing}
	case next > s.head.number+1:
		return &Break{File: rotatedName(next - 1), Why: unknownRotated}
	case next == s.head.number && !s.content.current && s.head.size > 0:
		return &Break{File: currentFile, Why: fileMissing}
	}
	return nil
}

// markedFile returns which file the head speaks of: the present one, or one that
// was rotated since.
func (s *snapshot) markedFile() int {
	for i, f := range s.files {
		if f.number == s.head.number || f.number == 0 {
			return i
		}
	}
	return -1
}

func (p folder) verifyKey(h head) (*Break, error) {
	k, err := p.readKey()
	var bad *badKey
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Break{File: keyFile, Why: fileMissing}, nil
	case errors.As(err, &bad):
		return &Break{File: keyFile, Why: bad.Error()}, nil
	case err != nil:
		return nil, unusable(p.file(keyFile), err)
	case k.print() != h.key:
		return &Break{File: keyFile, Why: keyReplaced}, nil
	}
	return nil, nil
}

// String says where the break is, and what it is.
func (b *Break) String() string {
	if b.Line == 0 {
		return fmt.Sprintf("%s: %s", b.File, b.Why)
	}
	return fmt.Sprintf("%s, line %d: %s", b.File, b.Line, b.Why)
}
