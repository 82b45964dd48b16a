package observe

import (
	"context"
	"log/slog"
)

// LevelBug is the level of what is a fault of ours.
const LevelBug = slog.LevelError + 4

// callLog is the observer that writes one line a call.
type callLog struct {
	log     *slog.Logger
	session string
}

// NewCallLog returns an observer that logs the end of every call at the level
// info, nil if log does not take that.
func NewCallLog(log *slog.Logger, session string) Observer {
	if !log.Enabled(context.Background(), slog.LevelInfo) {
		return nil
	}
	return callLog{log, session}
}

func (l callLog) Begin(ctx context.Context, call CallStart) (context.Context, CallObserver) {
	return ctx, &loggedCall{l, ctx, call}
}

type loggedCall struct {
	callLog
	ctx  context.Context
	call CallStart
}

func (l *loggedCall) Decided(d Decision) {
	l.log.LogAttrs(l.ctx, slog.LevelDebug, "decided", slog.String("command", l.call.Command), slog.String("decision", d.Decision),
		slog.String("rule", d.Rule), slog.String("code", d.Code), slog.String("session", l.session))
}

func (l *loggedCall) End(end CallEnd) {
	attrs := []slog.Attr{
		slog.String("command", l.call.Command), slog.String("kind", l.call.Kind.String()), slog.String("surface", l.call.Surface),
		slog.String("decision", end.Decision), slog.String("rule", end.Rule), slog.String("code", end.Code),
		slog.Float64("durationMs", float64(end.Duration.Microseconds())/1000), slog.String("backend", end.Backend),
		slog.String("effect", end.Effect), slog.Int("bytes", end.Bytes), slog.String("session", l.session),
	}
	if trace := TraceOf(l.ctx); trace != (Trace{}) && l.log.Enabled(l.ctx, slog.LevelDebug) {
		attrs = append(attrs, slog.String("traceparent", trace.Parent), slog.String("tracestate", trace.State))
	}
	l.log.LogAttrs(l.ctx, slog.LevelInfo, "call", attrs...)
}

var kindNames = [...]string{Single: "single", InBatch: "in batch", WholeBatch: "batch", OnlyPlanned: "dry run"}

// String returns the kind as logs and metrics name it.
func (k CallKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return ""
}
