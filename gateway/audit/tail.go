package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// tail is the current file, and what is known of it.
type tail struct {
	file, record ownerfiles.File // the current file and that of the head
	head         head
	text, next   [headSize]byte // of the head, as it is in its file, and as it is written
	fileInfo     fs.FileInfo
	recordInfo   fs.FileInfo

	size int64 // of the current file
	last int64 // where the last line of the chain begins
	end  point // that line
	// What has to be written before the next line: the newline of a torn line, and the record of
	// it.
	unclosed bool
	repairs  []Line
	dropped  bool // files are to be removed once the head says so
}

func (t *tail) close() error {
	var err error
	for _, h := range []ownerfiles.File{t.file, t.record} {
		if h != nil {
			err = errors.Join(err, h.Close())
		}
	}
	return err
}

// isClean reports whether the head matches the file.
func (t *tail) isClean() bool {
	matches := t.size == t.head.size && t.end == t.head.end
	return matches && !t.unclosed && len(t.repairs) == 0
}

// openTail finds out where the log ends. It may be called only under the lock.
func (l *Log) openTail() (*tail, error) {
	if l.tail != nil && l.isCurrent(l.tail) {
		return l.tail, nil
	}
	if err := l.closeTail(); err != nil {
		return nil, err
	}
	t := &tail{}
	if err := l.findTail(t); err != nil {
		_ = t.close()
		return nil, err
	}
	l.tail = t
	return t, nil
}

// findTail reads everything again, and records in t what has to be repaired.
func (l *Log) findTail(t *tail) error {
	if err := l.prepare(); err != nil {
		return err
	}
	k, err := l.findKey()
	if err != nil {
		return err
	}
	l.makeReserve()
	there, err := l.folder.list()
	if err != nil {
		return err
	}
	why, err := l.findHead(t, there, k)
	if err != nil {
		return err
	}
	if t.head.end.seq < l.seen.seq || t.head.end.seq == l.seen.seq && t.head.end != l.seen {
		why = logRestored
	}
	if aside, err := l.finishRotation(&t.head, there); err != nil {
		return err
	} else if aside != "" && why == "" {
		why = aside
	}
	was := t.head
	shown, err := l.findFile(t)
	if err != nil {
		return err
	}
	if why == "" {
		why = shown
	}
	if t.head.key != k.print() {
		t.head.key = k.print()
		if why == "" {
			why = keyReplaced
		}
	}
	if why == "" {
		why, err = t.adopt()
		if err != nil || why == "" {
			return err
		}
	}
	return t.continueAfterBreak(was, l.seen, why)
}

// findHead opens the head. A new log gets its first; a lost one is made again, marked as broken
// from the beginning.
func (l *Log) findHead(t *tail, there content, k *key) (why string, err error) {
	t.head, why, err = l.folder.readHead()
	if err != nil {
		return "", err
	}
	if why != "" {
		t.head = head{number: 1, first: 1, key: k.print()}
		var names []string
		for _, number := range there.rotated {
			names = append(names, rotatedName(number))
		}
		if len(names) > 0 {
			t.head.first, t.head.number = there.rotated[0], there.next()
		}
		if there.current {
			names = append(names, currentFile)
		}
		for i, name := range names {
			first, last, err := l.folder.ends(name)
			if err != nil {
				return "", err
			}
			if i == 0 && first.seq > 0 {
				t.head.start = point{first.seq - 1, first.prev}
			}
			t.head.end.seq = max(t.head.end.seq, last)
		}
		if there.isEmpty() && why == headMissing {
			why = "" // the caller checks what this process has seen
		} else {
			t.head.broken = t.head.end.seq + 1
		}
		text := t.head.encode()
		if err := l.replace(headFile, text[:]); err != nil {
			return "", unusable(l.folder.file(headFile), err)
		}
	}
	t.text = t.head.encode()
	t.record, t.recordInfo, err = opened(l.sys.Open(l.folder.file(headFile), os.O_RDWR))
	return why, unusable(l.folder.file(headFile), err)
}

// ends returns the link of the first line of a file, and the highest number in it.
func (p folder) ends(name string) (first link, last uint64, err error) {
	for r, err := range p.linesOf(name, math.MaxInt64) {
		if err != nil {
			return link{}, 0, unusable(p.file(name), err)
		}
		l, ok := readLink(r.Text)
		if ok && r.Number == 1 {
			first = l
		}
		if ok {
			last = max(last, l.seq)
		}
	}
	return first, last, nil
}

// finishRotation completes a rotation whose process ended before the head was written.
func (l *Log) finishRotation(h *head, there content) (why string, err error) {
	if there.next() <= h.number {
		return "", nil
	}
	was := *h
	h.number = there.next()
	h.size = 0
	h.last = 0
	if h.number != was.number+1 {
		return unknownRotated, nil
	}
	// Say whether the rotated file is the one that the head names.
	name := rotatedName(was.number)
	file, size, err := l.folder.open(name)
	if err != nil {
		return "", unusable(l.folder.file(name), err)
	}
	defer file.Close()
	if size != was.size || !endsWith(file, was) {
		return rotatedChanged, nil
	}
	return "", nil
}

// findFile opens or creates the current file, and returns how it differs from what the head says.
func (l *Log) findFile(t *tail) (why string, err error) {
	name := l.current
	file, err := l.sys.Open(name, os.O_RDWR|os.O_APPEND)
	if errors.Is(err, fs.ErrNotExist) {
		if t.head.size > 0 {
			why = fileMissing
		}
		file, err = l.sys.Create(name)
		if err == nil {
			err = l.sys.SyncFolder(l.folder.dir)
		}
	}
	t.file = file
	if err == nil {
		t.fileInfo, err = file.Stat()
	}
	if err != nil {
		return "", unusable(name, err)
	}
	t.size = t.fileInfo.Size()
	t.last = t.head.last
	t.end = t.head.end
	switch {
	case why != "":
	case t.size < t.head.size:
		why = fileShorter
	case !endsWith(t.file, t.head):
		why = lastChanged
	}
	return why, nil
}

// adopt accepts the lines after those that the head knows: their writer ended before it wrote
// the head.
func (t *tail) adopt() (why string, err error) {
	w := walker{at: t.head.end, last: t.head.last, mark: -1}
	if err := w.walk(context.Background(), currentFile, t.file, t.head.size, t.size); err != nil {
		return "", err
	}
	t.end = w.at
	t.last = w.last
	if w.brokeSeq > 0 && t.head.broken == 0 {
		t.head.broken = w.brokeSeq
	}
	if w.foreign != nil {
		return unchainedLines, nil
	}
	if w.loose < 0 {
		t.unclosed = w.open
		return "", nil
	}
	if t.unclosed, err = t.isUnclosed(); err != nil {
		return "", err
	}
	gap := &Repair{Torn: t.size - w.loose}
	more := ""
	if t.unclosed {
		gap.Torn = gap.Torn + 1
		more = "\n"
	}
	gap.Sum, err = sumOf(t.file, w.loose, t.size, more)
	t.repairs = []Line{{Kind: kindGap, Repair: gap}}
	return "", err
}

func (t *tail) isUnclosed() (bool, error) {
	if t.size == 0 {
		return false, nil
	}
	var last [1]byte
	_, err := t.file.ReadAt(last[:], t.size-1)
	return last[0] != '\n', err
}

// continueAfterBreak continues after the end of the file, whatever is there, and records why.
// was is the head as it was found.
func (t *tail) continueAfterBreak(was head, seen point, why string) error {
	end := point{max(was.end.seq, t.end.seq, seen.seq), t.end.hash}
	present := uint64(0) // the highest number in the file
	for r, err := range linesIn(context.Background(), t.file, 0, t.size) {
		if err != nil {
			return err
		}
		if l, ok := readLink(r.Text); ok {
			present = max(present, l.seq)
		}
		end.hash = sha256.Sum256(r.Text)
		t.last = r.At
	}
	var err error
	if t.unclosed, err = t.isUnclosed(); err != nil {
		return err
	}
	broken := &Repair{Why: why}
	if why == fileShorter && present > 0 && present < was.end.seq {
		broken.Lost = was.end.seq - present
		if present >= was.synced {
			broken.Why = fileShorterNew
		}
	}
	t.end = end
	t.repairs = []Line{{Kind: kindBreak, Repair: broken}}
	return nil
}

// isCurrent reports whether the open files are those in the folder, written only by this package, and
// what is known of them is, or gets, as they are.
func (l *Log) isCurrent(t *tail) bool {
	info, err := os.Lstat(l.current)
	if err != nil || !t.isClean() {
		return false
	}
	if !os.SameFile(info, t.fileInfo) || ownerfiles.CheckFile(l.current, info) != nil {
		return false
	}
	record, err := os.Lstat(l.folder.file(headFile))
	if err != nil || !os.SameFile(record, t.recordInfo) {
		return false
	}
	if record.Size() != headSize || ownerfiles.CheckFile(headFile, record) != nil {
		return false
	}
	if info.Size() == t.size {
		return true
	}
	// What another process has written to the same file is adopted, if its head says the same.
	var text [headSize]byte
	if _, err := t.record.ReadAt(text[:], 0); err != nil {
		return false
	}
	h, ok := parseHead(text[:])
	isOfFile := ok && h.number == t.head.number && h.key == t.head.key
	isOn := isOfFile && h.end.seq > t.head.end.seq
	if !isOn || info.Size() != h.size || !endsWith(t.file, h) {
		return false
	}
	t.head = h
	t.text = text
	t.size = h.size
	t.last = h.last
	t.end = h.end
	return true
}

// endsWith reports whether the last line of a file is the one that the head names.
func endsWith(in io.ReaderAt, h head) bool {
	if h.size == 0 {
		return true
	}
	length := h.size - h.last
	if length < 1 || length > maxLine {
		return false
	}
	text := make([]byte, length)
	if _, err := in.ReadAt(text, h.last); err != nil {
		return false
	}
	text, whole := bytes.CutSuffix(text, []byte("\n"))
	return whole && bytes.IndexByte(text, '\n') < 0 && sha256.Sum256(text) == h.end.hash
}
