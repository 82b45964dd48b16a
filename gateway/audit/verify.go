package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Report is what [Verify] has found.
type Report struct {
	Files int `json:"files"` // that are kept
	Lines int `json:"lines"` // that fit, up to the first that does not
	// First and Last are the numbers of the first and the last of these lines.
	// First is more than 1 if older files were removed for their age.
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	// Since is the time of the first line that can be read, zero if there is none.
	Since time.Time `json:"since,omitzero"`
	// Hash is the SHA-256 of the last of these lines, in hexadecimal. A copy of it
	// kept elsewhere, with its number, shows later whether the log was rewritten.
	Hash string `json:"hash"`
	// Gaps is how often the end of the log was repaired after a crash. Torn is
	// how many bytes are at the end of it that the next write will repair.
	Gaps int   `json:"gaps"`
	Torn int64 `json:"torn"`
	// Missed is how many lines could not be written, as on a full disk: as the lines say, and those that
	// wait to be counted in one. Waiting is how many refusals are kept until there is room.
	Missed  uint64 `json:"missed,omitempty"`
	Waiting int    `json:"waiting,omitempty"`
	// Broken is what is wrong first, nil if nothing is.
	Broken *Break `json:"broken,omitempty"`
}

// Break says where a log is broken.
type Break struct {
	File string `json:"file"` // its name in the folder
	Line int    `json:"line"` // counted from 1; 0 if it is about the file
	Why  string `json:"why"`  // a sentence for people
}

// Verify checks all of the log in the folder dir. A missing or empty folder is valid. The error,
// an *[Unusable], a *[Busy], or that of ctx once it has ended, means that it could not be checked.
func Verify(ctx context.Context, dir string) (Report, error) { return verifyEach(ctx, dir, nil) }

// verifyEach is [Verify], and calls each with every line that fits, unless it is nil.
func verifyEach(ctx context.Context, dir string, each func(point)) (Report, error) {
	p := folder{dir}
	s, err := p.takeSnapshot(0)
	if err != nil {
		return Report{}, err
	}
	defer s.close()
	if s.content.isEmpty() && s.why != "" {
		return Report{Broken: s.brokenHead()}, nil
	}
	w := walker{at: s.head.start, mark: -1, each: each}
	r := Report{Files: len(s.files), First: w.at.seq + 1}
	if r.Broken, err = s.verify(ctx, &w, &r); err != nil {
		return Report{}, unreadable(dir, err)
	}
	if r.Broken == nil && s.why == "" {
		switch k, wrong := p.readKey(); {
		case errors.Is(wrong, fs.ErrNotExist):
			r.Broken = &Break{File: keyFile, Why: fileMissing}
		case errors.Is(wrong, errBadKey):
			r.Broken = &Break{File: keyFile, Why: wrong.Error()}
		case wrong != nil:
			err = unusable(p.file(keyFile), wrong)
		case k.print() != s.head.key:
			r.Broken = &Break{File: keyFile, Why: keyReplaced}
		}
	}
	for i := 0; i < len(s.files) && r.Since.IsZero(); i++ { // the first line of the oldest file that has one
		for line, err := range s.lines(ctx, i, 0, s.files[i].size, Filter{}) {
			if err == nil {
				r.Since = line.Time
				break
			}
		}
	}
	left, refusals, _ := p.readReserve()
	r.Missed = w.missed + left.Missed
	r.Waiting = bytes.Count(refusals, []byte("\n"))
	r.Lines = w.lines
	r.Gaps = w.gaps
	r.Last = w.at.seq
	r.Hash = hex.EncodeToString(w.at.hash[:])
	if r.Lines == 0 {
		r.First = 0
		r.Last = 0
		r.Hash = ""
		r.Since = time.Time{}
	}
	return r, err
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
func (s *snapshot) verify(ctx context.Context, w *walker, r *Report) (*Break, error) {
	if b := s.brokenHead(); b != nil {
		return b, nil
	}
	// The first file that is to be there and is not, or the other way round.
	next := s.head.first
	for _, f := range s.files {
		if f.number != 0 && f.number != next {
			if f.number > s.head.number {
				return &Break{File: f.name, Why: unknownRotated}, nil
			}
			return &Break{File: rotatedName(next), Why: fileMissing}, nil
		}
		if f.number != 0 {
			next++
		}
	}
	switch {
	case next < s.head.number:
		return &Break{File: rotatedName(next), Why: fileMissing}, nil
	case next > s.head.number+1:
		return &Break{File: rotatedName(next - 1), Why: unknownRotated}, nil
	case next == s.head.number && !s.content.current && s.head.size > 0:
		return &Break{File: currentFile, Why: fileMissing}, nil
	}
	// Which file the head speaks of: the present one, or one that was rotated since.
	marked := slices.IndexFunc(s.files, func(f snapshotFile) bool { return f.number == s.head.number || f.number == 0 })
	for i, f := range s.files {
		w.mark = -1
		if i == marked {
			w.mark = s.head.size
		}
		if err := w.walk(ctx, f.name, f.file, 0, f.size); err != nil {
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

// check returns the fault in the file that was just walked, nil for none.
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

// String returns the place of the break and its reason.
func (b *Break) String() string {
	if b.Line == 0 {
		return fmt.Sprintf("%s: %s", b.File, b.Why)
	}
	return fmt.Sprintf("%s, line %d: %s", b.File, b.Line, b.Why)
}

// linesIn yields the lines of a file between two offsets. Once ctx has ended it yields the error of that.
func linesIn(ctx context.Context, in io.ReaderAt, from, to int64) iter.Seq2[ownerfiles.Line, error] {
	return func(yield func(ownerfiles.Line, error) bool) {
		for line, err := range ownerfiles.Lines(in, from, to, maxLine) {
			if ended := ctx.Err(); err == nil && ended != nil {
				yield(ownerfiles.Line{}, ended)
				return
			}
			if !yield(line, err) {
				return
			}
		}
	}
}

// unreadable is [unusable] for an error of [linesIn]: that of a context is returned as it is.
func unreadable(what string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return unusable(what, err)
}

// walker follows the chain through files, the oldest first.
type walker struct {
	at   point       // the last line that fits
	each func(point) // nil for none
	file string
	line int // its place

	in   io.ReaderAt
	last int64 // where it begins
	end  int64 // the offset after it
	open bool  // it has no end of line

	// Bytes that do not fit begin at loose, -1 for none. They may be the rest of lines that were
	// never finished, which a gap explains.
	loose   int64
	misfit  Break
	foreign *Break // a line of a log that is there
	// broke is the first break that a line records.
	broke    *Break
	brokeSeq uint64
	lines    int
	gaps     int
	missed   uint64 // lines that could not be written

	mark    int64 // an offset that a line is to end at
	marked  bool
	atMark  point
	markNum int // the line there
}

// walk reads a file between two offsets.
func (w *walker) walk(ctx context.Context, name string, in io.ReaderAt, from, to int64) error {
	w.in = in
	w.end = from
	w.loose = -1
	w.open = false
	w.foreign = nil
	if w.mark == from {
		w.marked = true
		w.atMark = w.at
	}
	for r, err := range linesIn(ctx, in, from, to) {
		if err != nil {
			return err
		}
		l, ok := readLink(r.Text)
		ok = ok && json.Valid(r.Text) // one that was cut short begins well
		why := ""                     // of a line that records a break
		if ok && l.kind == kindBreak {
			if line, whole := parse(r.Text); whole && line.Repair != nil {
				why = line.Repair.Why
			}
			if w.broke == nil {
				w.broke = &Break{name, r.Number, why}
				w.brokeSeq = l.seq
			}
		}
		follows := ok && l.seq == w.at.seq+1 && l.prev == w.at.hash
		if follows && (w.loose < 0 || w.isExplained(l, r)) {
			if missed := missedIn(l, r.Text); missed > 0 {
				w.missed += missed
			} else if l.kind == kindGap {
				w.gaps++
			}
			w.at = point{l.seq, sha256.Sum256(r.Text)}
			w.file = name
			w.line = r.Number
			w.last = r.At
			w.end = r.End
			w.open = !r.Whole
			w.loose = -1
			w.foreign = nil
			w.lines++
			if w.each != nil {
				w.each(w.at)
			}
			if r.End == w.mark {
				w.marked = true
				w.atMark = w.at
				w.markNum = r.Number
			}
			continue
		}
		// Say why a line does not fit, and which line that is.
		here := Break{w.file, w.line, "was changed, or the next line's hash of it was"}
		switch {
		case !ok:
			here = Break{name, r.Number, "is not a line of this log"}
		case l.kind == kindBreak:
			here = Break{name, r.Number, why}
		case l.seq == 1 && l.prev == point{}.hash:
			here = Break{name, r.Number, "starts a second log"}
		case l.seq != w.at.seq+1:
			here = Break{name, r.Number, fmt.Sprintf("has number %d, expected %d", l.seq, w.at.seq+1)}
		case w.lines == 0:
			here = Break{name, r.Number, "does not follow the line before it"}
		}
		if w.loose < 0 {
			w.loose = r.At
			w.misfit = here
		}
		if ok && w.foreign == nil {
			w.foreign = &here
		}
	}
	return nil
}

// missedIn returns how many lines could not be written, by a gap that says so.
func missedIn(l link, text []byte) uint64 {
	if l.kind != kindGap {
		return 0
	}
	line, ok := parse(text)
	if !ok || line.Repair == nil || line.Repair.Torn != 0 {
		return 0
	}
	return line.Repair.Lost
}

// isExplained reports whether r is a gap that explains all that is loose.
func (w *walker) isExplained(l link, r ownerfiles.Line) bool {
	if l.kind != kindGap {
		return false
	}
	line, ok := parse(r.Text)
	if !ok || line.Repair == nil || line.Repair.Torn != r.At-w.loose {
		return false
	}
	sum, err := sumOf(w.in, w.loose, r.At, "")
	return err == nil && sum == line.Repair.Sum
}

// sumOf returns the SHA-256 of a part of a file and what has to follow it.
func sumOf(in io.ReaderAt, from, to int64, more string) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(in, from, to-from)); err != nil {
		return "", err
	}
	_, _ = io.WriteString(sum, more)
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// The reasons of a break. None of it comes from outside.
const (
	headMissing    = "the head is missing"
	headUnreadable = "the head cannot be read"
	keyReplaced    = "the key is not the one that the digests were made with"
	logRestored    = "an older copy of the log was put back while it was in use"
	fileMissing    = "the file is missing"
	fileShorter    = "the file is shorter than the head says"
	fileShorterNew = "the file is shorter than the head says, by lines that were not durable; losing power can do that"
	lastChanged    = "the last line is not the one that the head names"
	rotatedChanged = "the rotated file is not the one that the head names"
	unknownRotated = "there are files that the head does not know"
	unchainedLines = "the last lines do not follow the chain"
	droppedBroken  = "the file that was removed for its age was damaged"
	breakNotKept   = "a break was recorded in a line that is no longer kept"
)
