package audit

import (
	"context"
	"io/fs"
	"os"
	"slices"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Place is where a line is in a log. It stays the same when its file is rotated.
type Place struct {
	File   uint64 // the number of its file, or that it gets when it is rotated
	Offset int64
	Length int32 // with its end
}

// Follower reads what was written to a log since it last looked. It keeps no file open
// and is for one goroutine at a time.
type Follower struct {
	folder folder
	limit  int64 // of bytes that the first look reads
	at     Position
	begun  bool
	seen   fs.FileInfo // the present file at the last look that read all of it, nil before
	first  Place       // where the first look began, without a length; the zero Place if that is the beginning of the log
}

// Position is how far a log was read. The zero Position is before its first line.
type Position struct {
	File   uint64 `json:"file"`
	Offset int64  `json:"offset"`
	Seq    uint64 `json:"seq"` // of the last line, 0 before the first
}

// Follow returns a follower of the log in the folder dir. Its first look reads the last
// limit bytes of what is there, from the beginning of a line. It reads nothing yet.
func Follow(dir string, limit int64) *Follower { return &Follower{folder: folder{dir}, limit: limit} }

// FollowFrom returns a follower of the log in the folder dir that goes on from a position, or from
// the oldest line that is kept if the position is before that.
func FollowFrom(dir string, at Position) *Follower {
	return &Follower{folder: folder{dir}, at: at, begun: true}
}

// Position returns how far the log was read.
func (f *Follower) Position() Position { return f.at }

// Take calls visit with new lines, the oldest first, at most limit of them, 0 for all. visit also gets
// the line as it is written, without its end, which is valid until it returns. Text that is not a line
// is skipped: that is for [Verify]. A missing folder has no lines. The errors are *[Unusable] and
// *[Busy].
func (f *Follower) Take(limit int, visit func(Place, Line, []byte)) error {
	info, err := os.Lstat(f.folder.file(currentFile))
	if err == nil && f.seen != nil {
		if os.SameFile(info, f.seen) && info.Size() == f.at.Offset {
			return nil
		}
	}
	s, err := f.folder.takeSnapshot(f.at.File)
	if err != nil {
		return err
	}
	defer s.close()
	files := s.files
	next := s.content.next()
	if next < f.at.File && !s.content.isEmpty() { // the log was removed, and began anew; without files it may come back
		f.at = Position{Seq: f.at.Seq}
	}
	if s.content.current {
		files[len(files)-1].number = next
	}
	if !f.begun { // it goes to where the last limit bytes begin, and from there to the next line
		left := f.limit
		for _, file := range slices.Backward(files) {
			f.at.File = file.number
			f.at.Offset = 0
			if file.size > left {
				for r := range linesIn(context.Background(), file.file, file.size-left, file.size) {
					f.at.Offset = r.End // 0 after an error, which read reports
					break
				}
				f.first = Place{File: f.at.File, Offset: f.at.Offset}
				break
			}
			left -= file.size
		}
	}
	f.begun = true
	f.seen = nil
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
		f.seen, err = files[len(files)-1].file.Stat()
	}
	return err
}

// read gives the new lines of one file to visit, and counts them down in left until that is 0. The
// last one may be half written, and is left for the next look.
func (f *Follower) read(file snapshotFile, left *int, visit func(Place, Line, []byte)) error {
	if file.number < f.at.File {
		return nil
	}
	if file.number > f.at.File || file.size < f.at.Offset { // another program may have cut it
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

// HasOlder reports whether there was something in the log before the first look.
func (f *Follower) HasOlder() bool { return f.first != Place{} }

// Older returns a reader of what was in the log before the first look of the follower.
func (f *Follower) Older() *Older { return &Older{folder: f.folder, at: f.first} }

// Older reads a log backward, a part at a time. It keeps no file open and is for one goroutine at a time.
type Older struct {
	folder folder
	at     Place // where what was read begins
}

// Take calls visit with the lines of the last size bytes before what was read, the oldest first. more is false once
// the oldest line that is kept was given. The errors are those of [Follower.Take], and that of ctx once it has ended.
func (o *Older) Take(ctx context.Context, size int64, visit func(Place, Line)) (more bool, err error) {
	if o.at == (Place{}) {
		return false, nil
	}
	s, err := o.folder.takeSnapshot(max(o.at.File, 1) - 1)
	if err != nil {
		return false, err
	}
	defer s.close()
	if s.content.current {
		s.files[len(s.files)-1].number = s.content.next()
	}
	if s.content.next() < o.at.File { // the log began anew
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

// read gives the lines of a file that begin in the last size bytes before an offset to visit, and returns where the
// first of them begins.
func (o *Older) read(
	ctx context.Context,
	file snapshotFile,
	to, size int64,
	visit func(Place, Line),
) (from int64, err error) {
	from = max(0, to-size)
	isRest := from > 0 // of a line that begins before
	for r, err := range linesIn(ctx, file.file, from, to) {
		if err != nil {
			return from, unreadable(file.name, err)
		}
		if isRest {
			isRest = false
			if r.End < to { // else the part is too small for a line
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

// At returns the line at a place that [Follower.Take] has given. It is false if it is no
// longer there.
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
