package streamable

import (
	"context"
	"log/slog"
)

// quiet is the log of mcp-go and of net/http. What they report is mostly a client
// that has gone, and they name sessions and addresses in it. Only the sentence is
// passed on, and only to who wants every detail.
type quiet struct{ to slog.Handler }

func (q quiet) Enabled(ctx context.Context, _ slog.Level) bool {
	return q.to.Enabled(ctx, slog.LevelDebug)
}

func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	return q.to.Handle(ctx, slog.NewRecord(r.Time, slog.LevelDebug, r.Message, 0))
}

func (q quiet) WithAttrs([]slog.Attr) slog.Handler { return q }

func (q quiet) WithGroup(string) slog.Handler { return q }
