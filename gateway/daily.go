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

// dailySettings is the file in a vault that configures its daily notes. maxDailySettings is the size in bytes up to
// which it is read here.
const (
	dailySettings    = ".obsidian/daily-notes.json"
	maxDailySettings = 4 << 10
	dailyFormat      = "YYYY-MM-DD" // the default
)

// ownDaily returns the path of today's note by the settings of the vault, "" if it cannot be determined. The
// embedded program is only asked if the path is not a plain one.
func (g *vaultGateway) ownDaily(ctx context.Context, r route) string {
	if path, ok := g.plainDaily(); ok {
		return path
	}
	program := g.embeddedProgram()
	if program == nil {
		return ""
	}
	answer, err := g.runner.Run(ctx, r.permit.DailyPath(), *program)
	if err != nil || answer.Failure != nil {
		return ""
	}
	return strings.TrimSpace(answer.Stdout)
}

// plainDaily returns the path of today's note if the settings of the vault give it a plain path: one that the
// embedded program would neither respell nor refuse.
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
		text, isRead := readDirect(folder, dailySettings, maxDailySettings)
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

// plainCharacters are letters, digits, blanks, and the punctuation of dates.
const plainCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ._-/"

// isPlainPath reports whether a path consists of plain characters, and no name in it begins or ends with a blank or
// a dot.
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
