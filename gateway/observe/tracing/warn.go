package tracing

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
)

// warnEvery is the least time between two warnings. A collector that is away for
// a day is no reason to fill a log.
const warnEvery = time.Minute

// warner logs that spans are lost, once a minute at most.
type warner struct {
	log *slog.Logger
	now func() time.Time

	mu    sync.Mutex
	last  time.Time
	spans int // lost since the last warning
}

func newWarner(log *slog.Logger, now func() time.Time) *warner { return &warner{log: log, now: now} }

// lost notes that spans were not taken, and warns if it is time.
func (w *warner) lost(spans int, err error) {
	w.mu.Lock()
	w.spans += spans
	now := w.now()
	if !w.last.IsZero() && now.Sub(w.last) < warnEvery {
		w.mu.Unlock()
		return
	}
	lost := w.spans
	w.last, w.spans = now, 0
	w.mu.Unlock()
	w.log.Warn("traces cannot be sent", "reason", err.Error(), "lostSpans", lost)
}

// hearSDK has the SDK tell its errors here, which would go to standard error by
// themselves. Of its log only errors are taken: other messages print what the SDK
// is made of, the headers for the collector included.
func (w *warner) hearSDK() {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { w.lost(0, err) }))
	otel.SetLogger(logr.FromSlogHandler(sdkErrors{w}))
}

// sdkErrors is the log of the SDK.
type sdkErrors struct{ *warner }

// Enabled takes errors.
func (sdkErrors) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }

// Handle takes the message, and nothing of what stands beside it.
func (s sdkErrors) Handle(_ context.Context, r slog.Record) error {
	s.lost(0, sdkError(r.Message))
	return nil
}

// WithAttrs leaves them out.
func (s sdkErrors) WithAttrs([]slog.Attr) slog.Handler { return s }

// WithGroup leaves it out.
func (s sdkErrors) WithGroup(string) slog.Handler { return s }

// sdkError is an error of the SDK of which only the message is known.
type sdkError string

func (e sdkError) Error() string { return "OpenTelemetry: " + string(e) }
