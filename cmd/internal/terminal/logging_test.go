package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
	"github.com/vaultwicket/vaultwicket/tests/assert"
)

func TestMessagesForPeople(t *testing.T) {
	for _, tt := range []struct {
		name string
		say  func(*slog.Logger)
		want string
	}{
		{"a message alone", func(l *slog.Logger) { l.Warn("the input cannot be read") }, "vaultwicket: warning: the input cannot be read\n"},
		{"an error", func(l *slog.Logger) { l.Error("lost", "error", errors.New("no way")) }, "vaultwicket: error: lost error=\"no way\"\n"},
		{"a note", func(l *slog.Logger) { l.Log(context.Background(), LevelNote, "read again") }, "vaultwicket: note: read again\n"},
		{"a fault of ours", func(l *slog.Logger) { l.Log(context.Background(), telemetry.LevelBug, "panic") }, "vaultwicket: bug: panic\n"},
		{"below the level", func(l *slog.Logger) { l.Info("call"); l.Debug("decided") }, ""},
		{"values", func(l *slog.Logger) { l.Warn("w", "n", 3, "empty", "", "quoted", `a "b"`, "plain", "x") },
			"vaultwicket: warning: w n=3 quoted=\"a \\\"b\\\"\" plain=x\n"},
		{"several lines stand below and cannot pose as ours", func(l *slog.Logger) { l.Warn("w", "stack", "a\nvaultwicket: error: b\n") },
			"vaultwicket: warning: w\n  stack | a\n  stack | vaultwicket: error: b\n"},
		{"what a terminal would obey", func(l *slog.Logger) { l.Warn("a\x1b[31m\nb", "key", "c\u202ed") },
			"vaultwicket: warning: a\\x1b[31m\\nb key=c\\u202ed\n"},
		{"groups and values of the logger", func(l *slog.Logger) {
			l.With("a", 1).WithGroup("g").With("b", 2).Warn("w", slog.Group("h", "c", 3), "d", 4)
		}, "vaultwicket: warning: w a=1 g.b=2 g.h.c=3 g.d=4\n"},
	} {
		var out bytes.Buffer
		tt.say(NewLineLogger(&out, slog.LevelWarn))
		assert.Equal(t, out.String(), tt.want, "%s", tt.name)
	}
}

func TestMessagesForPrograms(t *testing.T) {
	for _, tt := range []struct {
		name string
		say  func(*slog.Logger)
		want map[string]any
	}{
		{"a warning", func(l *slog.Logger) { l.Warn("w", "n", 3) }, map[string]any{"level": "WARN", "msg": "w", "n": 3.0}},
		{"a note is a warning", func(l *slog.Logger) { l.Log(context.Background(), LevelNote, "n") }, map[string]any{"level": "WARN", "msg": "n"}},
		{"a fault of ours is an error",
			func(l *slog.Logger) { l.Log(context.Background(), telemetry.LevelBug, "panic") },
			map[string]any{"level": "ERROR", "msg": "panic"}},
		{"a call", func(l *slog.Logger) { l.Info("call", "code", "ok") }, map[string]any{"level": "INFO", "msg": "call", "code": "ok"}},
		{"what a terminal would obey", func(l *slog.Logger) { l.Warn("a\u202eb", "error", errors.New("c\u009bd")) },
			map[string]any{"level": "WARN", "msg": `a\u{202e}b`, "error": `c\u{9b}d`}},
	} {
		var out bytes.Buffer
		tt.say(NewJSONLogger(&out, slog.LevelInfo))
		var got map[string]any
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || bytes.Count(out.Bytes(), []byte("\n")) != 1 {
			t.Errorf("%s: %q is no line of JSON: %v", tt.name, out.String(), err)
			continue
		}
		_, dated := got["time"]
		assert.That(t, dated, "%s: no time in %s", tt.name, out.String())
		delete(got, "time")
		assert.That(t, len(got) == len(tt.want), "%s: %v, want %v", tt.name, got, tt.want)
		for key, want := range tt.want {
			assert.Equal(t, got[key], want, "%s: %s", tt.name, key)
		}
	}
}
