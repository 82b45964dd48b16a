package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"
)

// Logs sends log records to a collector as OTLP over HTTP in JSON. It is used by one goroutine at a
// time.
type Logs struct {
	exporter *exporter
	version  string
}

// LogRecord is a log record. Attributes are names and values; those with the value "" are left out.
type LogRecord struct {
	Time       time.Time
	Warn       bool // more than informational
	Text       string
	Attributes [][2]string
}

// OpenLogs returns what sends to the address of a collector, such as http://localhost:4318/v1/logs,
// with the headers that the variables of OpenTelemetry name. The error is for a wrong address or a
// [*failure.RequestError].
func OpenLogs(address string, getenv func(string) string, version string) (*Logs, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Path == "" || u.Path == "/" || u.User != nil {
		return nil, errors.New("want an http or https URL with the path of logs, such as http://localhost:4318/v1/logs, and secrets in OTEL_EXPORTER_OTLP_LOGS_HEADERS")
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

// Send sends records once. refused are those that the collector does not take and never will, with
// its reason; after an error none was taken, and another try makes sense.
func (l *Logs) Send(ctx context.Context, records []LogRecord) (refused int, reason string, err error) {
	var all []message
	for _, r := range records {
		attributes := []message{}
		for _, a := range r.Attributes {
			if a[1] != "" {
				attributes = append(attributes, message{"key": a[0], "value": textOf(a[1])})
			}
		}
		m := message{
			"timeUnixNano": nanoseconds(r.Time), "observedTimeUnixNano": nanoseconds(time.Now()),
			"severityNumber": severityInfo, "severityText": "INFO", "body": textOf(r.Text), "attributes": attributes,
		}
		if r.Warn {
			m["severityNumber"], m["severityText"] = severityWarn, "WARN"
		}
		all = append(all, m)
	}
	body, err := json.Marshal(message{"resourceLogs": []message{{
		"resource":  message{"attributes": attributesOf(resourceOf(l.version).Attributes())},
		"scopeLogs": []message{{"scope": message{"name": "vaultwicket", "version": l.version}, "logRecords": all}},
	}}})
	if err != nil {
		return 0, "", err
	}
	refused, reason, err = l.exporter.post(ctx, body)
	if status, ok := errors.AsType[*refusedStatus](err); ok && (status.code == http.StatusBadRequest || status.code == http.StatusRequestEntityTooLarge) {
		return len(records), status.Error(), nil
	}
	return refused, reason, err
}

// Close closes what is open.
func (l *Logs) Close() {
	l.exporter.giveUp()
	l.exporter.client.CloseIdleConnections()
}
