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

// LevelNote is for what a person should read although nothing is wrong. In JSON
// it is a warning, because log tools know four levels.
const LevelNote = slog.LevelWarn + 1

// NewLineLogger returns what writes messages to out as lines for people. Whatever a terminal would obey is written as
// an escape.
func NewLineLogger(out io.Writer, level slog.Level) *slog.Logger {
	return slog.New(&lineHandler{out: out, level: level, writing: &sync.Mutex{}})
}

// NewJSONLogger returns what writes messages to out, a JSON object a line. Whatever a terminal would obey is written as
// an escape.
func NewJSONLogger(out io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: level, ReplaceAttr: standardAttr}))
}

// standardAttr shows what a terminal would obey, and names the levels as log tools do.
func standardAttr(_ []string, a slog.Attr) slog.Attr {
	if level, is := a.Value.Any().(slog.Level); is && a.Key == slog.LevelKey {
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

// standardLevel returns the nearest level below that log tools know.
func standardLevel(level slog.Level) slog.Level {
	for _, known := range []slog.Level{slog.LevelError, slog.LevelWarn, slog.LevelInfo} {
		if level >= known {
			return known
		}
	}
	return slog.LevelDebug
}

// lineHandler writes "vaultwicket: warning: message key=value". A value of
// several lines is below, each line after a bar.
type lineHandler struct {
	out     io.Writer
	level   slog.Level
	group   string // in front of the next keys
	attrs   string // of the logger
	writing *sync.Mutex
}

// Enabled reports whether messages of a level are written.
func (h *lineHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

// Handle writes one message, at once.
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
	with := *h
	var line, below strings.Builder
	for _, a := range attrs {
		writeAttr(&line, &below, h.group, a)
	}
	with.attrs += line.String()
	return &with
}

// WithGroup returns a handler that writes name and a dot in front of the keys to come.
func (h *lineHandler) WithGroup(name string) slog.Handler {
	with := *h
	if name != "" {
		with.group += name + "."
	}
	return &with
}

// writeAttr writes one attribute. An empty one says nothing and is left out.
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
