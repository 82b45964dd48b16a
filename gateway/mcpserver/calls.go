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

// read handles calls of obsidianRead. The gateway denies such a call unless its effect is to read.
func (h handler) read(
	ctx context.Context, client *transport.Peer, req mcp.CallToolRequest,
) (*mcp.CallToolResult, error) {
	call, refused := decodeCall(req.Params.RawArguments)
	call.ReadsOnly = true
	return h.runDecoded(ctx, client, req, call, refused)
}

// runDecoded runs a call of obsidianCli or obsidianRead, or rejects it if it could not be decoded.
func (h handler) runDecoded(
	ctx context.Context, client *transport.Peer, req mcp.CallToolRequest, call toolCall, refused *argumentError,
) (*mcp.CallToolResult, error) {
	if refused != nil {
		return h.form(gateway.Request{})(gateway.Reject(call.Command, refused))
	}
	return h.run(ctx, client, req, call, h.form(call.Request))
}

// typed returns the handler for calls of a typed tool. If the hints promise that the tool only reads,
// the gateway enforces that.
func (h handler) typed(t *typedTool, hints mcp.ToolAnnotation) transport.ToolHandler {
	return func(ctx context.Context, client *transport.Peer, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		call, refused := t.decode(req.Params.RawArguments)
		if refused != nil {
			return answer(gateway.Reject(t.Name, refused))
		}
		call.ReadsOnly = *hints.ReadOnlyHint
		form := func(r gateway.Result) (*mcp.CallToolResult, error) { return reply(t.content(r), !r.OK) }
		return h.run(ctx, client, req, call, form)
	}
}

// run runs or previews one call, for every tool except obsidianBatch.
func (h handler) run(
	ctx context.Context, client *transport.Peer, req mcp.CallToolRequest, call toolCall, form form,
) (*mcp.CallToolResult, error) {
	ctx, stop := startProgress(ctx, client, req)
	defer stop()
	asks, view := h.addClient(client, req, &call.Request)
	if call.DryRun {
		plan := h.Gateway.DryRun(ctx, call.Request)
		return reply(withMarks(h, plan), !plan.OK)
	}
	result := h.Gateway.Do(ctx, call.Request)
	if asks != nil && asks.pending != nil {
		return asks.pending, nil // the client has to ask the user first, and then repeats the call
	}
	answer, err := form(withMarks(h, result))
	if err != nil {
		return nil, err
	}
	name, _ := client.Client()
	return view.attach(withImage(name, answer, result.Image), result.Difference), nil
}

// mayHaveImage reports whether the result of a call may contain an image. It may say yes in error, which only
// costs waiting, but must never miss one.
func mayHaveImage(_ string, raw json.RawMessage) bool {
	// The letters of the command may be escaped, such as "\u0061" for "a".
	hasEscapedLetter := bytes.Contains(raw, []byte(`\u006`)) || bytes.Contains(raw, []byte(`\u007`))
	return hasEscapedLetter || bytes.Contains(raw, []byte("attachment"))
}

// mayChange reports whether a call of a tool would change something: such calls run in the order in which
// they arrive. Dry runs and denied calls change nothing.
func (h handler) mayChange(tool string, raw json.RawMessage) bool {
	return tool != readName && h.Gateway.BatchChanges(operations(tool, raw))
}

// operations returns a call of any tool as a batch, the zero Batch for a dry run or invalid
// arguments. Arguments are never valid both for a single call and for a batch.
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
	batch, _ := DecodeBatch(raw) // zero if the arguments are invalid
	if batch.DryRun {
		return gateway.Batch{}
	}
	return batch.Batch
}

// surface returns the name of the transport for the audit log.
func surface(p *transport.Peer) string {
	if p.Caller != "" {
		return "http"
	}
	return "mcp" // standard input has a single session, without a name
}

// progressInterval is the time between progress notifications. Most calls end before the first one.
const progressInterval = time.Second

// startProgress sends progress notifications for a call that has a progress token: the elapsed seconds, and
// the progress if it is known. The caller must make the call with the returned context, and call stop
// before it sends the result. stop returns when no more notifications will be sent.
func startProgress(ctx context.Context, client *transport.Peer, req mcp.CallToolRequest) (_ context.Context, stop func()) {
	if req.Params.Meta == nil || req.Params.Meta.ProgressToken == nil {
		return ctx, func() {}
	}
	var latest atomic.Pointer[protocol.Progress]
	progressCtx := protocol.WithProgress(ctx, func(c protocol.Progress) { latest.Store(&c) })
	ctx, cancel := context.WithCancel(ctx)
	var notifying conc.WaitGroup
	notifying.Go(func() {
		ticker := time.NewTicker(progressInterval)
		defer ticker.Stop()
		var p progressCounter
		started := time.Now()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			params := p.next(time.Since(started), latest.Load())
			params["progressToken"] = req.Params.Meta.ProgressToken
			if err := client.Notify(ctx, string(mcp.MethodNotificationProgress), params); err != nil {
				return // the client has disconnected, or has cancelled the call
			}
		}
	})
	return progressCtx, func() {
		cancel()
		notifying.Wait()
	}
}

// progressCounter produces the parameters of successive notifications. The protocol requires that progress
// increase with each, so a count that does not increase appears only in the message. progress is the last value sent.
type progressCounter struct{ progress int }

// next returns the parameters of the next notification of a call that has been running for elapsed. count is nil if
// the progress is unknown.
func (r *progressCounter) next(elapsed time.Duration, count *protocol.Progress) map[string]any {
	message := fmt.Sprintf("running for %d s", int(elapsed.Seconds()))
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

// withTrace wraps a tool handler. It puts the trace context of the request into the context of the call,
// and answers a panic with a fixed text, because the panic value can contain note text.
func withTrace(log *slog.Logger, next transport.ToolHandler) transport.ToolHandler {
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

// visibleError converts an error to the form that a client may see, with its hint in the message:
// protocol errors have no other field for it.
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
