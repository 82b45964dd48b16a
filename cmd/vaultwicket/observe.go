package main

import (
	"vaultwicket/gateway"
	"vaultwicket/gateway/metrics"
)

// observer returns who is told of the calls, nil if nobody is.
func (o opened) observer() gateway.Observer {
	var all []gateway.Observer
	if o.metrics != nil {
		all = append(all, o.metrics)
	}
	return gateway.Observers(all...)
}

// follow has the metrics ask what is running.
func (o opened) follow() {
	if o.metrics != nil {
		o.metrics.Follow(metrics.Sources{Load: o.gateway.Load, Children: o.runner.Children})
	}
}
