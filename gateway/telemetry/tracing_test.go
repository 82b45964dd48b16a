package telemetry

import (
	"context"
	"encoding/hex"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

const (
	callerTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callerSpan  = "00f067aa0ba902b7"
)

// oneCall has a call with one run of a program observed.
func oneCall(tr *Tracing, ctx context.Context, code string) {
	ctx, call := tr.Begin(ctx, CallStart{Command: "read", Surface: "mcp"})
	if call == nil {
		return
	}
	call.Decided(Decision{Decision: "allow"})
	if end := tr.BeginRun(ctx, "embedded"); end != nil {
		end(0, "")
	}
	call.End(CallEnd{Code: code, Decision: "allow", Backend: "embedded", Effect: "read", Bytes: 7})
}

func TestACallAndItsProgramAreSpans(t *testing.T) {
	c := newCollector(t)
	tr, log := open(t, map[string]string{endpointVariable: c.URL + "/base/", headersVariable: "authorization=Bearer%20s3cret,x-tenant=a"})
	ctx := WithTrace(t.Context(), Trace{Parent: "00-" + callerTrace + "-" + callerSpan + "-01", State: "a=b"})
	before := time.Now()
	oneCall(tr, ctx, "ok")
	tr.Close()
	require.Equal(t, len(c.sent()), 1, "%d requests, log %s", len(c.sent()), log)
	require.Equal(t, log.String(), "", "%d requests, log %s", len(c.sent()), log)
	r := c.sent()[0]
	if r.Method != http.MethodPost || r.URL.Path != "/base/v1/traces" || r.Header.Get("Content-Type") != "application/json" ||
		r.Header.Get("Authorization") != "Bearer s3cret" || r.Header.Get("X-Tenant") != "a" || r.UserAgent() != "vaultwicket/1.2.3" {
		t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
	}
	call, run := c.spans()["call read"], c.spans()["run"]
	if hex.EncodeToString(call.GetTraceId()) != callerTrace || hex.EncodeToString(call.GetParentSpanId()) != callerSpan || call.GetTraceState() != "a=b" ||
		call.GetKind() != tracepb.Span_SPAN_KIND_SERVER || call.GetStatus() != nil || call.GetFlags() != 0x301 {
		t.Errorf("the call is %v", call)
	}
	if hex.EncodeToString(run.GetTraceId()) != callerTrace ||
		string(run.GetParentSpanId()) != string(call.GetSpanId()) || run.GetKind() != tracepb.Span_SPAN_KIND_CLIENT {
		t.Errorf("the program is %v below %v", run, call)
	}
	if at := time.Unix(0, int64(call.GetStartTimeUnixNano())); at.Before(before) || call.GetEndTimeUnixNano() < run.GetEndTimeUnixNano() {
		t.Errorf("the call began %v and ended %d", at, call.GetEndTimeUnixNano())
	}
	want := map[string]string{
		"vaultwicket.command": "read", "vaultwicket.kind": "single", "vaultwicket.surface": "mcp", "vaultwicket.decision": "allow", "vaultwicket.outcome": "ok",
		"vaultwicket.backend": "embedded", "vaultwicket.effect": "read", "vaultwicket.output.bytes": "7",
	}
	got := attributesOfSpan(call)
	assert.That(t, maps.Equal(got, want), "the call says %v, want %v", got, want)
	e := call.GetEvents()
	require.Equal(t, len(e), 1, "events %v", e)
	require.Equal(t, e[0].GetName(), "decision", "events %v", e)
	assert.Equal(t, e[0].GetAttributes()[0].GetValue().GetStringValue(), "allow", "events %v", e)
}

func TestOperationsAreBelowTheirBatch(t *testing.T) {
	c := newCollector(t)
	tr, _ := open(t, map[string]string{tracesEndpointVariable: c.URL + "/own/path"})
	ctx := WithTrace(t.Context(), Trace{Parent: "00-" + callerTrace + "-" + callerSpan + "-01"})
	ctx, batch := tr.Begin(ctx, CallStart{Command: "batch", Kind: WholeBatch})
	oneCall(tr, ctx, "timeout")
	batch.End(CallEnd{Code: "timeout"})
	tr.Close()
	whole, operation := c.spans()["call batch"], c.spans()["call read"]
	if string(operation.GetParentSpanId()) != string(whole.GetSpanId()) || hex.EncodeToString(whole.GetParentSpanId()) != callerSpan {
		t.Errorf("%v is not below %v", operation, whole)
	}
	s := operation.GetStatus()
	assert.Equal(t, s.GetCode(), tracepb.Status_STATUS_CODE_ERROR, "a timeout is %v", s)
	assert.Equal(t, s.GetMessage(), "timeout", "a timeout is %v", s)
	path := c.sent()[0].URL.Path
	assert.That(t, path == "/own/path", "sent to %s", path)
}

func TestWhichOutcomesAreErrors(t *testing.T) {
	c := newCollector(t)
	tr, _ := open(t, map[string]string{endpointVariable: c.URL})
	for code, want := range map[string]bool{
		"ok": false, "not_found": false, "tier_closed": false, "bad_value": false, "timeout": true, "cli_not_found": true, "internal": true,
	} {
		_, call := tr.Begin(t.Context(), CallStart{Command: code})
		call.End(CallEnd{Code: code})
		defer func() {
			got := c.spans()["call "+code].GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR
			assert.That(t, got == want, "%s is an error: %v, want %v", code, got, want)
		}()
	}
	tr.Close()
}

func TestWhoSendsIsSaid(t *testing.T) {
	for _, tt := range []struct {
		name string
		env  map[string]string
		want string
	}{
		{"by itself", nil, "vaultwicket"},
		{"by the name that the environment has", map[string]string{"OTEL_SERVICE_NAME": "notes"}, "notes"},
		{"by the attributes that the environment has", map[string]string{"OTEL_RESOURCE_ATTRIBUTES": "service.name=other,team=a"}, "other"},
	} {
		for name, value := range tt.env {
			t.Setenv(name, value)
		}
		c := newCollector(t)
		tr, _ := open(t, map[string]string{endpointVariable: c.URL})
		oneCall(tr, t.Context(), "ok")
		tr.Close()
		from := c.parse(c.bodies[0]).GetResourceSpans()[0]
		got := map[string]string{}
		for _, a := range from.GetResource().GetAttributes() {
			got[a.GetKey()] = a.GetValue().GetStringValue()
		}
		if got["service.name"] != tt.want || got["service.version"] != "1.2.3" || got["process.command_args"] != "" || got["telemetry.sdk.language"] != "go" {
			t.Errorf("%s: %v", tt.name, got)
		}
		scope := from.GetScopeSpans()[0].GetScope()
		assert.Equal(t, scope.GetName(), "vaultwicket", "%s: the scope is %v", tt.name, scope)
		assert.Equal(t, scope.GetVersion(), "1.2.3", "%s: the scope is %v", tt.name, scope)
		for name := range tt.env {
			t.Setenv(name, "")
		}
	}
}

func TestWithoutACollectorThereIsNothing(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"no variable":       {},
		"empty variables":   {endpointVariable: " ", tracesEndpointVariable: ""},
		"the SDK is off":    {endpointVariable: "http://localhost:4318", disabledVariable: "true"},
		"no exporter":       {endpointVariable: "http://localhost:4318", exporterVariable: "none"},
		"only what is else": {headersVariable: "a=b", timeoutVariable: "x", protocolVariable: "grpc"},
	} {
		tr, err := OpenTracing(TracingConfig{Getenv: func(name string) string { return env[name] }})
		assert.That(t, tr == nil, "%s: %v, %v", name, tr, err)
		assert.NoError(t, err, "%s", name)
		tr.Close()
	}
	tr, err := OpenTracing(TracingConfig{})
	assert.That(t, tr == nil, "no environment: %v, %v", tr, err)
	assert.NoError(t, err, "no environment")
}

func TestWhatIsNotSampledIsNotSent(t *testing.T) {
	for _, tt := range []struct{ name, sampler, flags string }{
		{"by the sampler", "always_off", "01"},
		{"by the caller", "", "00"},
	} {
		t.Setenv("OTEL_TRACES_SAMPLER", tt.sampler)
		c := newCollector(t)
		tr, _ := open(t, map[string]string{endpointVariable: c.URL})
		ctx, call := tr.Begin(WithTrace(t.Context(), Trace{Parent: "00-" + callerTrace + "-" + callerSpan + "-" + tt.flags}), CallStart{Command: "read"})
		require.That(t, call == nil, "%s: the call is observed", tt.name)
		assert.That(t, tr.BeginRun(ctx, "embedded") == nil, "%s: the call is observed", tt.name)
		tr.Close()
		n := len(c.sent())
		assert.That(t, n == 0, "%s: %d requests", tt.name, n)
	}
}

func TestWhatTheSDKSaysIsAWarning(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "sometimes")
	c := newCollector(t)
	_, log := open(t, map[string]string{endpointVariable: c.URL, headersVariable: "a=s3cret"})
	got := log.String()
	assert.Contains(t, got, "sometimes", "the log contains %q", got)
	assert.Equal(t, strings.Count(got, "\n"), 1, "the log contains %q", got)
	assert.That(t, !strings.Contains(got, "s3cret"), "the log contains %q", got)
}

// A collector that takes requests and never answers holds up no call, and the end
// of the server for no longer than it may.
func TestACollectorThatHangsHoldsUpNobody(t *testing.T) {
	release := make(chan struct{})
	c := newCollector(t, func(http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	tr, log := open(t, map[string]string{endpointVariable: c.URL})
	for range 5000 { // more than the queue of the SDK has room for
		oneCall(tr, t.Context(), "ok")
	}
	done := make(chan struct{})
	go func() { tr.Close(); close(done) }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("the end waits for the collector")
	}
	select {
	case <-log.wrote:
	case <-time.After(30 * time.Second):
		t.Fatal("no one is told")
	}
	got := log.String()
	assert.Equal(t, strings.Count(got, "\n"), 1, "the log contains %q", got)
	assert.Contains(t, got, "traces cannot be sent", "the log contains %q", got)
}
