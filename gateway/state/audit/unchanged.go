package audit

import (
	"io/fs"
	"os"
	"time"

	"vaultwicket/gateway/state/private"
)

// settleTime is how long a folder must be unchanged for its time of change to be trusted:
// several changes within one tick of the clock of a file system leave the same time.
const settleTime = 100 * time.Millisecond

// names is the folder as it was when the files in it were last looked at one by one. While
// it is unchanged no file in it was made, renamed, replaced or removed. The zero value
// trusts nothing.
type names struct {
	info    fs.FileInfo
	settled bool
	at      time.Time // of the look, zero if there was none
}

// areUnchanged looks at the folder: whether its names are those of the last look. If they
// are not, now is what to remember once the files were looked at.
func (n names) areUnchanged(dir string) (now names, unchanged bool) {
	begun := time.Now()
	info, err := os.Lstat(dir)
	if err != nil || private.CheckFolderInfo(dir, info) != nil {
		return names{}, false
	}
	now = names{info, begun.Sub(info.ModTime()) > settleTime, begun}
	unchanged = n.settled && os.SameFile(n.info, info) && n.info.ModTime().Equal(info.ModTime())
	return now, unchanged
}
