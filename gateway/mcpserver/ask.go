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
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
)

const (
	questionID = "confirm"
	// allowField is the only required field of a form; folderField extends the approval to other calls in the folder.
	// Both are false by default.
	allowField  = "allow"
	folderField = "folder"
)

// elicitation asks the user, through a client, to approve a request.
//
// In earlier protocol versions the server sends the client a request, and the call waits. Since
// version 2026-07-28 the result of the call reports that input is required, and the client sends the
// call again with the answer and an opaque state from that result. The state is sealed, because the
// client could change it like any other parameter.
type elicitation struct {
	sealer  *consent.Sealer
	params  mcp.CallToolParams
	modes   askModes
	pending *mcp.CallToolResult // the request for input, to return in place of the result; nil for none
}

// lazySealer creates the sealer of states when it is first needed. The zero value uses the system clock.
type lazySealer struct {
	now func() time.Time

	once   sync.Once
	sealer *consent.Sealer
}

// addClient sets the fields of a request that depend on the client: who sends it, how the user can be asked for
// approval, and the size of the answer. asks is nil if the client cannot ask, or is asked with requests of the server.
// shown is nil if the client does not show the app.
func (h handler) addClient(
	peer *transport.Peer, req mcp.CallToolRequest, request *gateway.Request,
) (asks *elicitation, shown *view) {
	name, capabilities := peer.Client()
	request.Caller = peer.Caller
	request.Client = name
	request.Surface = surface(peer)
	request.OneSession = !peer.Shared
	request.MaxOutput = cmp.Or(h.MaxOutput, pageOf(name))
	request.Keep = true
	request.Taken = peer.AcceptedAt
	if capabilities.Elicitation != nil {
		hasLinks := capabilities.Elicitation.URL != nil
		modes := askModes{
			form:     capabilities.Elicitation.Form != nil || !hasLinks, // the default if none is declared
			page:     hasLinks,
			isRemote: peer.Caller != "",
			screen:   screenOf(name),
		}
		if !peer.Modern() {
			request.Ask = func(ctx context.Context, q consent.Question) consent.Reply { return askNow(ctx, peer, modes, q) }
		} else {
			h.sealers.once.Do(func() { h.sealers.sealer = consent.NewSealer(h.sealers.now) })
			asks = &elicitation{sealer: h.sealers.sealer, params: req.Params, modes: modes}
			request.Ask = asks.ask
			request.Answers = req.Params.RequestState != ""
		}
	}
	if h.showsApps(peer) {
		// If the client does not ask the question, the view shows it while it waits on a page or in the terminal.
		v := &view{app: h.App}
		askClient := request.Ask
		shown = v
		request.Shows = true
		request.Ask = func(ctx context.Context, q consent.Question) consent.Reply {
			if askClient != nil {
				if reply := askClient(ctx, q); reply != consent.NoWay {
					return reply
				}
			}
			v.lines = q.Lines
			page, open := q.OnPage(askModes{isRemote: peer.Caller != ""}.pages()...)
			if !open {
				return consent.NoWay
			}
			v.link = page.Link
			return consent.Opened
		}
	}
	return asks, shown
}

// askModes describes how a client can ask its user: with a form, or by opening a link to a page. far
// means that the client may be on another machine.
type askModes struct {
	form, page, isRemote bool
	screen               screen
}

// screen is the number of rows and bytes of a form's message that a client shows.
type screen struct{ rows, bytes int }

// screens has the screens of clients that were tested, by the names that they report. The name gives a client no
// rights: it only affects whether a form is shown. Claude Code shows four lines and folds the rest; Codex and Copilot
// cut off what does not fit the terminal, and the smallest terminals have 24 lines.
var screens = map[string]screen{
	"claude-code":      {4, 1900},
	"codex-mcp-client": {14, 4000},
	"copilot-cli":      {14, 4000},
	"vaultwicket":      {3000, 1 << 20}, // our own command line, which shows questions page by page
}

// screenOf returns the screen of a client. Untested clients are assumed to show three lines.
func screenOf(client string) screen {
	if s, ok := screens[client]; ok {
		return s
	}
	return screen{3, 240}
}

// pages returns the kinds of pages that the client may open, in order of preference. A page that
// requires signing in with a passkey is used only if there is no other way.
func (m askModes) pages() []string {
	switch {
	case m.isRemote:
		return []string{consent.RemotePage}
	case m.form:
		return []string{consent.LocalPage}
	}
	return []string{consent.LocalPage, consent.RemotePage}
}

// ask is the [consent.Asker] for clients that send the call again with the answer.
func (e *elicitation) ask(ctx context.Context, q consent.Question) consent.Reply {
	params, page, ok := e.modes.dialog(q)
	if !ok {
		return consent.NoWay
	}
	bound := consent.Bound{
		Vault: cmp.Or(q.Vault, "-"), Digest: q.Digest,
		Caller: cmp.Or(q.Caller, "-") + "\x00" + q.Dialog.Ref, // a question that was withdrawn and asked again is a new one
	}
	if page != nil {
		bound.Caller += "\x00page" // an opened link must not count as the answer to a form
		params.ElicitationID = ""  // not part of this protocol version
	}
	if e.params.RequestState == "" {
		state, err := e.sealer.Seal(bound, consent.Life)
		if err != nil {
			return consent.NoWay
		}
		asked := mcp.NewInputRequiredResult(
			mcp.InputRequests{questionID: mcp.NewElicitationInputRequest(params)},
			state,
		)
		e.pending = &mcp.CallToolResult{Result: asked.Result, MultiRoundTripResult: asked.MultiRoundTripResult}
		return consent.Later
	}
	elapsed := e.sealer.Age(e.params.RequestState, consent.Life)
	response := answerOf(e.params.InputResponses)
	answer := replyOf(response, q, page, elapsed)
	switch answer {
	case consent.Yes, consent.YesHere, consent.Opened:
	default:
		err := e.sealer.Spend(e.params.RequestState) // so that the state cannot be used for an approval later
		if err != nil || response == nil {
			return consent.Void
		}
		return answer
	}
	if e.sealer.Open(e.params.RequestState, bound) != nil {
		return consent.Void // forged, changed, used, expired, or for another call
	}
	if answer == consent.Opened {
		select {
		case <-ctx.Done():
		case <-q.Dialog.Open.Done():
		}
	}
	return answer
}

// answerOf returns the answer in the responses that a call contains, nil if there is no valid one.
func answerOf(responses mcp.InputResponses) *mcp.ElicitationResult {
	response := responses[questionID]
	if response.DecodeFor(mcp.MethodElicitationCreate) != nil {
		return nil
	}
	return response.Elicitation
}

// askNow is the [consent.Asker] for clients that the server sends a request. If the call ends before the answer, the
// request stays open, and a repeated call gets the answer.
func askNow(ctx context.Context, client *transport.Peer, modes askModes, q consent.Question) consent.Reply {
	params, page, ok := modes.dialog(q)
	if !ok {
		return consent.NoWay
	}
	d := q.Dialog
	asked := time.Now()
	replies := make(chan consent.Reply, 1)
	go func() {
		result, err := transport.Ask[mcp.ElicitationResult](d.Open, client, mcp.MethodElicitationCreate, params)
		switch {
		case d.IsDecided():
		case errors.Is(err, transport.ErrNoClient), err != nil && d.Open.Err() != nil:
			replies <- consent.NoWay
			return
		case err != nil:
			d.Say("the client answered with an error")
			replies <- consent.Left
			return
		}
		if page == nil && result == nil {
			replies <- consent.NoWay // the question was decided elsewhere
			return
		}
		reply := consent.Opened
		if result != nil {
			reply = replyOf(result, q, page, time.Since(asked))
		}
		if reply == consent.Opened {
			<-d.Open.Done()
		}
		if page != nil && d.IsDecided() {
			// A client that is gone needs no notification.
			_ = client.Notify(
				context.Background(),
				string(mcp.MethodNotificationElicitationComplete),
				map[string]any{"elicitationId": page.Ref},
			)
		}
		replies <- reply
	}()
	select {
	case reply := <-replies:
		return reply
	case <-ctx.Done():
	}
	select {
	case reply := <-replies: // the answer arrived together with the end of the call
		return reply
	case <-d.Open.Done(): // the goroutine above is about to reply
		return <-replies
	default:
	}
	go func() { d.Later(<-replies) }()
	return consent.Waiting
}

// dialog returns the parameters of the question for the client: a form, if the client can show the whole question in
// it, or else a link to a page, if there is one. The form has a required choice, because some clients submit an empty
// form without asking the user. Opening the page approves nothing. ok is false if the client cannot ask.
func (m askModes) dialog(q consent.Question) (params mcp.ElicitationParams, page *consent.Page, ok bool) {
	if m.form && q.Dialog.Form {
		if text, fits := q.Form(m.screen.rows, m.screen.bytes); fits {
			return mcp.ElicitationParams{
				Message: text,
				RequestedSchema: map[string]any{
					"type":       "object",
					"properties": fieldsOf(q),
					"required":   []string{allowField},
				},
			}, nil, true
		}
	}
	if m.page && q.Dialog.Link {
		if page, ok := q.OnPage(m.pages()...); ok {
			return mcp.ElicitationParams{
				Mode: mcp.ElicitationModeURL, ElicitationID: page.Ref, URL: page.Link,
				Message: q.Heading() + "\nThe page shows the whole change; approve or deny it there.",
			}, &page, true
		}
	}
	switch {
	case !m.form:
	case q.Dialog.Form:
		q.Dialog.Say(
			"no dialog was shown, because the question is longer than the %d lines that this client is known to show",
			m.screen.rows,
		)
	default:
		q.Dialog.Say("no dialog was shown, because this question is not decided in the client (setting ask)")
	}
	return params, nil, false
}

// fieldsOf returns the schema of the fields of a form.
func fieldsOf(q consent.Question) map[string]any {
	fields := map[string]any{allowField: map[string]any{"type": "boolean", "title": "Allow this", "default": false}}
	if q.Folder != "" && !q.Destructive {
		fields[folderField] = map[string]any{
			"type":    "boolean",
			"title":   "Also in its folder, until the server stops",
			"default": false,
		}
	}
	return fields
}

// replyOf decodes the answer of a client. took is the time since the question was sent. A form is an approval if it was
// accepted with the choice to allow, and without fields that it did not ask for. An answer that arrives before a person
// could have read the question does not count, and neither does a form that was closed. If a link was accepted, the
// user has yet to answer on the page.
func replyOf(result *mcp.ElicitationResult, q consent.Question, page *consent.Page, elapsed time.Duration) consent.Reply {
	d := q.Dialog
	action := mcp.ElicitationResponseActionDecline
	if result != nil {
		action = result.Action
	}
	isHasty := elapsed < d.MinAnswer
	rounded := elapsed.Round(time.Millisecond)
	switch {
	case page != nil && action == mcp.ElicitationResponseActionAccept:
		d.Say("the client accepted the link to the question, and nobody has answered it there")
		return consent.Opened
	case action == mcp.ElicitationResponseActionCancel:
		d.Say("the client closed the question after %v", rounded)
		return consent.Left
	case action != mcp.ElicitationResponseActionAccept && action != mcp.ElicitationResponseActionDecline:
		d.Say("the client's answer does not fit the form")
		return consent.Left
	case isHasty:
		d.Say("the client answered after %v, before anybody could have read it", rounded)
		return consent.Left
	case page != nil:
		d.Say("the link was not opened: the client declined it after %v", rounded)
		return consent.Left
	case action == mcp.ElicitationResponseActionDecline:
		return consent.No
	}
	content, _ := result.Content.(map[string]any)
	allowed, isBool := content[allowField].(bool)
	folderValue, hasFolder := content[folderField]
	isForFolder, isFolderBool := folderValue.(bool)
	fields := 1
	if hasFolder {
		fields = 2
	}
	isFolderValid := !hasFolder || isFolderBool && q.Folder != ""
	switch {
	case len(content) != fields || !isBool || !isFolderValid:
		d.Say("the client's answer does not fit the form")
		return consent.Left
	case !allowed:
		d.Say("the form came back after %v without the choice to allow it", rounded)
		return consent.Left
	case isForFolder && !q.Destructive:
		return consent.YesHere
	}
	return consent.Yes
}
