package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

const (
	maxTries    = 4
	firstPause  = 500 * time.Millisecond // doubled for each retry, plus a random part of up to a half
	maxAnswer   = 64 << 10               // an answer contains only a number and a sentence
	dialTimeout = 5 * time.Second
)

// exporter sends spans to a collector. The SDK calls it from one goroutine. It logs failures itself and
// returns no errors, because the SDK would print each of them.
type exporter struct {
	collector collector
	version   string
	client    *http.Client
	warn      *warner
	pause     func(ctx context.Context, d time.Duration) error
	ctx       context.Context
	giveUp    context.CancelFunc // cancels ctx, and with it requests in progress
}

func newExporter(to collector, version string, warn *warner) *exporter {
	e := &exporter{collector: to, version: version, warn: warn, pause: pause}
	e.ctx, e.giveUp = context.WithCancel(context.Background())
	e.client = &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			TLSHandshakeTimeout: dialTimeout,
			MaxIdleConns:        1,
			IdleConnTimeout:     time.Minute,
			ForceAttemptHTTP2:   true,
		},
		// The headers of a request can contain a secret that is meant for one host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return e
}

// pause waits for d, or until ctx is done.
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

// ExportSpans sends spans. The timeout of the collector covers all retries.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	if err := e.ctx.Err(); err != nil { // the SDK may call this even after Shutdown
		e.warn.lost(len(spans), err)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, e.collector.timeout)
	defer cancel()
	defer context.AfterFunc(e.ctx, cancel)()
	body, err := json.Marshal(encodeSpans(spans))
	if err == nil {
		err = e.deliver(ctx, body)
	}
	if err != nil {
		e.warn.lost(len(spans), err)
	}
	return nil
}

// encodeSpans returns the request for some spans, at least one, which have the same provider and scope.
func encodeSpans(spans []sdk.ReadOnlySpan) message {
	var encoded []message
	for _, span := range spans {
		encoded = append(encoded, encodeSpan(span))
	}
	resource := spans[0].Resource()
	scope := spans[0].InstrumentationScope()
	return message{"resourceSpans": []message{{
		"resource": message{"attributes": attributesOf(resource.Attributes())},
		"scopeSpans": []message{{
			"scope": message{"name": scope.Name, "version": scope.Version},
			"spans": encoded,
		}},
		"schemaUrl": resource.SchemaURL(),
	}}}
}

// encodeSpan returns the message for a span.
func encodeSpan(span sdk.ReadOnlySpan) message {
	spanContext := span.SpanContext()
	parent := span.Parent()
	flags := uint32(spanContext.TraceFlags()) | flagKnowsRemote
	if parent.IsRemote() {
		flags |= flagRemoteContext
	}
	m := message{
		"traceId":           spanContext.TraceID().String(),
		"spanId":            spanContext.SpanID().String(),
		"traceState":        spanContext.TraceState().String(),
		"flags":             flags,
		"name":              span.Name(),
		"kind":              int(span.SpanKind()),
		"startTimeUnixNano": nanoseconds(span.StartTime()),
		"endTimeUnixNano":   nanoseconds(span.EndTime()),
		"attributes":        attributesOf(span.Attributes()),
	}
	if parent.SpanID().IsValid() {
		m["parentSpanId"] = parent.SpanID().String()
	}
	var events []message
	for _, event := range span.Events() {
		events = append(events, message{
			"timeUnixNano": nanoseconds(event.Time),
			"name":         event.Name,
			"attributes":   attributesOf(event.Attributes),
		})
	}
	if events != nil {
		m["events"] = events
	}
	if span.Status().Code == codes.Error {
		m["status"] = message{"message": span.Status().Description, "code": statusCodeError}
	}
	return m
}

// Shutdown does nothing: the SDK exports the remaining spans before it calls it.
func (e *exporter) Shutdown(context.Context) error { return nil }

// deliver posts the body, with up to maxTries tries, until the collector accepts it or permanently
// rejects it, or ctx is done.
func (e *exporter) deliver(ctx context.Context, body []byte) error {
	wait := firstPause
	for try := 1; ; try++ {
		refused, reason, err := e.post(ctx, body)
		if refused > 0 || reason != "" {
			e.warn.lost(refused, errors.New(reason))
		}
		retry, canRetry := errors.AsType[*retryable](err)
		if !canRetry || try == maxTries {
			return err
		}
		if e.pause(ctx, max(retry.after, wait+rand.N(wait/2))) != nil {
			return err
		}
		wait *= 2
	}
}

// retryable is an error after which another try may succeed.
type retryable struct {
	reason string
	after  time.Duration // minimum delay that the collector asks for
}

func (n *retryable) Error() string { return n.reason }

// refusedStatus is the error of a collector that rejects a request with an HTTP status.
type refusedStatus struct{ code int }

func (e *refusedStatus) Error() string {
	return fmt.Sprintf("the collector answers with status %d", e.code)
}

// post sends the body once. refused is the number of items that the collector permanently rejected, and
// reason is its explanation.
func (e *exporter) post(ctx context.Context, body []byte) (refused int, reason string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.collector.url, bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header = e.collector.headers.Clone()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "vaultwicket/"+e.version)
	answer, err := e.client.Do(req)
	if err != nil {
		if urlErr, ok := errors.AsType[*url.Error](err); ok {
			err = urlErr.Err // omits the address of the collector, which can contain a secret
		}
		return 0, "", &retryable{reason: err.Error()}
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return 0, "", &retryable{reason: "the answer of the collector cannot be read"}
	}
	switch code := answer.StatusCode; code {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.ParseUint(answer.Header.Get("Retry-After"), 10, 16) // dates are ignored
		return 0, "", &retryable{
			fmt.Sprintf("the collector answers with status %d", code),
			time.Duration(seconds) * time.Second,
		}
	default:
		if code < 200 || code > 299 {
			return 0, "", &refusedStatus{code}
		}
	}
	refused, reason = refusedPart(text)
	return refused, reason, nil
}

// refusedPart returns the number of rejected items and the reason in the answer of a collector.
func refusedPart(answer []byte) (refused int, reason string) {
	var response struct {
		PartialSuccess struct {
			RejectedSpans      json.RawMessage `json:"rejectedSpans"` // a number, also as a string
			RejectedLogRecords json.RawMessage `json:"rejectedLogRecords"`
			ErrorMessage       string          `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(answer, &response) != nil {
		return 0, "" // the status was that of success
	}
	refused, _ = strconv.Atoi(
		string(bytes.Trim(append(response.PartialSuccess.RejectedSpans, response.PartialSuccess.RejectedLogRecords...), `"`)),
	)
	if message := response.PartialSuccess.ErrorMessage; refused > 0 || message != "" {
		reason = "the collector does not take all: " + excerpt.Short(message)
	}
	return max(0, refused), reason
}

// message is an OTLP message in JSON. Identifiers are hexadecimal, and 64-bit numbers are strings.
type message = map[string]any

const (
	statusCodeError   = 2     // STATUS_CODE_ERROR
	flagKnowsRemote   = 0x100 // SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK
	flagRemoteContext = 0x200 // SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK
)

func nanoseconds(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// attributesOf converts attributes to OTLP. Values other than integers and booleans become strings.
func attributesOf(attributes []attribute.KeyValue) []message {
	encoded := []message{}
	for _, a := range attributes {
		value := textOf(a.Value.String())
		switch a.Value.Type() {
		case attribute.INT64:
			value = message{"intValue": strconv.FormatInt(a.Value.AsInt64(), 10)}
		case attribute.BOOL:
			value = message{"boolValue": a.Value.AsBool()}
		}
		encoded = append(encoded, message{"key": string(a.Key), "value": value})
	}
	return encoded
}

func textOf(text string) message { return message{"stringValue": text} }

// warnInterval is the minimum time between two warnings, so that a collector that is down for a day does
// not fill the log.
const warnInterval = time.Minute

// warner logs that spans are lost, at most once per warnInterval.
type warner struct {
	log *slog.Logger
	now func() time.Time

	mu          sync.Mutex
	lastWarning time.Time
	spans       int // lost since the last warning
}

// lost counts lost spans, and logs a warning if one is due.
func (w *warner) lost(spans int, err error) {
	w.mu.Lock()
	w.spans += spans
	now := w.now()
	if !w.lastWarning.IsZero() && now.Sub(w.lastWarning) < warnInterval {
		w.mu.Unlock()
		return
	}
	lost := w.spans
	w.lastWarning = now
	w.spans = 0
	w.mu.Unlock()
	w.log.Warn("traces cannot be sent", "reason", err.Error(), "lostSpans", lost)
}

// sdkErrors is a slog.Handler for the log of the SDK.
type sdkErrors struct{ *warner }

// Enabled reports whether the level is that of errors.
func (sdkErrors) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }

// Handle logs the message without its attributes, which can contain secrets.
func (s sdkErrors) Handle(_ context.Context, r slog.Record) error {
	s.lost(0, errors.New("OpenTelemetry: "+r.Message))
	return nil
}

// WithAttrs ignores the attributes.
func (s sdkErrors) WithAttrs([]slog.Attr) slog.Handler { return s }

// WithGroup ignores the group.
func (s sdkErrors) WithGroup(string) slog.Handler { return s }

// Logs sends log records to a collector, as OTLP over HTTP in JSON. It is not safe for concurrent use.
type Logs struct {
	exporter *exporter
	version  string
}

// LogRecord is a log record. Attributes are pairs of a name and a value; empty values are omitted.
type LogRecord struct {
	Time       time.Time
	Warn       bool // severity is warning instead of informational
	Text       string
	Attributes [][2]string
}

// OpenLogs returns Logs for the address of a collector, such as http://localhost:4318/v1/logs. It uses
// the headers in the variables of OpenTelemetry. The error is a [*failure.RequestError] for an invalid
// variable, and otherwise about the address.
func OpenLogs(address string, getenv func(string) string, version string) (*Logs, error) {
	u, err := url.Parse(address)
	hasPath := err == nil && u.Path != "" && u.Path != "/"
	if !hasPath || !isWeb(u) || u.User != nil {
		return nil, errors.New(
			"want an http or https URL with the path of logs, such as http://localhost:4318/v1/logs, and secrets in OTEL_EXPORTER_OTLP_LOGS_HEADERS",
		)
	}
	headers, err := environment(getenv).headers(logsHeadersVariable, headersVariable)
	if err != nil {
		return nil, err
	}
	return &Logs{newExporter(collector{url: address, headers: headers}, version, nil), version}, nil
}

const logsHeadersVariable = "OTEL_EXPORTER_OTLP_LOGS_HEADERS"

const (
	severityInfo = 9  // SEVERITY_NUMBER_INFO
	severityWarn = 13 // SEVERITY_NUMBER_WARN
)

// Send sends records once. refused is how many of them the collector permanently rejected, and reason is
// its explanation. After an error none was accepted, and another try may succeed.
func (l *Logs) Send(ctx context.Context, records []LogRecord) (refused int, reason string, err error) {
	var encoded []message
	for _, r := range records {
		attributes := []message{}
		for _, a := range r.Attributes {
			if a[1] != "" {
				attributes = append(attributes, message{"key": a[0], "value": textOf(a[1])})
			}
		}
		m := message{
			"timeUnixNano":         nanoseconds(r.Time),
			"observedTimeUnixNano": nanoseconds(time.Now()),
			"severityNumber":       severityInfo,
			"severityText":         "INFO",
			"body":                 textOf(r.Text),
			"attributes":           attributes,
		}
		if r.Warn {
			m["severityNumber"] = severityWarn
			m["severityText"] = "WARN"
		}
		encoded = append(encoded, m)
	}
	body, err := json.Marshal(message{"resourceLogs": []message{{
		"resource":  message{"attributes": attributesOf(resourceOf(l.version).Attributes())},
		"scopeLogs": []message{{"scope": message{"name": "vaultwicket", "version": l.version}, "logRecords": encoded}},
	}}})
	if err != nil {
		return 0, "", err
	}
	refused, reason, err = l.exporter.post(ctx, body)
	status, hasStatus := errors.AsType[*refusedStatus](err)
	isPermanent := hasStatus && (status.code == http.StatusBadRequest || status.code == http.StatusRequestEntityTooLarge)
	if isPermanent {
		return len(records), status.Error(), nil
	}
	return refused, reason, err
}

// Close cancels requests in progress and closes idle connections.
func (l *Logs) Close() {
	l.exporter.giveUp()
	l.exporter.client.CloseIdleConnections()
}

// isWeb reports whether a URL is an http or https URL with a host.
func isWeb(u *url.URL) bool { return u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") }
