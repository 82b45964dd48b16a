package tracing

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"

	"vaultwicket/allowlist/quote"
)

// The variables of OpenTelemetry that are read here. One with TRACES in its name
// comes before the one without.
const (
	endpointVariable       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	tracesEndpointVariable = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	headersVariable        = "OTEL_EXPORTER_OTLP_HEADERS"
	tracesHeadersVariable  = "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
	timeoutVariable        = "OTEL_EXPORTER_OTLP_TIMEOUT"
	tracesTimeoutVariable  = "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"
	protocolVariable       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	tracesProtocolVariable = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	exporterVariable       = "OTEL_TRACES_EXPORTER"
	disabledVariable       = "OTEL_SDK_DISABLED"
)

const (
	tracesPath     = "v1/traces"      // below the endpoint of all signals
	defaultTimeout = 10 * time.Second // of the specification
	maxTimeout     = time.Minute      // longer, and the queue is full before the collector is given up
)

// collector is where traces are sent.
type collector struct {
	url     string
	headers http.Header
	timeout time.Duration // for one batch of spans, all tries together
	ignored string        // the variable that asks for protobuf, "" if none does
}

// ConfigError is a variable of OpenTelemetry that cannot be understood. Values
// are not in it where they can be secret.
type ConfigError struct{ Variable, reason, hint string }

func (e *ConfigError) Error() string { return fmt.Sprintf("environment %q: %s", e.Variable, e.reason) }

// Code is that of a wrong setting.
func (e *ConfigError) Code() string { return "bad_request" }

// Hint says what would be right.
func (e *ConfigError) Hint() string { return e.hint }

// environment finds variables. One that is set to nothing is not set.
type environment func(string) string

// first returns the first of the variables that is set, and its name.
func (get environment) first(names ...string) (value, name string) {
	for _, name := range names {
		if value := strings.TrimSpace(get(name)); value != "" {
			return value, name
		}
	}
	return "", ""
}

// collectorIn returns the collector that the environment names, nil if it names
// none or traces are switched off.
func collectorIn(getenv func(string) string) (*collector, error) {
	get := environment(getenv)
	endpoint, name := get.first(tracesEndpointVariable, endpointVariable)
	if endpoint == "" || strings.EqualFold(get(disabledVariable), "true") || get(exporterVariable) == "none" {
		return nil, nil
	}
	c := &collector{}
	var err error
	if c.ignored, err = get.protocol(); err != nil {
		return nil, err
	}
	if c.url, err = endpointURL(endpoint, name); err != nil {
		return nil, err
	}
	if c.headers, err = get.headers(); err != nil {
		return nil, err
	}
	c.timeout, err = get.timeout()
	return c, err
}

const (
	jsonProtocol   = "http/json" // the one that is sent
	binaryProtocol = "http/protobuf"
)

// protocol returns the variable that asks for another encoding over HTTP than the
// one that is sent, "" if none does. OpenTelemetry has such a value ignored with a
// warning; most collectors take both. The error is for a protocol that has an
// address of its own, and for what is none.
func (get environment) protocol() (ignored string, err error) {
	asked, name := get.first(tracesProtocolVariable, protocolVariable)
	switch asked {
	case "", jsonProtocol:
		return "", nil
	case binaryProtocol:
		return name, nil
	}
	hint := "set http/json, and the endpoint to that of OTLP over HTTP, which is mostly port 4318"
	if near := quote.Nearest(asked, []string{jsonProtocol}); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return "", &ConfigError{name, fmt.Sprintf("%q is not supported", quote.Short(asked)), hint}
}

// endpointURL returns the address for traces. That of all signals is the folder
// of it.
func endpointURL(endpoint, name string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", &ConfigError{name, "is not an http or https URL", "such as http://localhost:4318"}
	}
	if name == endpointVariable {
		u = u.JoinPath(tracesPath)
	}
	return u.String(), nil
}

// headers reads a list such as "key=value,key2=value%202".
func (get environment) headers() (http.Header, error) {
	list, name := get.first(tracesHeadersVariable, headersVariable)
	headers := http.Header{}
	for item := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(item) == "" {
			continue
		}
		key, value, pair := strings.Cut(item, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if key = strings.TrimSpace(key); !pair || err != nil || !isToken(key) || strings.ContainsFunc(value, isControl) {
			return nil, &ConfigError{name, "is not a list of headers", "such as key=value,other=value, with a comma in a value written as %2C"}
		}
		headers.Add(key, value)
	}
	return headers, nil
}

// isToken reports whether s can be the name of a header.
func isToken(s string) bool {
	const others = "!#$%&'*+-.^_`|~"
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || strings.ContainsRune(others, r))
	})
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// timeout reads a number of milliseconds.
func (get environment) timeout() (time.Duration, error) {
	text, name := get.first(tracesTimeoutVariable, timeoutVariable)
	if text == "" {
		return defaultTimeout, nil
	}
	ms, err := strconv.ParseInt(text, 10, 32)
	if err != nil || ms <= 0 {
		return 0, &ConfigError{name, fmt.Sprintf("%q is not a number of milliseconds", quote.Short(text)), "such as 10000, up to 60000"}
	}
	return min(time.Duration(ms)*time.Millisecond, maxTimeout), nil
}

// resourceOf says who sends: the service, by the names that the environment of
// the process has for it. What the SDK could find out about the process is not
// asked for: its arguments hold the folder of the vault.
func resourceOf(version string) *resource.Resource {
	own := resource.WithAttributes(attribute.String("service.name", "vaultwicket"), attribute.String("service.version", version))
	found, err := resource.New(context.Background(), resource.WithTelemetrySDK(), own, resource.WithFromEnv())
	if err != nil { // a list of attributes that cannot be read, of which the SDK tells
		found, _ = resource.New(context.Background(), resource.WithTelemetrySDK(), own)
	}
	return found
}
