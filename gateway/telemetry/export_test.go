package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// exporterTo returns an exporter whose pauses take no time, and what it has
// waited and said.
func exporterTo(t *testing.T, c *fakeCollector) (e *exporter, waited *[]time.Duration, log *syncedLog) {
	t.Helper()
	log, waited = &syncedLog{}, &[]time.Duration{}
	e = newExporter(collector{url: c.URL, headers: http.Header{"X-Key": {"s3cret"}}, timeout: time.Minute}, "1",
		&warner{log: slog.New(slog.NewTextHandler(log, nil)), now: time.Now})
	e.pause = func(_ context.Context, d time.Duration) error {
		*waited = append(*waited, d)
		return nil
	}
	t.Cleanup(func() { e.giveUp(); e.client.CloseIdleConnections() })
	return e, waited, log
}

func TestWhatIsTriedAgain(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answers answers
		tries   int
		err     string
	}{
		{"an answer", answers{says("{}")}, 1, ""},
		{"an answer that is no JSON", answers{says("thanks")}, 1, ""},
		{"no content", answers{status(204)}, 1, ""},
		{"busy, and then not", answers{status(503), status(429), says("{}")}, 3, ""},
		{"busy all the time", answers{status(502)}, maxTries, "status 502"},
		{"a refusal", answers{status(400)}, 1, "status 400"},
		{"no permission", answers{status(401)}, 1, "status 401"},
		{"a fault of the collector", answers{status(500)}, 1, "status 500"},
		{"another address", answers{status(307, "Location", "/elsewhere")}, 1, "status 307"},
		{"a connection that breaks", answers{func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, says("{}")}, 2, ""},
	} {
		c := newCollector(t, tt.answers...)
		e, waited, _ := exporterTo(t, c)
		err := e.deliver(t.Context(), []byte("{}"))
		assert.Equal(t, err == nil, tt.err == "", "%s", tt.name)
		assert.That(t, err == nil || strings.Contains(err.Error(), tt.err), "%s: %v, want %q", tt.name, err, tt.err)
		if len(c.sent()) != tt.tries || len(*waited) != tt.tries-1 || !slices.IsSorted(*waited) {
			t.Errorf("%s: %d tries with pauses of %v, want %d", tt.name, len(c.sent()), *waited, tt.tries)
		}
	}
}

func TestTheCollectorSaysHowLongToWait(t *testing.T) {
	c := newCollector(t, status(429, "Retry-After", "30"), status(503, "Retry-After", "-5"), says("{}"))
	e, waited, _ := exporterTo(t, c)
	require.NoError(t, e.deliver(t.Context(), nil))
	w := *waited
	require.Equal(t, len(w), 2, "waited %v", w)
	require.Equal(t, w[0], 30*time.Second, "waited %v", w)
	require.That(t, w[1] >= 2*firstPause, "waited %v", w)
	assert.That(t, w[1] <= 3*firstPause, "waited %v", w)
}

func TestTriesEndWithTheirTime(t *testing.T) {
	c := newCollector(t, status(503))
	e, _, _ := exporterTo(t, c)
	e.pause = func(context.Context, time.Duration) error { return context.DeadlineExceeded }
	if err := e.deliver(t.Context(), nil); err == nil || len(c.sent()) != 1 {
		t.Errorf("%v after %d tries", err, len(c.sent()))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, pause(ctx, time.Hour), context.Canceled, "a pause without time")
}

func TestWhatACollectorDoesNotTakeIsAWarning(t *testing.T) {
	for body, want := range map[string]string{
		`{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}`: `reason="the collector does not take all: too old" lostSpans=3`,
		`{"partialSuccess":{"rejectedSpans":2}}`:                            `lostSpans=2`,
		`{"partialSuccess":{"errorMessage":"careful"}}`:                     `careful" lostSpans=0`,
		`{"partialSuccess":{}}`:                                             "",
		`{"partialSuccess":{"rejectedSpans":"0"}}`:                          "",
	} {
		e, _, log := exporterTo(t, newCollector(t, says(body)))
		require.NoError(t, e.deliver(t.Context(), nil))
		got := log.String()
		assert.Contains(t, got, want, "%s: the log contains %q", body, got)
		assert.Equal(t, want == "", got == "", "%s: the log contains %q", body, got)
	}
}

func TestNoAddressAndNoSecretIsInAMessage(t *testing.T) {
	c := newCollector(t)
	e, _, _ := exporterTo(t, c)
	c.Close()
	e.collector.url = strings.Replace(c.URL, "http://", "http://user:s3cret@", 1) + "/s3cret?key=s3cret"
	err := e.deliver(t.Context(), nil)
	require.That(t, err != nil, "%v", err)
	assert.That(t, !strings.Contains(err.Error(), "s3cret"), "%v", err)
}

func TestOneWarningAMinute(t *testing.T) {
	log := &syncedLog{}
	now := time.Unix(1_000_000, 0)
	w := &warner{log: slog.New(slog.NewTextHandler(log, nil)), now: func() time.Time { return now }}
	for _, step := range []struct {
		after time.Duration
		lines int
		last  string
	}{
		{0, 1, "lostSpans=5"}, {time.Second, 1, ""}, {58 * time.Second, 1, ""}, {time.Second, 2, "lostSpans=15"}, {time.Hour, 3, "lostSpans=5"},
	} {
		now = now.Add(step.after)
		w.lost(5, errors.New("away"))
		got := log.String()
		assert.Equal(t, strings.Count(got, "\n"), step.lines, "after %v", step.after)
		assert.That(t, strings.HasSuffix(strings.TrimSpace(got), step.last), "after %v: %q", step.after, got)
	}
}
