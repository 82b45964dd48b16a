package main

import (
	"errors"

	"vaultwicket/cmd/internal/release"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/exec"
	"vaultwicket/gateway"
	"vaultwicket/gateway/observe/metrics"
	"vaultwicket/gateway/observe/tracing"
)

// openObservers opens what is told of the calls. The variables of OpenTelemetry
// are those of every program of a machine, so a wrong one is no reason not to
// serve.
func (o *opened) openObservers(std terminal.Streams) {
	if o.HTTP.Addr != "" { // else nobody could read them
		o.metrics = metrics.New(release.Version)
	}
	traces, err := tracing.Open(tracing.Config{Getenv: std.Getenv, Version: release.Version, Log: o.log})
	var wrong *tracing.ConfigError
	if errors.As(err, &wrong) {
		o.log.Warn("tracing is off: "+wrong.Error(), "hint", wrong.Hint())
	}
	o.traces = traces
}

// observer returns who is told of the calls, nil if nobody is.
func (o opened) observer() gateway.Observer {
	var all []gateway.Observer
	if o.metrics != nil {
		all = append(all, o.metrics)
	}
	if o.traces != nil {
		all = append(all, o.traces)
	}
	return gateway.Observers(all...)
}

// watcher returns who is told of the programs, nil if nobody is.
func (o opened) watcher() exec.Watcher {
	if o.traces == nil {
		return nil
	}
	return o.traces
}

// follow has the metrics ask what is running. sessions is nil where there are none.
func (o opened) follow(sessions func() int) {
	if o.metrics != nil {
		o.metrics.Follow(metrics.Sources{Load: o.gateway.Load, Children: o.runner.Children, Sessions: sessions})
	}
}
