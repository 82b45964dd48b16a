package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/panics"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
)

// call handles calls of obsidianCli.
func (h handler) call(
	ctx context.Context, client *transport.Peer, req mcp.CallToolRequest,
) (*mcp.CallToolResult, error) {
	call, refused := decodeCall(req.Params.RawArguments)
	return h.runDecoded(ctx, client, req, call, refused)
}

// read handles calls of obsidianRead: the gateway checks that such a call only reads, by the effect of the whole call.
func (h handler) read(
	ctx context.Context, client *transport.Peer, req mcp.CallToolRequest,
) (*mcp.CallToolResult, error) {
	call, refused := decodeCall(req.Params.RawArguments)
	call.ReadsOnly = true
	return h.runDecoded(ctx, client, req, call, refused)
}

// runDecoded runs a call of obsidianCli or obsidianRead, or refuses one that could not be decoded.
func (h handler) runDecoded(
	ctx context.Context, client *transport.Peer, req mcp.CallToolRequest, call toolCall, refused *argumentError,
) (*mcp.CallToolResult, error) {
	if refused != nil {
		return h.form(gateway.Request{})(gateway.Reject(call.Command, refused))
	}
	return h.run(ctx, client, req, call, h.form(call.Request))
}

// typed handles calls of a typed tool, of which the gateway checks what its hints promise.
func (h handler) typed(t *typedTool, hints mcp.ToolAnnotation) transport.ToolHandler {
	return func(ctx context.Context, client *transport.Peer, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		call, refused := t.decode(req.Params.RawArguments)
		if refused != nil {
			return answer(gateway.Reject(t.Name, refused))
		}
		call.ReadsOnly = *hints.ReadOnlyHint
		return h.run(
			ctx,
			client,
			req,
			call,
			func(r gateway.Result) (*mcp.CallToolResult, error) { return reply(t.content(r), !r.OK) },
		)
	}
}

// run runs one call, or previews it, for every tool but obsidianBatch.
func (h handler) run(
	ctx context.Context, client *transport.Peer, req mcp.CallToolRequest, call toolCall, form form,
) (*mcp.CallToolResult, error) {
	ctx, stop := report(ctx, client, req)
	defer stop()
	asks, view := h.complete(client, req, &call.Request)
	if call.DryRun {
		plan := h.Gateway.DryRun(ctx, call.Request)
		return reply(marked(h, plan), !plan.OK)
	}
	result := h.Gateway.Do(ctx, call.Request)
	if asks != nil && asks.pending != nil {
		return asks.pending, nil
	}
	answer, err := form(marked(h, result))
	if err != nil {
		return nil, err
	}
	name, _ := client.Client()
	return view.on(withImage(name, answer, result.Image), result.Difference), nil
}

// printsImages reports whether a call may be answered with an image. Arguments that only mention
// the command count as well: the price is that the call may wait for others.
func printsImages(_ string, raw json.RawMessage) bool {
	return bytes.Contains(raw, []byte("attachment"))
}

// changes reports whether a call of a tool would change something: such calls keep their
// order. A dry run, or a call that is denied, changes nothing.
func (h handler) changes(tool string, raw json.RawMessage) bool {
	return tool != readName && h.Gateway.BatchChanges(operations(tool, raw))
}

// operations returns what a call of a tool asks for, nothing for a dry run or arguments that are
// not valid. No arguments are valid both for a single call and a batch.
func operations(tool string, raw json.RawMessage) gateway.Batch {
	decode := decodeCall
	t := typedToolNamed(tool)
	if t != nil {
		decode = t.decode
	}
	call, refused := decode(raw)
	switch {
	case refused == nil && call.DryRun:
		return gateway.Batch{}
	case refused == nil:
		return gateway.Batch{Request: call.Request, Operations: []gateway.Operation{{Request: call.Request}}}
	case t != nil:
		return gateway.Batch{}
	}
	batch, _ := DecodeBatch(raw) // nothing for arguments that are not valid
	if batch.DryRun {
		return gateway.Batch{}
	}
	return batch.Batch
}

func surface(p *transport.Peer) string {
	if p.Caller != "" {
		return "http"
	}
	return "mcp" // standard input is one session without a name
}

// progressInterval is the time between two progress notifications. Most calls end before
// the first one.
const progressInterval = time.Second

// report sends progress notifications for a call that has a progress token: how far it has
// come where that is known, and the elapsed seconds. The call is to be made with the context
// that report returns. stop ends the notifications and returns when no more will be sent:
// clients drop those that arrive after the result.
func report(ctx context.Context, client *transport.Peer, req mcp.CallToolRequest) (_ context.Context, stop func()) {
	if req.Params.Meta == nil || req.Params.Meta.ProgressToken == nil {
		return ctx, func() {}
	}
	var latest atomic.Pointer[protocol.Progress]
	counted := protocol.WithProgress(ctx, func(c protocol.Progress) { latest.Store(&c) })
	ctx, cancel := context.WithCancel(ctx)
	var notifying conc.WaitGroup
	notifying.Go(func() {
		ticker := time.NewTicker(progressInterval)
		defer ticker.Stop()
		for p := (rising{}); ; {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			params := p.next(latest.Load())
			params["progressToken"] = req.Params.Meta.ProgressToken
			if err := client.Notify(ctx, string(mcp.MethodNotificationProgress), params); err != nil {
				return // the client has disconnected, or has cancelled the call
			}
		}
	})
	return counted, func() {
		cancel()
		notifying.Wait()
	}
}

// rising makes the parameters of one notification after the other. The protocol wants
// progress to rise with each; a count that does not is in the message alone.
type rising struct{ seconds, progress int }

// next returns the parameters for one more second. The count is nil where none is known.
func (r *rising) next(count *protocol.Progress) map[string]any {
	r.seconds++
	message := fmt.Sprintf("running for %d s", r.seconds)
	if count == nil {
		r.progress++
		return map[string]any{"progress": r.progress, "message": message}
	}
	params := map[string]any{"message": message + ", " + count.String()}
	if count.Done > r.progress {
		r.progress = count.Done
		params["total"] = count.Total
	} else {
		r.progress++
	}
	params["progress"] = r.progress
	return params
}

// The keys of the trace context in the _meta of a request.
const (
	traceParentKey = "traceparent"
	traceStateKey  = "tracestate"
)

// traced puts the trace context of a request into the context of its call, and answers a panic of the
// handler with a fixed text: the panic value can contain text of a note.
func traced(log *slog.Logger, next transport.ToolHandler) transport.ToolHandler {
	return func(ctx context.Context, client *transport.Peer, req mcp.CallToolRequest) (result *mcp.CallToolResult, err error) {
		if meta := req.Params.Meta; meta != nil {
			parent, _ := meta.AdditionalFields[traceParentKey].(string)
			state, _ := meta.AdditionalFields[traceStateKey].(string)
			ctx = telemetry.WithTrace(ctx, telemetry.Trace{Parent: parent, State: state})
		}
		panicked := panics.Try(func() { result, err = next(ctx, client, req) })
		if panicked != nil {
			telemetry.LogPanic(log, "tool", panicked.Value, panicked.Stack)
			return answer(gateway.Fault(req.Params.Name))
		}
		return result, err
	}
}

// visibleError returns an error as a client may see it, with its hint in the message: a
// protocol error has no other field for it.
func visibleError(err error) error {
	var e *failure.Error
	if !errors.As(err, &e) {
		e = failure.Of(err)
	}
	if e.Hint == "" {
		return errors.New(e.Message)
	}
	return errors.New(e.Message + "; " + e.Hint)
}
