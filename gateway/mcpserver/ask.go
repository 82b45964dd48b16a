package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/wire"
)

const (
	// answerTimeout is how long a client has to return the user's answer. Some clients
	// declare that they can ask and never do.
	answerTimeout = 2 * time.Minute

	questionID  = "confirm"
	choiceField = "choice"
)

// The choices of a form, in the words that the user sees.
const (
	allowOnce = "allow once"
	allowHere = "allow for this folder until the server stops"
	deny      = "deny"
)

// elicitation asks the user of one client for approval of one request.
//
// A client of an earlier protocol version gets a request of the server, and the call waits.
// Since 2026-07-28 the result of the call says that input is required, and the client sends
// the call again with the answer and the state that it was given. The state is sealed,
// because the client returns it as a parameter like any other.
type elicitation struct {
	sealer  *consent.Sealer
	wait    time.Duration
	params  mcp.CallToolParams
	modes   askModes
	pending *mcp.CallToolResult // the request for input that replaces the result
}

// sealers creates the key for sealing states when it is first needed. The zero value uses
// the system clock and [answerTimeout].
type sealers struct {
	now  func() time.Time
	wait time.Duration

	once sync.Once
	made *consent.Sealer
}

// complete adds to a request who sends it, how the user can be asked, and in which form it is answered. The
// elicitation is nil for a client that cannot ask, or that gets requests of the server; the view for one that does
// not show it.
func (h handler) complete(
	peer *wire.Peer, req mcp.CallToolRequest, to *gateway.Request,
) (asks *elicitation, shown *view) {
	name, can := peer.Client()
	to.Caller, to.Client, to.Surface, to.OneSession = peer.Caller, name, surface(peer), !peer.Shared
	to.MaxOutput, to.Keep, to.Taken = h.MaxOutput, true, peer.AcceptedAt
	if can.Elicitation != nil {
		modes := askModes{form: can.Elicitation.Form != nil || can.Elicitation.URL == nil, page: can.Elicitation.URL != nil, far: peer.Caller != ""}
		if !peer.Modern() {
			to.Ask = func(ctx context.Context, q consent.Question) consent.Reply { return h.askNow(ctx, peer, modes, q) }
		} else {
			h.sealers.once.Do(func() { h.sealers.made = consent.NewSealer(h.sealers.now) })
			asks = &elicitation{sealer: h.sealers.made, wait: cmp.Or(h.sealers.wait, answerTimeout), params: req.Params, modes: modes}
			to.Ask, to.Answers = asks.ask, req.Params.RequestState != ""
		}
	}
	if h.showsApps(peer) {
		// The view shows a question that the client does not ask: it waits for the user on a page or in the terminal.
		v, next := &view{app: h.App}, to.Ask
		shown, to.Shows, to.Ask = v, true, func(ctx context.Context, q consent.Question) consent.Reply {
			if next != nil {
				if reply := next(ctx, q); reply != consent.NoWay {
					return reply
				}
			}
			v.lines = q.Lines
			page, open := q.OnPage(askModes{far: peer.Caller != ""}.pages()...)
			if !open {
				return consent.NoWay
			}
			v.link = page.Link
			return consent.Opened
		}
	}
	return asks, shown
}

// askModes are the ways in which a client can ask its user: it shows a form, or opens a link to a
// page. One that is far may be on another machine.
type askModes struct{ form, page, far bool }

// pages are the kinds of pages that the client opens: where the owner has to sign in with a passkey
// only if there is no other way.
func (m askModes) pages() []string {
	switch {
	case m.far:
		return []string{consent.RemotePage}
	case m.form:
		return []string{consent.LocalPage}
	}
	return []string{consent.LocalPage, consent.RemotePage}
}

// ask is the [consent.Asker] for clients that send the call again.
func (i *elicitation) ask(ctx context.Context, q consent.Question) consent.Reply {
	params, page, ok := i.modes.dialog(q)
	if !ok {
		return consent.NoWay
	}
	bound := consent.Bound{Vault: cmp.Or(q.Vault, "-"), Digest: q.Digest, Caller: cmp.Or(q.Caller, "-")}
	if page != nil {
		bound.Caller += "\x00page" // to have opened a link is no answer to a form
		params.ElicitationID = ""  // this protocol version has none
	}
	if i.params.RequestState == "" {
		state, err := i.sealer.Seal(bound, i.wait)
		if err != nil {
			return consent.NoWay
		}
		asked := mcp.NewInputRequiredResult(mcp.InputRequests{questionID: mcp.NewElicitationInputRequest(params)}, state)
		i.pending = &mcp.CallToolResult{Result: asked.Result, MultiRoundTripResult: asked.MultiRoundTripResult}
		return consent.Later
	}
	response := answerOf(i.params.InputResponses)
	answer := replyOf(response, q, page)
	switch answer {
	case consent.Yes, consent.YesHere, consent.Opened:
	default:
		err := i.sealer.Spend(i.params.RequestState) // so that it cannot be used again for an approval
		if err != nil || response == nil {
			return consent.Void
		}
		return answer
	}
	if i.sealer.Open(i.params.RequestState, bound) != nil {
		return consent.Void // forged, changed, used, expired, or for another call
	}
	if answer == consent.Opened {
		waiting, cancel := context.WithTimeout(ctx, i.wait)
		defer cancel()
		page.Answered(waiting)
	}
	return answer
}

// answerOf returns the answer to the question that a call has sent, nil if it has none that can be decoded.
func answerOf(responses mcp.InputResponses) *mcp.ElicitationResult {
	response := responses[questionID]
	if response.DecodeFor(mcp.MethodElicitationCreate) != nil {
		return nil
	}
	return response.Elicitation
}

// askNow is the [consent.Asker] for clients that get a request of the server. A timeout, or
// a client that has disconnected, is no answer: the user may answer in a terminal.
func (h handler) askNow(ctx context.Context, client *wire.Peer, modes askModes, q consent.Question) consent.Reply {
	params, page, ok := modes.dialog(q)
	if !ok {
		return consent.NoWay
	}
	waiting, cancel := context.WithTimeout(ctx, cmp.Or(h.sealers.wait, answerTimeout))
	defer cancel()
	result, err := wire.Ask[mcp.ElicitationResult](waiting, client, mcp.MethodElicitationCreate, params)
	switch {
	case err != nil && ctx.Err() == nil && (waiting.Err() != nil || errors.Is(err, wire.ErrNoClient)):
		return consent.NoWay
	case err != nil:
		return consent.Void // the call was cancelled, or the client failed
	}
	answer := replyOf(result, q, page)
	if answer == consent.Opened && page.Answered(waiting) {
		// A client that is gone needs no notification.
		_ = client.Notify(ctx, string(mcp.MethodNotificationElicitationComplete), map[string]any{"elicitationId": page.Ref})
	}
	return answer
}

// dialog returns what the client is asked: to open the question on a page, if one is open, or
// to show a form. To accept the form is the approval: it has no field to be filled in, and a choice
// only where there is more than one way to allow. To open the page approves nothing.
func (m askModes) dialog(q consent.Question) (params mcp.ElicitationParams, page *consent.Page, ok bool) {
	if m.page {
		if on, ok := q.OnPage(m.pages()...); ok {
			return mcp.ElicitationParams{
				Mode: mcp.ElicitationModeURL, ElicitationID: on.Ref, URL: on.Link, Message: on.Text + ". The page shows the whole change; approve or deny it there.",
			}, &on, true
		}
	}
	if !m.form || !q.InForm {
		return params, nil, false
	}
	properties := map[string]any{}
	if q.Folder != "" {
		properties[choiceField] = map[string]any{
			"type": "string", "title": "Decision", "enum": []string{allowOnce, allowHere, deny}, "default": allowOnce,
		}
	}
	return mcp.ElicitationParams{Message: q.Text, RequestedSchema: map[string]any{"type": "object", "properties": properties}}, nil, true
}

// replyOf decodes an answer. An accepted form is an approval, unless it has something that
// the form has not asked for. On a page the user is still to answer.
func replyOf(result *mcp.ElicitationResult, q consent.Question, page *consent.Page) consent.Reply {
	switch {
	case result == nil || result.Action == mcp.ElicitationResponseActionDecline:
		return consent.No
	case result.Action == mcp.ElicitationResponseActionCancel:
		return consent.Dismissed
	case result.Action != mcp.ElicitationResponseActionAccept:
		return consent.Misfit
	}
	if page != nil {
		return consent.Opened
	}
	if result.Content == nil {
		return consent.Yes
	}
	content, ok := result.Content.(map[string]any)
	choice, chosen := content[choiceField]
	switch {
	case ok && len(content) == 0:
		return consent.Yes
	case !ok || !chosen || len(content) > 1 || q.Folder == "":
		return consent.Misfit
	case choice == allowOnce:
		return consent.Yes
	case choice == allowHere && !q.Destructive:
		return consent.YesHere
	case choice == deny:
		return consent.No
	}
	return consent.Misfit
}
