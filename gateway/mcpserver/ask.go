package mcpserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/gateway"
	"vaultwicket/gateway/state/approvals"
)

const (
	// askFor is how long a client has to come back with the person's answer. Some
	// clients claim that they can ask and never do.
	askFor = 2 * time.Minute

	questionID    = "confirm"
	rememberField = "remember"
)

// interview is how the person in front of the client of one request is asked.
//
// A client of an earlier protocol is sent a request of its own and the call
// waits. Since 2026-07-28 the answer to the call says that input is required, and
// the client sends the call again with the answer and the state that it was
// given: sealed, because it comes back as a parameter like any other.
type interview struct {
	sealer  *approvals.Sealer
	wait    time.Duration
	params  mcp.CallToolParams
	pending *mcp.CallToolResult // what the client is told in place of the result
}

// sealers makes the key with which states are sealed, when the first one is. The
// zero value takes its time from the system, and as much of it as [askFor] says.
type sealers struct {
	now  func() time.Time
	wait time.Duration
	left <-chan struct{} // closed when the client has gone; nil for never

	once sync.Once
	made *approvals.Sealer
	err  error
}

func (s *sealers) sealer() (*approvals.Sealer, error) {
	s.once.Do(func() { s.made, s.err = approvals.NewSealer(rand.Reader, s.now) })
	return s.made, s.err
}

// patience is how long an answer is waited for.
func (s *sealers) patience() time.Duration { return cmp.Or(s.wait, askFor) }

// answers reports whether a request brings the answer to an earlier one.
func (i *interview) answers() bool { return i != nil && i.params.RequestState != "" }

// interview returns how to ask the client of a request, nil if it cannot ask.
func (h handler) interview(ctx context.Context, params mcp.CallToolParams) (*interview, gateway.Asker) {
	if !canAsk(ctx) {
		return nil, nil
	}
	if !server.IsModernRequest(ctx) {
		return nil, h.askNow
	}
	sealer, err := h.sealers.sealer()
	if err != nil {
		return nil, nil
	}
	i := &interview{sealer: sealer, wait: h.sealers.patience(), params: params}
	return i, i.ask
}

// canAsk reports whether the client of a request said that it can show a form.
// Capabilities of an earlier request are not remembered in the newer protocol.
func canAsk(ctx context.Context) bool {
	var can mcp.ClientCapabilities
	if server.IsModernRequest(ctx) {
		info := server.RequestProtocolInfoFromContext(ctx)
		if info == nil || info.ClientCapabilities == nil {
			return false
		}
		can = *info.ClientCapabilities
	} else if session, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		can = session.GetClientCapabilities()
	}
	return can.Elicitation != nil && (can.Elicitation.Form != nil || can.Elicitation.URL == nil)
}

// ask is the [gateway.Asker] for clients that send the call again.
func (i *interview) ask(_ context.Context, q gateway.Question) gateway.Reply {
	bound := approvals.Bound{Vault: orDash(q.Vault), Digest: q.Digest, Caller: orDash(q.Caller)}
	if i.params.RequestState == "" {
		state, err := i.sealer.Seal(bound, i.wait)
		if err != nil {
			return gateway.NoWay
		}
		i.pending = server.NewInputRequestBuilder(state).Elicit(questionID, form(q)).ToolResult()
		return gateway.Later
	}
	response := server.ElicitationResponse(i.params.InputResponses, questionID)
	answer := replyOf(response, q)
	if answer == gateway.No {
		err := i.sealer.Spend(i.params.RequestState) // so that it does not come back with a yes
		if err != nil || response == nil {
			return gateway.Void
		}
		return gateway.No
	}
	if i.sealer.Open(i.params.RequestState, bound) != nil {
		return gateway.Void // forged, changed, used, too late, or about something else
	}
	return answer
}

// askNow is the [gateway.Asker] for clients that are sent a request. Silence is
// no answer, and neither is a client that has gone: the person may answer in a
// terminal.
func (h handler) askNow(ctx context.Context, q gateway.Question) gateway.Reply {
	waiting, cancel := context.WithTimeout(ctx, h.sealers.patience())
	defer cancel()
	go func() {
		select {
		case <-h.sealers.left:
			cancel()
		case <-waiting.Done():
		}
	}()
	result, err := server.ServerFromContext(ctx).RequestElicitation(waiting, mcp.ElicitationRequest{
		Request: mcp.Request{Method: string(mcp.MethodElicitationCreate)}, Params: form(q),
	})
	switch {
	case err != nil && ctx.Err() == nil && waiting.Err() != nil:
		return gateway.NoWay
	case err != nil:
		return gateway.Void // the call was cancelled, or the client has failed: the user said nothing
	}
	return replyOf(result, q)
}

// form is what the client shows.
func form(q gateway.Question) mcp.ElicitationParams {
	properties := map[string]any{
		questionID: map[string]any{"type": "boolean", "title": "Allow this", "default": false},
	}
	if q.Folder != "" {
		properties[rememberField] = map[string]any{
			"type": "boolean", "title": "Also allow further changes in this folder until the session ends", "default": false,
		}
	}
	return mcp.ElicitationParams{Message: q.Text, RequestedSchema: map[string]any{
		"type": "object", "properties": properties, "required": []string{questionID},
	}}
}

// replyOf reads an answer. Only an accepted form with a true in it is a yes.
func replyOf(result *mcp.ElicitationResult, q gateway.Question) gateway.Reply {
	if result == nil || result.Action != mcp.ElicitationResponseActionAccept {
		return gateway.No
	}
	content, _ := result.Content.(map[string]any)
	if yes, _ := content[questionID].(bool); !yes {
		return gateway.No
	}
	if here, _ := content[rememberField].(bool); here && !q.Destructive {
		return gateway.YesHere
	}
	return gateway.Yes
}

// instead returns what the client is told in place of a result, nil if it is the
// result.
func (i *interview) instead() *mcp.CallToolResult {
	if i == nil {
		return nil
	}
	return i.pending
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// clientName is what the client of a request calls itself. It is for people
// only.
func clientName(ctx context.Context) string {
	if server.IsModernRequest(ctx) {
		if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.ClientInfo != nil {
			return info.ClientInfo.Name
		}
		return ""
	}
	if session, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		return session.GetClientInfo().Name
	}
	return ""
}
