package audit

import (
	"context"
	"io/fs"
	"os"
	"slices"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Place is the position of a line in a log. It stays valid when the file is rotated.
type Place struct {
	File   uint64 // number of the file, for the current one that it gets when it is rotated
	Offset int64
	Length int32 // in bytes, including the newline
}

// Follower reads the lines that were written to a log since its last read. It keeps no file open.
// Only one goroutine at a time may use it.
type Follower struct {
	folder    folder
	limit     int64 // maximum bytes that the first read returns
	at        Position
	isStarted bool
	lastRead  fs.FileInfo // the current file when it was last read to its end, nil before
	firstRead Place       // where the first read began, without a length; zero for the beginning of the log
}

// Position is how far a log has been read. The zero Position is before its first line.
type Position struct {
	File   uint64 `json:"file"`
	Offset int64  `json:"offset"`
	Seq    uint64 `json:"seq"` // number of the last line that was read, 0 before the first
}

// Follow returns a follower of the log in the folder dir. Its first read covers the last limit bytes
// of the existing log, from the beginning of a line. Follow itself reads nothing.
func Follow(dir string, limit int64) *Follower { return &Follower{folder: folder{dir}, limit: limit} }

// FollowFrom returns a follower of the log in the folder dir that continues at a position, or at the
// oldest retained line if that is later.
func FollowFrom(dir string, at Position) *Follower {
	return &Follower{folder: folder{dir}, at: at, isStarted: true}
}

// Position returns how far the log has been read.
func (f *Follower) Position() Position { return f.at }

// Take calls visit with the new lines, the oldest first. It passes at most limit lines; 0 for all.
// visit also receives the raw text of the line without its newline, which is valid until visit
// returns. Text that is not a line is skipped; [Verify] reports it. A missing folder counts as an
// empty log. The errors are *[Unusable] and *[Busy].
func (f *Follower) Take(limit int, visit func(Place, Line, []byte)) error {
	info, err := os.Lstat(f.folder.file(currentFile))
	if err == nil && f.lastRead != nil {
		if os.SameFile(info, f.lastRead) && info.Size() == f.at.Offset {
			return nil
		}
	}
	s, err := f.folder.openSnapshot(f.at.File)
	if err != nil {
		return err
	}
	defer s.close()
	files := s.files
	next := s.content.nextNumber()
	if next < f.at.File && !s.content.isEmpty() {
		// The log was deleted and started again. An empty one is ignored: its files may come back.
		f.at = Position{Seq: f.at.Seq}
	}
	if s.content.hasCurrent {
		files[len(files)-1].number = next
	}
	if !f.isStarted { // skip to the first line that begins in the last limit bytes
		left := f.limit
		for _, file := range slices.Backward(files) {
			f.at.File = file.number
			f.at.Offset = 0
			if file.size > left {
				for r := range linesIn(context.Background(), file.file, file.size-left, file.size) {
					f.at.Offset = r.End // stays 0 after an error, which read then reports
					break
				}
				f.firstRead = Place{File: f.at.File, Offset: f.at.Offset}
				break
			}
			left -= file.size
		}
	}
	f.isStarted = true
	f.lastRead = nil
	left := limit
	for _, file := range files {
		if err := f.read(file, &left, visit); err != nil {
			return err
		}
		if limit > 0 && left == 0 {
			return nil
		}
	}
	if len(files) > 0 {
		f.lastRead, err = files[len(files)-1].file.Stat()
	}
	return err
}

// read passes the new lines of one file to visit. It decrements left for each, and stops when that
// is 0. A last line without a newline may be incomplete; it is left for the next read.
func (f *Follower) read(file snapshotFile, left *int, visit func(Place, Line, []byte)) error {
	if file.number < f.at.File {
		return nil
	}
	if file.number > f.at.File || file.size < f.at.Offset { // another program may have truncated it
		f.at.File = file.number
		f.at.Offset = 0
	}
	for r, err := range linesIn(context.Background(), file.file, f.at.Offset, file.size) {
		if err != nil {
			return unusable(file.name, err)
		}
		if !r.Whole {
			break
		}
		f.at.Offset = r.End
		if line, ok := parse(r.Text); ok {
			f.at.Seq = line.Seq
			visit(Place{file.number, r.At, int32(min(r.End-r.At, maxLine))}, line, r.Text)
			if *left--; *left == 0 {
				break
			}
		}
	}
	return nil
}

// HasOlder reports whether the log contains text before the beginning of the first read.
func (f *Follower) HasOlder() bool { return f.firstRead != Place{} }

// Older returns a reader of the part of the log before the first read of the follower.
func (f *Follower) Older() *Older { return &Older{folder: f.folder, at: f.firstRead} }

// Older reads a log backward, one part at a time. It keeps no file open. Only one goroutine at a time
// may use it.
type Older struct {
	folder folder
	at     Place // beginning of the part that has been read; zero when all of the log has
}

// Take calls visit with the lines in the size bytes before the part that has been read, the oldest
// first. more is false if there was nothing left to read. The errors are those of [Follower.Take],
// and the error of ctx once it is done.
func (o *Older) Take(ctx context.Context, size int64, visit func(Place, Line)) (more bool, err error) {
	if o.at == (Place{}) {
		return false, nil
	}
	s, err := o.folder.openSnapshot(max(o.at.File, 1) - 1)
	if err != nil {
		return false, err
	}
	defer s.close()
	if s.content.hasCurrent {
		s.files[len(s.files)-1].number = s.content.nextNumber()
	}
	if s.content.nextNumber() < o.at.File { // the log was deleted and started again
		o.at = Place{}
		return false, nil
	}
	for _, file := range slices.Backward(s.files) {
		to := file.size
		if file.number == o.at.File {
			to = min(to, o.at.Offset)
		}
		if file.number > o.at.File || to == 0 {
			continue
		}
		from, err := o.read(ctx, file, to, size, visit)
		if err != nil {
			return false, err
		}
		o.at = Place{File: file.number, Offset: from}
		return true, nil
	}
	o.at = Place{}
	return false, nil
}

// read passes the lines of a file to visit that begin in the size bytes before the offset to. It
// returns the offset of the first of them.
func (o *Older) read(
	ctx context.Context,
	file snapshotFile,
	to, size int64,
	visit func(Place, Line),
) (from int64, err error) {
	from = max(0, to-size)
	isPartial := from > 0 // the first piece is the rest of an earlier line
	for r, err := range linesIn(ctx, file.file, from, to) {
		if err != nil {
			return from, unreadable(file.name, err)
		}
		if isPartial {
			isPartial = false
			if r.End < to { // otherwise the part is too small for a whole line
				from = r.End
			}
			continue
		}
		if line, ok := parse(r.Text); ok {
			visit(Place{file.number, r.At, int32(min(r.End-r.At, maxLine))}, line)
		}
	}
	return from, nil
}

// At returns the line at a place that [Follower.Take] passed to visit. ok is false if the line has
// been removed.
func (f *Follower) At(place Place) (Line, bool) {
	for _, name := range []string{rotatedName(place.File), currentFile} {
		file, err := ownerfiles.Open(f.folder.file(name), os.O_RDONLY)
		if err != nil {
			continue
		}
		text := make([]byte, max(0, place.Length-1))
		_, err = file.ReadAt(text, place.Offset)
		_ = file.Close()
		if line, ok := parse(text); err == nil && ok {
			return line, true
		}
		return Line{}, false
	}
	return Line{}, false
}
