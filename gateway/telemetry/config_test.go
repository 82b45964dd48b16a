package telemetry

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestTheCollectorOfTheEnvironment(t *testing.T) {
	const here = "http://localhost:4318"
	for _, tt := range []struct {
		name string
		env  map[string]string
		want collector
	}{
		{"the endpoint of all signals", map[string]string{endpointVariable: here}, collector{url: here + "/v1/traces", timeout: defaultTimeout}},
		{"with a folder", map[string]string{endpointVariable: here + "/otlp/"}, collector{url: here + "/otlp/v1/traces", timeout: defaultTimeout}},
		{"the endpoint of traces", map[string]string{endpointVariable: here, tracesEndpointVariable: "https://a/b"},
			collector{url: "https://a/b", timeout: defaultTimeout}},
		{"limits", map[string]string{endpointVariable: here, timeoutVariable: "500", tracesTimeoutVariable: "700"},
			collector{url: here + "/v1/traces", timeout: 700 * time.Millisecond}},
		{"a limit that is too long", map[string]string{endpointVariable: here, timeoutVariable: "600000"},
			collector{url: here + "/v1/traces", timeout: maxTimeout}},
		{"a protocol", map[string]string{endpointVariable: here, protocolVariable: "grpc",
			tracesProtocolVariable: "http/protobuf"}, collector{url: here + "/v1/traces", timeout: defaultTimeout}},
	} {
		got, err := collectorIn(func(name string) string { return tt.env[name] })
		require.Equal(t, err, nil, "%s", tt.name)
		require.That(t, got != nil, "%s: %+v, %v", tt.name, got, err)
		require.Equal(t, got.url, tt.want.url, "%s", tt.name)
		require.Equal(t, got.timeout, tt.want.timeout, "%s", tt.name)
		assert.Equal(t, len(got.headers), 0, "%s", tt.name)
	}
}

// OpenTelemetry has a value that an implementation does not know ignored with a
// warning. A value it knows gets none.
func TestAnotherEncodingThanTheOneThatIsSentIsToldOf(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
		{"", "", ""},
		{protocolVariable, "http/json", ""},
		{protocolVariable, "http/protobuf", `variable=OTEL_EXPORTER_OTLP_PROTOCOL value=http/protobuf`},
		{tracesProtocolVariable, "http/protobuf", `variable=OTEL_EXPORTER_OTLP_TRACES_PROTOCOL value=http/protobuf`},
	} {
		var log bytes.Buffer
		env := map[string]string{endpointVariable: "http://localhost:4318", tt.name: tt.value}
		tr, err := OpenTracing(TracingConfig{Getenv: func(name string) string { return env[name] }, Log: slog.New(slog.NewTextHandler(&log, nil))})
		require.Equal(t, err, nil, "%s=%q", tt.name, tt.value)
		require.That(t, tr != nil, "%s=%q: %v", tt.name, tt.value, err)
		tr.Close()
		got := log.String()
		if tt.want == "" && got != "" ||
			tt.want != "" && (!strings.Contains(got, tt.want) || !strings.Contains(got, "level=WARN") ||
				!strings.Contains(got, "http/json")) {
			t.Errorf("%s=%q: %q", tt.name, tt.value, got)
		}
	}
}

func TestVariablesThatCannotBeUnderstood(t *testing.T) {
	for _, tt := range []struct{ name, value, want, hint string }{
		{endpointVariable, "localhost:4318", "is not an http", "http://localhost:4318"},
		{endpointVariable, "ftp://s3cret", "is not an http", "http://localhost:4318"},
		{tracesEndpointVariable, "http://", "is not an http", "http://localhost:4318"},
		{tracesEndpointVariable, "http://s3cret\x7f", "is not an http", "http://localhost:4318"},
		{headersVariable, "s3cret", "is not a list of headers", "key=value"},
		{headersVariable, "a=%zzs3cret", "is not a list of headers", "key=value"},
		{headersVariable, "a b=s3cret", "is not a list of headers", "key=value"},
		{tracesHeadersVariable, "a=s3cret%0d%0ab: c", "is not a list of headers", "key=value"},
		{timeoutVariable, "10s", `"10s" is not a number of milliseconds`, "10000"},
		{timeoutVariable, "0", `"0" is not a number of milliseconds`, "10000"},
		{protocolVariable, "grpc", `"grpc" is not supported`, "4318"},
		{protocolVariable, "http/jsno", `"http/jsno" is not supported`, `did you mean "http/json"?`},
	} {
		env := map[string]string{endpointVariable: "http://localhost:4318", tt.name: tt.value}
		tr, err := OpenTracing(TracingConfig{Getenv: func(name string) string { return env[name] }})
		var wrong *failure.RequestError
		if !errors.As(err, &wrong) || tr != nil ||
			!strings.HasPrefix(err.Error(), fmt.Sprintf("environment %q: ", tt.name)) ||
			!strings.Contains(err.Error(), tt.name) || !strings.Contains(err.Error(), tt.want) ||
			!strings.Contains(wrong.Hint(), tt.hint) || wrong.Code() != "bad_request" || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s=%q: %v (%v)", tt.name, tt.value, err, wrong)
		}
	}
}

func TestHeadersAreReadAsTheSpecificationHasThem(t *testing.T) {
	env := environment(func(name string) string {
		return map[string]string{headersVariable: " a = 1 ,b=x%2Cy, ,c=k=v "}[name]
	})
	got, err := env.headers(tracesHeadersVariable, headersVariable)
	require.NoError(t, err)
	require.Equal(t, got.Get("A"), "1")
	require.Equal(t, got.Get("B"), "x,y")
	require.Equal(t, got.Get("C"), "k=v")
	assert.Equal(t, len(got), 3)
}
