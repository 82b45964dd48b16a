package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/date"
)

// dailySettings is the file of a vault that decides where its daily notes are, and mostDailySettings is how many bytes of it are
// looked at here.
const (
	dailySettings     = ".obsidian/daily-notes.json"
	mostDailySettings = 4 << 10
	dailyFormat       = "YYYY-MM-DD" // where none is set
)

// ownDaily returns the path of today's note by the settings of the vault, "" where there is none. The embedded program is
// asked only where the path is not as plain as most.
func (g *vaultGateway) ownDaily(ctx context.Context, r route) string {
	if path, ok := g.plainDaily(); ok {
		return path
	}
	program := g.embeddedProgram()
	if program == nil {
		return ""
	}
	asked, err := g.runner.Run(ctx, r.permit.DailyPath(), *program)
	if err != nil || asked.Failure != nil {
		return ""
	}
	return strings.TrimSpace(asked.Stdout)
}

// plainDaily returns the path of today's note in a vault whose settings give it a plain one: without what the
// embedded program would have to spell in another way, or refuse.
func (g *vaultGateway) plainDaily() (path string, ok bool) {
	folder := g.target().Folder
	if folder == "" {
		return "", false
	}
	clock, err := date.Clock(g.getenv(date.NowVariable))
	if err != nil {
		return "", false
	}
	var settings struct{ Folder, Format string }
	if _, err := os.Lstat(filepath.Join(folder, filepath.FromSlash(dailySettings))); !errors.Is(err, fs.ErrNotExist) {
		text, isRead := readDirect(folder, dailySettings, mostDailySettings)
		if !isRead || json.Unmarshal(text, &settings) != nil {
			return "", false
		}
	}
	if strings.TrimSpace(settings.Format) == "" {
		settings.Format = dailyFormat
	}
	path = date.Format(clock(), settings.Format) + noteExtension
	if settings.Folder != "" {
		path = settings.Folder + "/" + path
	}
	return path, isPlainPath(path)
}

// plainCharacters are letters, digits, blanks and the signs of dates.
const plainCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ._-/"

// isPlainPath reports whether a path has only plain characters, and no name that begins or ends with a blank or a dot.
func isPlainPath(path string) bool {
	if strings.Trim(path, plainCharacters) != "" {
		return false
	}
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || strings.Trim(name, " .") != name {
			return false
		}
	}
	return true
}
