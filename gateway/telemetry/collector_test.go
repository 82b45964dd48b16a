package telemetry

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestMain(m *testing.M) {
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "OTEL_") {
			os.Unsetenv(name)
		}
	}
	goleak.VerifyTestMain(m)
}

// answers is how a fake collector answers a request, the last one again and
// again.
type answers []func(http.ResponseWriter, *http.Request)

func status(code int, headers ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
	}
}

func says(body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
}

// fakeCollector takes traces over HTTP and keeps what it was sent.
type fakeCollector struct {
	*httptest.Server
	t *testing.T

	mu       sync.Mutex
	answers  answers
	requests []*http.Request
	bodies   [][]byte
}

func newCollector(t *testing.T, a ...func(http.ResponseWriter, *http.Request)) *fakeCollector {
	t.Helper()
	if a == nil {
		a = answers{says("{}")}
	}
	c := &fakeCollector{t: t, answers: a}
	c.Server = httptest.NewServer(http.HandlerFunc(c.take))
	t.Cleanup(c.Close)
	return c
}

func (c *fakeCollector) take(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	assert.That(c.t, err == nil, "%v", err)
	c.mu.Lock()
	answer := c.answers[min(len(c.requests), len(c.answers)-1)]
	c.requests, c.bodies = append(c.requests, r), append(c.bodies, body)
	c.mu.Unlock()
	answer(w, r)
}

// sent returns the requests so far.
func (c *fakeCollector) sent() []*http.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests
}

// spans returns what the collector was sent, by the name of the span, read with
// the messages of OpenTelemetry: a field that they do not have is an error.
func (c *fakeCollector) spans() map[string]*tracepb.Span {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]*tracepb.Span{}
	for _, body := range c.bodies {
		for _, span := range c.parse(body).GetResourceSpans()[0].GetScopeSpans()[0].GetSpans() {
			all[span.GetName()] = span
		}
	}
	return all
}

func (c *fakeCollector) parse(body []byte) *tracepb.TracesData {
	c.t.Helper()
	var message any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&message); err != nil {
		c.t.Fatalf("%v in %s", err, body)
	}
	// In OTLP identifiers are hexadecimal, in other messages bytes are base64.
	text, _ := json.Marshal(inBase64(c.t, message))
	var data tracepb.TracesData
	if err := protojson.Unmarshal(text, &data); err != nil {
		c.t.Fatalf("%v in %s", err, body)
	}
	return &data
}

func inBase64(t *testing.T, value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			v[key] = inBase64(t, inner)
			if id, is := inner.(string); is && (key == "traceId" || key == "spanId" || key == "parentSpanId") {
				raw, err := hex.DecodeString(id)
				assert.That(t, err == nil, "%s %q is not hexadecimal", key, id)
				v[key] = base64.StdEncoding.EncodeToString(raw)
			}
		}
	case []any:
		for i, inner := range v {
			v[i] = inBase64(t, inner)
		}
	}
	return value
}

// attributesOfSpan returns the attributes as text.
func attributesOfSpan(span *tracepb.Span) map[string]string {
	all := map[string]string{}
	for _, a := range span.GetAttributes() {
		value := a.GetValue().GetStringValue()
		if value == "" {
			value = strconv.FormatInt(a.GetValue().GetIntValue(), 10)
		}
		all[a.GetKey()] = value
	}
	return all
}

// open returns what sends to a collector, and its log.
func open(t *testing.T, env map[string]string) (*Tracing, *syncedLog) {
	t.Helper()
	log := &syncedLog{wrote: make(chan struct{})}
	tr, err := OpenTracing(TracingConfig{Getenv: func(name string) string { return env[name] }, Version: "1.2.3", Log: slog.New(slog.NewTextHandler(log, nil))})
	require.NoError(t, err)
	require.That(t, tr != nil, "no traces are sent")
	t.Cleanup(func() {
		tr.Close()
		otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { t.Log(err) }))
	})
	return tr, log
}

// syncedLog is a log that tells of its first message.
type syncedLog struct {
	fake.Log
	first sync.Once
	wrote chan struct{} // closed with the first message, if there is someone to wait for it
}

func (l *syncedLog) Write(p []byte) (int, error) {
	n, err := l.Log.Write(p)
	if l.wrote != nil {
		l.first.Do(func() { close(l.wrote) })
	}
	return n, err
}
