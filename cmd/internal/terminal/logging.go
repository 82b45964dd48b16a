package terminal

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// LevelNote is for messages that should be read although nothing is wrong. In JSON
// they are warnings, because log tools only know the four standard levels.
const LevelNote = slog.LevelWarn + 1

// NewLineLogger returns a logger that writes messages to out as lines for people. Control characters are escaped.
func NewLineLogger(out io.Writer, level slog.Level) *slog.Logger {
	return slog.New(&lineHandler{out: out, level: level, writing: &sync.Mutex{}})
}

// NewJSONLogger returns a logger that writes messages to out, one JSON object per line. Control characters are escaped.
func NewJSONLogger(out io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: level, ReplaceAttr: standardAttr}))
}

// standardAttr escapes control characters in a value, and replaces the level by a standard one.
func standardAttr(_ []string, a slog.Attr) slog.Attr {
	if level, isLevel := a.Value.Any().(slog.Level); isLevel && a.Key == slog.LevelKey {
		return slog.String(slog.LevelKey, standardLevel(level).String())
	}
	switch a.Value.Kind() {
	case slog.KindString:
		return slog.String(a.Key, Visible(a.Value.String()))
	case slog.KindAny:
		return slog.String(a.Key, Visible(fmt.Sprint(a.Value.Any())))
	}
	return a
}

// standardLevel rounds a level down to a standard one.
func standardLevel(level slog.Level) slog.Level {
	for _, standard := range []slog.Level{slog.LevelError, slog.LevelWarn, slog.LevelInfo} {
		if level >= standard {
			return standard
		}
	}
	return slog.LevelDebug
}

// lineHandler writes "vaultwicket: warning: message key=value". A value of
// several lines follows below, each line after a bar.
type lineHandler struct {
	out     io.Writer
	level   slog.Level
	group   string // the prefix of the keys of new attributes
	attrs   string // the attributes of the logger, as written
	writing *sync.Mutex
}

// Enabled reports whether messages of a level are written.
func (h *lineHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

// Handle writes one message with one call of Write.
func (h *lineHandler) Handle(_ context.Context, r slog.Record) error {
	label := strings.ToLower(standardLevel(r.Level).String())
	switch {
	case r.Level >= telemetry.LevelBug:
		label = "bug"
	case r.Level >= slog.LevelError:
	case r.Level >= LevelNote:
		label = "note"
	case r.Level >= slog.LevelWarn:
		label = "warning"
	}
	var line, below strings.Builder
	line.WriteString("vaultwicket: " + label + ": " + sanitize.Line(r.Message) + h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		writeAttr(&line, &below, h.group, a)
		return true
	})
	h.writing.Lock()
	defer h.writing.Unlock()
	_, err := io.WriteString(h.out, line.String()+"\n"+below.String())
	return err
}

// WithAttrs returns a handler that writes attrs with each message.
func (h *lineHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	copied := *h
	var line, below strings.Builder
	for _, a := range attrs {
		writeAttr(&line, &below, h.group, a)
	}
	copied.attrs += line.String()
	return &copied
}

// WithGroup returns a handler that writes name and a dot in front of the keys of later attributes.
func (h *lineHandler) WithGroup(name string) slog.Handler {
	copied := *h
	if name != "" {
		copied.group += name + "."
	}
	return &copied
}

// writeAttr writes one attribute to line, or to below if it has several lines. It omits an attribute with an empty
// value.
func writeAttr(line, below *strings.Builder, group string, a slog.Attr) {
	value := a.Value.Resolve()
	if value.Kind() == slog.KindGroup {
		if a.Key != "" {
			group += a.Key + "."
		}
		for _, inner := range value.Group() {
			writeAttr(line, below, group, inner)
		}
		return
	}
	text := value.String()
	switch {
	case text == "":
	case strings.Contains(text, "\n"):
		for row := range strings.Lines(text) {
			fmt.Fprintf(below, "  %s%s | %s\n", group, a.Key, sanitize.Line(strings.TrimSuffix(row, "\n")))
		}
	case strings.ContainsAny(text, ` "=`):
		fmt.Fprintf(line, ` %s%s="%s"`, group, a.Key, strings.ReplaceAll(sanitize.Line(text), `"`, `\"`))
	default:
		fmt.Fprintf(line, " %s%s=%s", group, a.Key, sanitize.Line(text))
	}
}
