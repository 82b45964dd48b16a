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

// tail is the open current file and its state.
type tail struct {
	file, record ownerfiles.File // the current file, and the file of the head
	head         head
	text, next   [headSize]byte // the encoded head: as it is on disk, and as it is being written
	fileInfo     fs.FileInfo
	recordInfo   fs.FileInfo

	size       int64 // size of the current file
	lastOffset int64 // offset of the last line of the chain
	end        point // the last line of the chain
	// isUnclosed and repairs precede the next line: the newline that terminates a torn line, and the
	// lines that record the damage.
	isUnclosed bool
	repairs    []Line
	hasDropped bool // old files are to be removed once the head is written
}

func (t *tail) close() error {
	var err error
	for _, file := range []ownerfiles.File{t.file, t.record} {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
	}
	return err
}

// isClean reports whether the head matches the file and nothing has to be repaired.
func (t *tail) isClean() bool {
	matches := t.size == t.head.size && t.end == t.head.end
	return matches && !t.isUnclosed && len(t.repairs) == 0
}

// openTail returns the state of the end of the log, reading it if it is not up to date. The caller
// holds the lock.
func (l *Log) openTail() (*tail, error) {
	if l.tail != nil && l.refresh(l.tail) {
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

// findTail reads the state of the log into t, including the repairs that it needs.
func (l *Log) findTail(t *tail) error {
	if err := l.prepare(); err != nil {
		return err
	}
	k, err := l.loadKey()
	if err != nil {
		return err
	}
	l.makeReserve()
	listing, err := l.folder.list()
	if err != nil {
		return err
	}
	reason, err := l.findHead(t, listing, k)
	if err != nil {
		return err
	}
	isOlder := t.head.end.seq < l.seen.seq
	isDifferent := t.head.end.seq == l.seen.seq && t.head.end != l.seen
	if isOlder || isDifferent {
		reason = logRestored
	}
	rotationReason, err := l.finishRotation(&t.head, listing)
	if err != nil {
		return err
	}
	if reason == "" {
		reason = rotationReason
	}
	headOnDisk := t.head
	fileReason, err := l.findFile(t)
	if err != nil {
		return err
	}
	if reason == "" {
		reason = fileReason
	}
	if t.head.key != k.fingerprint() {
		t.head.key = k.fingerprint()
		if reason == "" {
			reason = keyReplaced
		}
	}
	if reason == "" {
		reason, err = t.acceptUnrecorded()
		if err != nil || reason == "" {
			return err
		}
	}
	return t.continueAfterBreak(headOnDisk, l.seen, reason)
}

// findHead opens the head. It creates the head of a new log. A missing or unreadable head of an
// existing log is reconstructed from the files, and the log is marked as broken. reason is the reason
// for a break, "" for none.
func (l *Log) findHead(t *tail, listing folderContent, k *key) (reason string, err error) {
	t.head, reason, err = l.folder.readHead()
	if err != nil {
		return "", err
	}
	if reason != "" {
		t.head = head{fileNumber: 1, firstFile: 1, key: k.fingerprint()}
		var names []string
		for _, number := range listing.rotated {
			names = append(names, rotatedName(number))
		}
		if len(names) > 0 {
			t.head.firstFile = listing.rotated[0]
			t.head.fileNumber = listing.nextNumber()
		}
		if listing.hasCurrent {
			names = append(names, currentFile)
		}
		for i, name := range names {
			first, last, err := l.folder.firstAndLast(name)
			if err != nil {
				return "", err
			}
			if i == 0 && first.seq > 0 {
				t.head.start = point{first.seq - 1, first.prev}
			}
			t.head.end.seq = max(t.head.end.seq, last)
		}
		if listing.isEmpty() && reason == headMissing {
			reason = "" // the caller checks what this process has seen
		} else {
			t.head.firstBreak = t.head.end.seq + 1
		}
		text := t.head.encode()
		if err := l.replace(headFile, text[:]); err != nil {
			return "", unusable(l.folder.file(headFile), err)
		}
	}
	t.text = t.head.encode()
	t.record, t.recordInfo, err = withInfo(l.sys.Open(l.folder.file(headFile), os.O_RDWR))
	return reason, unusable(l.folder.file(headFile), err)
}

// firstAndLast returns the link of the first line of a file, and the highest line number in it.
func (p folder) firstAndLast(name string) (first link, last uint64, err error) {
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

// finishRotation completes a rotation whose process ended before it wrote the head. reason is the
// reason for a break, "" for none.
func (l *Log) finishRotation(h *head, listing folderContent) (reason string, err error) {
	if listing.nextNumber() <= h.fileNumber {
		return "", nil
	}
	headOnDisk := *h
	h.fileNumber = listing.nextNumber()
	h.size = 0
	h.lastOffset = 0
	if h.fileNumber != headOnDisk.fileNumber+1 {
		return unknownRotated, nil
	}
	// Check that the rotated file is the one that the head describes.
	name := rotatedName(headOnDisk.fileNumber)
	file, size, err := l.folder.open(name)
	if err != nil {
		return "", unusable(l.folder.file(name), err)
	}
	defer file.Close()
	if size != headOnDisk.size || !endsWith(file, headOnDisk) {
		return rotatedChanged, nil
	}
	return "", nil
}

// findFile opens or creates the current file. reason is how the file contradicts the head, "" if it
// does not.
func (l *Log) findFile(t *tail) (reason string, err error) {
	name := l.current
	file, err := l.sys.Open(name, os.O_RDWR|os.O_APPEND)
	if errors.Is(err, fs.ErrNotExist) {
		if t.head.size > 0 {
			reason = fileMissing
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
	t.lastOffset = t.head.lastOffset
	t.end = t.head.end
	switch {
	case reason != "":
	case t.size < t.head.size:
		reason = fileShorter
	case !endsWith(t.file, t.head):
		reason = lastChanged
	}
	return reason, nil
}

// acceptUnrecorded accepts the lines after the last one in the head: their writer ended before it updated the
// head. An incomplete line among them becomes a gap. reason is the reason for a break, "" for none.
func (t *tail) acceptUnrecorded() (reason string, err error) {
	w := walker{at: t.head.end, lastOffset: t.head.lastOffset, markOffset: -1}
	if err := w.walk(context.Background(), currentFile, t.file, t.head.size, t.size); err != nil {
		return "", err
	}
	t.end = w.at
	t.lastOffset = w.lastOffset
	if w.firstBreakSeq > 0 && t.head.firstBreak == 0 {
		t.head.firstBreak = w.firstBreakSeq
	}
	if w.foreign != nil {
		return unchainedLines, nil
	}
	if w.looseOffset < 0 {
		t.isUnclosed = w.isOpen
		return "", nil
	}
	if t.isUnclosed, err = t.endsUnclosed(); err != nil {
		return "", err
	}
	gap := &Repair{Torn: t.size - w.looseOffset}
	suffix := ""
	if t.isUnclosed {
		gap.Torn = gap.Torn + 1
		suffix = "\n"
	}
	gap.Sum, err = sumOf(t.file, w.looseOffset, t.size, suffix)
	t.repairs = []Line{{Kind: kindGap, Repair: gap}}
	return "", err
}

func (t *tail) endsUnclosed() (bool, error) {
	if t.size == 0 {
		return false, nil
	}
	var last [1]byte
	_, err := t.file.ReadAt(last[:], t.size-1)
	return last[0] != '\n', err
}

// continueAfterBreak makes the chain continue after the end of the file, whatever its content, and
// adds the break to the repairs. headOnDisk is the head as it was read.
func (t *tail) continueAfterBreak(headOnDisk head, seen point, reason string) error {
	end := point{max(headOnDisk.end.seq, t.end.seq, seen.seq), t.end.hash}
	highest := uint64(0) // the highest number in the file
	for r, err := range linesIn(context.Background(), t.file, 0, t.size) {
		if err != nil {
			return err
		}
		if l, ok := readLink(r.Text); ok {
			highest = max(highest, l.seq)
		}
		end.hash = sha256.Sum256(r.Text)
		t.lastOffset = r.At
	}
	var err error
	if t.isUnclosed, err = t.endsUnclosed(); err != nil {
		return err
	}
	repair := &Repair{Why: reason}
	if reason == fileShorter && highest > 0 && highest < headOnDisk.end.seq {
		repair.Lost = headOnDisk.end.seq - highest
		if highest >= headOnDisk.synced {
			repair.Why = fileShorterNew
		}
	}
	t.end = end
	t.repairs = []Line{{Kind: kindBreak, Repair: repair}}
	return nil
}

// refresh reports whether t matches the disk: the open files are still those in the folder, and
// only this package has written to them. If another process has added lines to the current file,
// refresh updates t with its head.
func (l *Log) refresh(t *tail) bool {
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
	// Another process has written to the file. Its lines are accepted if its head matches them.
	var text [headSize]byte
	if _, err := t.record.ReadAt(text[:], 0); err != nil {
		return false
	}
	h, ok := parseHead(text[:])
	isSameFile := ok && h.fileNumber == t.head.fileNumber && h.key == t.head.key
	isNewer := isSameFile && h.end.seq > t.head.end.seq
	if !isNewer || info.Size() != h.size || !endsWith(t.file, h) {
		return false
	}
	t.head = h
	t.text = text
	t.size = h.size
	t.lastOffset = h.lastOffset
	t.end = h.end
	return true
}

// endsWith reports whether the file contains the head's last line at the place that the head stores.
func endsWith(in io.ReaderAt, h head) bool {
	if h.size == 0 {
		return true
	}
	length := h.size - h.lastOffset
	if length < 1 || length > maxLine {
		return false
	}
	text := make([]byte, length)
	if _, err := in.ReadAt(text, h.lastOffset); err != nil {
		return false
	}
	text, hasNewline := bytes.CutSuffix(text, []byte("\n"))
	return hasNewline && bytes.IndexByte(text, '\n') < 0 && sha256.Sum256(text) == h.end.hash
}
