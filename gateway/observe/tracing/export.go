package tracing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"

	"vaultwicket/allowlist/quote"
)

const (
	maxTries    = 4
	firstPause  = 500 * time.Millisecond // doubled each time, and up to half as long again
	maxAnswer   = 64 << 10               // an answer is a number and a sentence
	dialTimeout = 5 * time.Second
)

// exporter sends spans to a collector. The SDK calls it from one goroutine. It
// says itself what went wrong, and never returns an error: the SDK would print
// each.
type exporter struct {
	to      collector
	version string
	client  *http.Client
	warn    *warner
	pause   func(ctx context.Context, d time.Duration) error
	life    context.Context
	giveUp  context.CancelFunc // ends what is being sent
}

func newExporter(to collector, version string, warn *warner) *exporter {
	e := &exporter{to: to, version: version, warn: warn, pause: pause}
	e.life, e.giveUp = context.WithCancel(context.Background())
	e.client = &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: dialTimeout, MaxIdleConns: 1, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true,
		},
		// The headers of a request can hold a secret that is meant for one host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return e
}

// pause waits for d, but no longer than ctx lasts.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ExportSpans sends spans, with some tries, within the time limit of all of them.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, e.to.timeout)
	defer cancel()
	defer context.AfterFunc(e.life, cancel)()
	body, err := encode(spans)
	if err == nil {
		err = e.deliver(ctx, body)
	}
	if err != nil {
		e.warn.lost(len(spans), err)
	}
	return nil
}

// Shutdown does nothing: what the SDK has was exported before.
func (e *exporter) Shutdown(context.Context) error { return nil }

// close closes the connections.
func (e *exporter) close() {
	e.giveUp()
	e.client.CloseIdleConnections()
}

// deliver tries until the collector has taken the body, says that it never will,
// or the time is over.
func (e *exporter) deliver(ctx context.Context, body []byte) error {
	wait := firstPause
	for try := 1; ; try++ {
		err := e.post(ctx, body)
		var later *notNow
		if err == nil || try == maxTries || !errors.As(err, &later) {
			return err
		}
		if e.pause(ctx, max(later.after, wait+rand.N(wait/2))) != nil {
			return err
		}
		wait *= 2
	}
}

// notNow is a failure behind which another try makes sense.
type notNow struct {
	reason string
	after  time.Duration // what the collector asks for
}

func (n *notNow) Error() string { return n.reason }

// post tries once.
func (e *exporter) post(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.to.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = e.to.headers.Clone()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "vaultwicket/"+e.version)
	answer, err := e.client.Do(req)
	if err != nil {
		return &notNow{reason: withoutAddress(err)}
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return &notNow{reason: "the answer of the collector cannot be read"}
	}
	return e.read(answer, text)
}

// read says what an answer means.
func (e *exporter) read(answer *http.Response, text []byte) error {
	switch code := answer.StatusCode; code {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.ParseUint(answer.Header.Get("Retry-After"), 10, 16) // a date is not looked at
		return &notNow{fmt.Sprintf("the collector answers with status %d", code), time.Duration(seconds) * time.Second}
	default:
		if code < 200 || code > 299 {
			return fmt.Errorf("the collector answers with status %d", code)
		}
	}
	var taken struct {
		PartialSuccess struct {
			RejectedSpans json.RawMessage `json:"rejectedSpans"` // a number or its text
			ErrorMessage  string          `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(text, &taken) != nil {
		return nil // it was taken, whatever is said about it
	}
	refused, _ := strconv.Atoi(string(bytes.Trim(taken.PartialSuccess.RejectedSpans, `"`)))
	if message := taken.PartialSuccess.ErrorMessage; refused > 0 || message != "" {
		e.warn.lost(refused, fmt.Errorf("the collector does not take all: %s", quote.Short(message)))
	}
	return nil
}

// withoutAddress returns the text of an error without the address of the
// collector, which can hold a secret.
func withoutAddress(err error) string {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err.Error()
	}
	return err.Error()
}
