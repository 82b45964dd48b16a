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

// Report is the result of [Verify].
type Report struct {
	Files int `json:"files"` // retained files
	Lines int `json:"lines"` // lines that follow the chain, up to the first that does not
	// First and Last are the numbers of the first and the last of these lines. First is greater than
	// 1 if older files were removed for their age.
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	// Since is the time of the first readable line, zero if there is none.
	Since time.Time `json:"since,omitzero"`
	// Hash is the SHA-256 of the line Last, in hexadecimal. A copy of both that is kept elsewhere
	// reveals later whether the log was rewritten.
	Hash string `json:"hash"`
	// Gaps is how often the end of the log was repaired after a crash. Torn is the number of bytes at
	// its end that the next write will repair.
	Gaps int   `json:"gaps"`
	Torn int64 `json:"torn"`
	// Missed is how many lines could not be written, for example because the disk was full: those
	// that the log reports, and those that it has yet to report. Waiting is how many refusals are
	// stored until there is room.
	Missed  uint64 `json:"missed,omitempty"`
	Waiting int    `json:"waiting,omitempty"`
	// Broken is the first break, nil if there is none.
	Broken *Break `json:"broken,omitempty"`
}

// Break is a place where the log is damaged, and the reason.
type Break struct {
	File string `json:"file"` // its name in the folder
	Line int    `json:"line"` // counted from 1; 0 if the whole file is meant
	Why  string `json:"why"`  // text for people
}

// Verify checks the whole log in the folder dir. A missing or empty folder is valid. An error means
// that the log could not be checked: it is an *[Unusable], a *[Busy], or the error of ctx once it is
// done.
func Verify(ctx context.Context, dir string) (Report, error) { return verifyEach(ctx, dir, nil) }

// verifyEach is like [Verify], and calls each, unless it is nil, with every line that follows the
// chain.
func verifyEach(ctx context.Context, dir string, each func(point)) (Report, error) {
	p := folder{dir}
	s, err := p.openSnapshot(0)
	if err != nil {
		return Report{}, err
	}
	defer s.close()
	if s.content.isEmpty() && s.headReason != "" {
		r := Report{Broken: s.brokenHead()}
		p.addUnwritten(&r)
		return r, nil
	}
	w := walker{at: s.head.start, markOffset: -1, each: each}
	r := Report{Files: len(s.files), First: w.at.seq + 1}
	if r.Broken, err = s.verify(ctx, &w, &r); err != nil {
		return Report{}, unreadable(dir, err)
	}
	if r.Broken == nil && s.headReason == "" {
		r.Broken, err = p.checkKey(s.head.key)
	}
	r.Since = s.firstTime(ctx)
	r.Missed = w.missed
	p.addUnwritten(&r)
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

// addUnwritten adds the lines that the log has yet to report to a report.
func (p folder) addUnwritten(r *Report) {
	reserve, refusals, _ := p.readReserve(ownerfiles.Disk{})
	r.Missed += reserve.Missed
	r.Waiting = bytes.Count(refusals, []byte("\n"))
}

// checkKey returns the break if the key of the digests is not the one with the given fingerprint, nil if
// it is.
func (p folder) checkKey(fingerprint string) (*Break, error) {
	k, err := p.readKey()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Break{File: keyFile, Why: fileMissing}, nil
	case errors.Is(err, errBadKey):
		return &Break{File: keyFile, Why: err.Error()}, nil
	case err != nil:
		return nil, unusable(p.file(keyFile), err)
	case k.fingerprint() != fingerprint:
		return &Break{File: keyFile, Why: keyReplaced}, nil
	}
	return nil, nil
}

// firstTime returns the time of the first readable line, zero if there is none.
func (s *snapshot) firstTime(ctx context.Context) time.Time {
	for i, file := range s.files {
		for line, err := range s.lines(ctx, i, 0, file.size, Filter{}) {
			if err == nil {
				return line.Time
			}
		}
	}
	return time.Time{}
}

// brokenHead returns the break for a missing or unreadable head, nil if there is none. Without any
// files a missing head is valid: the log has not begun.
func (s *snapshot) brokenHead() *Break {
	if s.headReason == "" || s.headReason == headMissing && s.content.isEmpty() {
		return nil
	}
	return &Break{File: headFile, Why: s.headReason}
}

// verify follows the chain through all files and returns the first break, nil if there is none.
func (s *snapshot) verify(ctx context.Context, w *walker, r *Report) (*Break, error) {
	if b := s.brokenHead(); b != nil {
		return b, nil
	}
	// Find the first file that is missing, or that should not exist.
	next := s.head.firstFile
	for _, f := range s.files {
		if f.number != 0 && f.number != next {
			if f.number > s.head.fileNumber {
				return &Break{File: f.name, Why: unknownRotated}, nil
			}
			return &Break{File: rotatedName(next), Why: fileMissing}, nil
		}
		if f.number != 0 {
			next++
		}
	}
	switch {
	case next < s.head.fileNumber:
		return &Break{File: rotatedName(next), Why: fileMissing}, nil
	case next > s.head.fileNumber+1:
		return &Break{File: rotatedName(next - 1), Why: unknownRotated}, nil
	case next == s.head.fileNumber && !s.content.hasCurrent && s.head.size > 0:
		return &Break{File: currentFile, Why: fileMissing}, nil
	}
	// The head describes the current file, or one that has been rotated since.
	marked := slices.IndexFunc(s.files, func(f snapshotFile) bool { return f.number == s.head.fileNumber || f.number == 0 })
	for i, f := range s.files {
		w.markOffset = -1
		if i == marked {
			w.markOffset = s.head.size
		}
		if err := w.walk(ctx, f.name, f.file, 0, f.size); err != nil {
			return nil, err
		}
		if b := s.check(w, f, i == marked); b != nil {
			return b, nil
		}
		if w.looseOffset >= 0 {
			r.Torn = f.size - w.looseOffset
		}
	}
	if s.head.firstBreak != 0 {
		return &Break{File: headFile, Why: breakNotKept}, nil
	}
	return nil, nil
}

// check returns the break in the file that was just walked, nil for none. isMarked reports whether
// it is the file that the head describes.
func (s *snapshot) check(w *walker, f snapshotFile, isMarked bool) *Break {
	isBehind := f.number == 0 && (!isMarked || w.looseOffset >= s.head.size)
	switch {
	case w.firstBreak != nil && (w.looseOffset < 0 || w.firstBreak.Line <= w.misfit.Line):
		return w.firstBreak
	case w.looseOffset >= 0 && !isBehind:
		return &w.misfit
	case w.foreign != nil:
		return w.foreign
	case !isMarked:
		return nil
	case !w.hasMark:
		return &Break{f.name, 0, fileShorter}
	case w.markPoint != s.head.end:
		return &Break{f.name, w.markLine, lastChanged}
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

// linesIn yields the lines of a file between two offsets. Once ctx is done it yields the error of ctx
// and stops.
func linesIn(ctx context.Context, in io.ReaderAt, from, to int64) iter.Seq2[ownerfiles.Line, error] {
	return func(yield func(ownerfiles.Line, error) bool) {
		for line, err := range ownerfiles.Lines(in, from, to, maxLine) {
			if ctxErr := ctx.Err(); err == nil && ctxErr != nil {
				yield(ownerfiles.Line{}, ctxErr)
				return
			}
			if !yield(line, err) {
				return
			}
		}
	}
}

// unreadable is like unusable for an error of linesIn, but returns errors of a context unchanged.
func unreadable(what string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return unusable(what, err)
}

// walker follows the chain through files, the oldest first. The caller sets at and markOffset.
type walker struct {
	at   point       // the last line that follows the chain
	each func(point) // called with every line that does; nil for none
	file string      // name of the file with the line at
	line int         // number of that line in the file

	in         io.ReaderAt
	lastOffset int64 // offset of the line at
	endOffset  int64 // offset after it
	isOpen     bool  // it has no newline

	// looseOffset is the offset of the first text after the line at that does not follow the chain, -1 for
	// none. It may be the remains of incomplete writes, which a later gap explains.
	looseOffset int64
	misfit      Break  // the reason why the text at looseOffset does not follow
	foreign     *Break // the first valid line in that text that does not follow
	// firstBreak is the first break that a line records, firstBreakSeq the number of that line.
	firstBreak    *Break
	firstBreakSeq uint64
	lines         int
	gaps          int
	missed        uint64 // lines that could not be written, as gaps report

	markOffset int64 // the offset at which a line should end; -1 for none
	hasMark    bool  // a line ended there
	markPoint  point // that line
	markLine   int   // its number in the file
}

// walk follows the chain in a file between two offsets.
func (w *walker) walk(ctx context.Context, name string, in io.ReaderAt, from, to int64) error {
	w.in = in
	w.endOffset = from
	w.looseOffset = -1
	w.isOpen = false
	w.foreign = nil
	if w.markOffset == from {
		w.hasMark = true
		w.markPoint = w.at
	}
	for r, err := range linesIn(ctx, in, from, to) {
		if err != nil {
			return err
		}
		l, ok := readLink(r.Text)
		ok = ok && json.Valid(r.Text) // a truncated line has a valid beginning
		reason := ""                  // the reason, if the line records a break
		if ok && l.kind == kindBreak {
			if line, isWhole := parse(r.Text); isWhole && line.Repair != nil {
				reason = line.Repair.Why
			}
			if w.firstBreak == nil {
				w.firstBreak = &Break{name, r.Number, reason}
				w.firstBreakSeq = l.seq
			}
		}
		follows := ok && l.seq == w.at.seq+1 && l.prev == w.at.hash
		if follows && (w.looseOffset < 0 || w.isExplained(l, r)) {
			if missed := missedIn(l, r.Text); missed > 0 {
				w.missed += missed
			} else if l.kind == kindGap {
				w.gaps++
			}
			w.at = point{l.seq, sha256.Sum256(r.Text)}
			w.file = name
			w.line = r.Number
			w.lastOffset = r.At
			w.endOffset = r.End
			w.isOpen = !r.Whole
			w.looseOffset = -1
			w.foreign = nil
			w.lines++
			if w.each != nil {
				w.each(w.at)
			}
			if r.End == w.markOffset {
				w.hasMark = true
				w.markPoint = w.at
				w.markLine = r.Number
			}
			continue
		}
		// Find the reason why this line does not follow, and which line is to blame.
		misfit := Break{w.file, w.line, "was changed, or the next line's hash of it was"}
		switch {
		case !ok:
			misfit = Break{name, r.Number, "is not a line of this log"}
		case l.kind == kindBreak:
			misfit = Break{name, r.Number, reason}
		case l.seq == 1 && l.prev == point{}.hash:
			misfit = Break{name, r.Number, "starts a second log"}
		case l.seq != w.at.seq+1:
			misfit = Break{name, r.Number, fmt.Sprintf("has number %d, expected %d", l.seq, w.at.seq+1)}
		case w.lines == 0:
			misfit = Break{name, r.Number, "does not follow the line before it"}
		}
		if w.looseOffset < 0 {
			w.looseOffset = r.At
			w.misfit = misfit
		}
		if ok && w.foreign == nil {
			w.foreign = &misfit
		}
	}
	return nil
}

// missedIn returns how many lines could not be written according to a line, 0 unless it is a gap of
// that kind.
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

// isExplained reports whether r is a gap that covers all text since looseOffset.
func (w *walker) isExplained(l link, r ownerfiles.Line) bool {
	if l.kind != kindGap {
		return false
	}
	line, ok := parse(r.Text)
	if !ok || line.Repair == nil || line.Repair.Torn != r.At-w.looseOffset {
		return false
	}
	sum, err := sumOf(w.in, w.looseOffset, r.At, "")
	return err == nil && sum == line.Repair.Sum
}

// sumOf returns the SHA-256, in hexadecimal, of a part of a file followed by suffix.
func sumOf(in io.ReaderAt, from, to int64, suffix string) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(in, from, to-from)); err != nil {
		return "", err
	}
	_, _ = io.WriteString(sum, suffix)
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// The reasons for a break. They contain no text from outside.
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
