package wiring

import (
	"errors"

	"vaultwicket/cmd/internal/release"
	"vaultwicket/exec"
	"vaultwicket/gateway/observe"
	"vaultwicket/gateway/observe/telemetry"
)

// openObservers opens what is told of the calls. The variables of OpenTelemetry
// are those of every program of a machine, so a wrong one is no reason not to
// serve.
func (o *Opened) openObservers() {
	if o.HTTP.Addr != "" { // else nobody could read them
		o.Metrics = telemetry.NewMetrics(release.Version)
	}
	traces, err := telemetry.OpenTracing(telemetry.TracingConfig{Getenv: o.Std.Getenv, Version: release.Version, Log: o.Log})
	var wrong *telemetry.ConfigError
	if errors.As(err, &wrong) {
		o.Log.Warn("tracing is off: "+wrong.Error(), "hint", wrong.Hint())
	}
	o.Traces, o.Activity = traces, &Activity{}
}

// observer returns who is told of the calls, nil if nobody is.
func (o Opened) observer() observe.Observer {
	var all []observe.Observer
	if o.Metrics != nil {
		all = append(all, o.Metrics)
	}
	if o.Traces != nil {
		all = append(all, o.Traces)
	}
	if o.Activity != nil {
		all = append(all, o.Activity)
	}
	return observe.All(all...)
}

// watcher returns who is told of the programs, nil if nobody is.
func (o Opened) watcher() exec.Watcher {
	if o.Traces == nil {
		return nil
	}
	return o.Traces
}

// Follow has the metrics ask what is running. sessions is nil where there are none.
func (o Opened) Follow(sessions func() int) {
	if o.Metrics != nil {
		o.Metrics.Follow(telemetry.Sources{Load: o.Gateway.Load, Children: o.Runner.Children, Sessions: sessions})
	}
}
