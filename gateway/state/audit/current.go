package audit

// The functions of this file say whether what a process remembers of the end of the log is
// still so.

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"vaultwicket/gateway/state/private"
)

// isCurrent reports whether the files that are open are those that are there,
// and nobody has written to them but as this package does.
func (l *Log) isCurrent(t *tail) bool {
	if !t.isClean() {
		return false
	}
	if l.isAsLeft(t) {
		return true
	}
	info, err := l.look(t)
	if err != nil || private.CheckFile(l.current, info) != nil {
		return false
	}
	if info.Size() != t.size && !t.follow(info.Size()) {
		return false
	}
	t.looked = l.last.at
	if file, ok := t.file.(syscall.Conn); ok && l.unchanged {
		t.view.Map(file, t.size)
	}
	return true
}

// isAsLeft reports whether nobody has written since this process did. What another process
// leaves behind shows in the folder or behind the end of the file, whenever it stops: a
// line before its head, a file renamed before the next one is made. Only permissions and
// hard links that were changed by hand do not show there: the system is asked for them.
func (l *Log) isAsLeft(t *tail) bool {
	return l.unchanged && l.last.at.Sub(t.looked) < l.lookAgain && t.view.IsAt(t.size)
}

// look returns what is known of the current file, or an error if the files that are open
// are not those that are there. In a folder that is unchanged they are.
func (l *Log) look(t *tail) (fs.FileInfo, error) {
	if l.unchanged {
		return t.file.Stat()
	}
	info, err := os.Lstat(l.current)
	if err != nil || !os.SameFile(info, t.fileInfo) {
		return nil, errors.Join(err, fs.ErrNotExist)
	}
	record, err := t.record.Stat()
	if err != nil {
		return nil, err
	}
	named, err := os.Lstat(l.folder.file(headFile))
	if err == nil && (!os.SameFile(record, named) || record.Size() != headSize) {
		err = fs.ErrNotExist
	}
	return info, errors.Join(err, private.CheckFile(headFile, record))
}

// follow takes over what another process has written to the same file, if its
// head says the same.
func (t *tail) follow(size int64) bool {
	var text [headSize]byte
	if _, err := t.record.ReadAt(text[:], 0); err != nil {
		return false
	}
	h, ok := parseHead(text[:])
	isOn := ok && h.number == t.head.number && h.key == t.head.key && h.end.seq > t.head.end.seq
	if !isOn || size != h.size || !endsWith(t.file, h) {
		return false
	}
	t.head, t.text = h, text
	t.size, t.last, t.end = h.size, h.last, h.end
	return true
}

// endsWith reports whether the last line of a file is the one that the head
// names.
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
