package gateway

import (
	"context"
	"slices"
)

// refuseBatch ends a batch of which nothing is begun. The log says which of its
// operations was refused, or that it was the batch, and it counts as one call.
func (g *door) refuseBatch(ctx context.Context, b Batch, clientID string, err error) BatchResult {
	if limit := g.admission.call(b.Caller); limit != nil {
		clientID, err = "", limit
	}
	g.recordOfBatch(ctx, b, clientID).refused(failed(batchCommand, err))
	return refusedBatch(clientID, err)
}

// recordOfBatch begins a record of the batch, or of its operation of that name.
func (g *door) recordOfBatch(ctx context.Context, b Batch, clientID string) *record {
	i := slices.IndexFunc(b.Operations, func(o Operation) bool { return clientID != "" && o.ClientID == clientID })
	if i < 0 {
		return g.records.begin(g.name(), b.from(Request{Command: batchCommand}), g.observedIn(ctx))
	}
	o, plan := b.Operations[i], Plan{}
	if request, err := o.withStandIns(); err == nil {
		plan, _ = g.Plan(request)
	}
	return g.recordOfStep(ctx, b, o, plan)
}

// recordOfStep begins the record of an operation before the batch is begun.
func (g *door) recordOfStep(ctx context.Context, b Batch, o Operation, plan Plan) *record {
	line := g.records.begin(g.name(), b.from(o.Request), g.observedIn(ctx))
	line.described(plan)
	line.takes(o.From)
	return line
}

// from gives a request of the batch what is known of who sent it.
func (b Batch) from(request Request) Request {
	request.Vault, request.Caller, request.Client, request.Surface = b.Vault, b.Caller, b.Client, b.Surface
	return request
}
