package bootstrap

// A [RemoteServer] calls a vaultwicket server over HTTP, with the protocol version without sessions (2026-07-28). It is
// for commands that are typed in a terminal, which do and print the same as with a gateway on this machine.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/release"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

const (
	protocolVersion = "2026-07-28"
	maxAnswer       = 16 << 20 // bytes of a response; a page has up to 1 MiB of output, and an image up to 14 MiB
	maxWhole        = 32 << 20 // bytes of all pages of an answer, the maximum output of a call
	maxPages        = 10_000   // pages of an answer
	maxProbe        = 1 << 20  // bytes of the body of a probe
	maxReason       = 200      // bytes of an invalid response that are shown
)

// RemoteServer is a client of a server over HTTP. Its methods return an error if the server could not be
// called; a denial or a failure of the call is part of the result.
type RemoteServer struct {
	URL, Token string // the address of the endpoint, and the bearer token
	// Ask asks the user for an approval with the text of the server. If it is nil, the question waits for the owner
	// of the server.
	Ask    func(ctx context.Context, text string) bool
	Client *http.Client // sends the requests; nil for a client that does not follow redirects
}

// Do carries out a request, and fetches all pages of a long answer.
func (s *RemoteServer) Do(ctx context.Context, r gateway.Request) (result gateway.Result, err error) {
	result, err = call[gateway.Result](ctx, s, "obsidianCli", argumentsOf(r))
	texts := []string{result.Stdout}
	size := len(result.Stdout)
	for next := result.Truncated; err == nil && next != nil && next.Cursor != ""; {
		if size > maxWhole || len(texts) == maxPages {
			return result, s.unexpected(fmt.Sprintf("it has more than %d MiB, or %d pages", maxWhole>>20, maxPages))
		}
		var page gateway.Result
		page, err = call[gateway.Result](
			ctx,
			s,
			"obsidianCli",
			map[string]any{"command": r.Command, "cursor": next.Cursor},
		)
		if page.Error != nil {
			return page, err
		}
		texts = append(texts, page.Stdout)
		size += len(page.Stdout)
		next = page.Truncated
		result.Truncated = nil
		result.Notices = nil // they only apply to a part of the answer
	}
	result.Stdout = strings.Join(texts, "")
	return result, err
}

// DryRun returns what a request would do.
func (s *RemoteServer) DryRun(ctx context.Context, r gateway.Request) (gateway.DryRun, error) {
	arguments := argumentsOf(r)
	arguments["dryRun"] = true
	return call[gateway.DryRun](ctx, s, "obsidianCli", arguments)
}

// Batch carries out a batch. operations are the arguments of the tool obsidianBatch.
func (s *RemoteServer) Batch(ctx context.Context, operations json.RawMessage) (gateway.BatchResult, error) {
	return call[gateway.BatchResult](ctx, s, "obsidianBatch", operations)
}

// DryRunBatch returns what a batch would do. operations are the arguments of obsidianBatch with dryRun.
func (s *RemoteServer) DryRunBatch(ctx context.Context, operations json.RawMessage) (gateway.BatchDryRun, error) {
	return call[gateway.BatchDryRun](ctx, s, "obsidianBatch", operations)
}

// ProposeBatch proposes a batch to the owner of the server. operations are the arguments of obsidianBatch with
// propose.
func (s *RemoteServer) ProposeBatch(ctx context.Context, operations json.RawMessage) (gateway.Proposed, error) {
	return call[gateway.Proposed](ctx, s, "obsidianBatch", operations)
}

// Commands lists the commands of the server.
func (s *RemoteServer) Commands(ctx context.Context) (list []gateway.CommandEntry, err error) {
	text, err := s.read(ctx, "vaultwicket://commands")
	if err == nil {
		err = json.Unmarshal([]byte(text), &list)
	}
	return list, err
}

// Help describes a command of the server.
func (s *RemoteServer) Help(ctx context.Context, command string) (string, error) {
	return s.read(ctx, "vaultwicket://help/"+url.PathEscape(command))
}

// argumentsOf returns a typed request as arguments of the tool obsidianCli. All parameters are passed as text or
// true: the server knows their kinds and converts them.
func argumentsOf(r gateway.Request) map[string]any {
	params := map[string]any{}
	for _, word := range r.Words {
		if name, value, hasValue := strings.Cut(strings.TrimPrefix(word, "--"), "="); hasValue {
			params[name] = value
		} else {
			params[name] = true
		}
	}
	arguments := map[string]any{
		"command":        r.Command,
		"params":         params,
		"vault":          r.Vault,
		"expectHash":     r.ExpectHash,
		"idempotencyKey": r.IdempotencyKey,
	}
	maps.DeleteFunc(arguments, func(_ string, value any) bool { return value == "" })
	return arguments
}

// answer contains the fields of a response that are used.
type answer struct {
	ID     json.RawMessage
	Result struct {
		ResultType        string
		StructuredContent json.RawMessage
		Content           []struct{ Text string }
		Contents          []struct{ Text string }
		InputRequests     map[string]struct{ Params struct{ Message string } }
		RequestState      string
	}
	Error *struct{ Message string }
}

// call calls a tool, and asks the user for approval if the server requests it.
func call[R any](ctx context.Context, s *RemoteServer, tool string, arguments any) (result R, err error) {
	params := map[string]any{"name": tool, "arguments": arguments}
	a, err := s.send(ctx, "tools/call", tool, params)
	if err == nil && a.Result.ResultType == "input_required" {
		params["requestState"] = a.Result.RequestState
		responses := map[string]any{}
		for id, question := range a.Result.InputRequests {
			response := map[string]any{"action": "decline"}
			if s.Ask != nil && s.Ask(ctx, question.Params.Message) {
				response = map[string]any{"action": "accept", "content": map[string]any{"allow": true}}
			}
			responses[id] = response
		}
		params["inputResponses"] = responses
		a, err = s.send(ctx, "tools/call", tool, params)
	}
	switch {
	case err != nil:
	case a.Result.StructuredContent == nil:
		err = terminal.Fail(
			terminal.ExitNotReady,
			"the server answers in text alone",
			"the owner of the server can set result-format to json",
		)
	default:
		err = json.Unmarshal(a.Result.StructuredContent, &result)
	}
	return result, err
}

// read returns the text of a resource.
func (s *RemoteServer) read(ctx context.Context, uri string) (string, error) {
	a, err := s.send(ctx, "resources/read", uri, map[string]any{"uri": uri})
	if err == nil && len(a.Result.Contents) != 1 {
		err = s.unexpected("it has no such resource")
	}
	if err != nil {
		return "", err
	}
	return a.Result.Contents[0].Text, nil
}

// send sends a request and returns the response to it. name is the tool or resource.
func (s *RemoteServer) send(ctx context.Context, method, name string, params map[string]any) (a answer, err error) {
	capabilities := map[string]any{}
	if s.Ask != nil {
		capabilities["elicitation"] = map[string]any{}
	}
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion":    protocolVersion,
		"io.modelcontextprotocol/clientCapabilities": capabilities,
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "vaultwicket", "version": release.Version},
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return a, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	r.Header.Set("Authorization", "Bearer "+s.Token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", protocolVersion)
	r.Header.Set("Mcp-Method", method)
	r.Header.Set("Mcp-Name", name)
	response, err := s.client().Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return a, terminal.Silent(terminal.ExitInterrupted)
		}
		return a, terminal.Fail(
			terminal.ExitNotReady,
			failure.Sentence(err.Error()),
			"\"vaultwicket doctor --url\" checks a server",
		)
	}
	defer response.Body.Close()
	text, err := messageIn(response)
	if err == nil {
		err = json.Unmarshal(withoutControls(text), &a)
	}
	switch {
	case response.StatusCode == http.StatusUnauthorized:
		return a, terminal.Fail(
			terminal.ExitDenied,
			fmt.Sprintf("%s does not accept the token", s.URL),
			"give a valid one with --token-file",
		)
	case err != nil || string(a.ID) != "1":
		return a, s.unexpected(fmt.Sprintf("%s %s", response.Status, text[:min(len(text), maxReason)]))
	case a.Error != nil:
		return a, terminal.Fail(terminal.ExitInvalid, failure.Sentence(a.Error.Message), "")
	}
	return a, nil
}

// messageIn reads the message in a response: a JSON document, or the last message of an event stream.
func messageIn(response *http.Response) (text []byte, err error) {
	in := bufio.NewReader(io.LimitReader(response.Body, maxAnswer))
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		return io.ReadAll(in)
	}
	for {
		line, err := in.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			text = data
		}
		if err == io.EOF {
			return text, nil
		}
		if err != nil {
			return text, err
		}
	}
}

// withoutControls removes control characters from the texts of a JSON document, because any server could have sent
// it. vaultwicket itself does not send any, so its documents are returned unchanged.
func withoutControls(document []byte) []byte {
	text, _ := sanitize.Text(string(document))
	if text == string(document) && !bytes.Contains(document, []byte(`\u`)) {
		return document
	}
	var value any
	in := json.NewDecoder(bytes.NewReader(document))
	in.UseNumber()
	if in.Decode(&value) != nil {
		return document // the caller reports the invalid JSON
	}
	clean, err := json.Marshal(cleaned(value))
	if err != nil {
		return document
	}
	return clean
}

// cleaned returns a JSON value with texts and names that are safe for a terminal.
func cleaned(value any) any {
	switch v := value.(type) {
	case string:
		text, _ := sanitize.Text(v)
		return text
	case []any:
		for i, item := range v {
			v[i] = cleaned(item)
		}
	case map[string]any:
		members := make(map[string]any, len(v))
		for name, member := range v {
			clean, _ := sanitize.Text(name)
			members[clean] = cleaned(member)
		}
		return members
	}
	return value
}

// client returns the HTTP client for the requests. By default it does not follow redirects, because the token is only
// for one address.
func (s *RemoteServer) client() *http.Client {
	if s.Client != nil {
		return s.Client
	}
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// unexpected returns the error for a response that does not follow the protocol.
func (s *RemoteServer) unexpected(what string) error {
	return terminal.Fail(
		terminal.ExitNotReady,
		failure.Sentence(fmt.Sprintf("unexpected answer of %s: %s", s.URL, what)),
		"\"vaultwicket doctor --url\" checks a server",
	)
}

// RemoteProbe is a plain response of a server, for diagnosis.
type RemoteProbe struct {
	Status      int
	Date        time.Time // the time of the server's clock, zero if it is not known
	From, Until time.Time // the validity of the certificate, zero without TLS
	Challenge   string    // the header WWW-Authenticate
	ContentType string
	Body        []byte
}

// Probe sends a request without a token. headers are pairs of names and values.
func (s *RemoteServer) Probe(ctx context.Context, method, address string, headers ...string) (p RemoteProbe, err error) {
	r, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return p, err
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := s.client().Do(r)
	if err != nil {
		return p, err
	}
	defer response.Body.Close()
	p.Status = response.StatusCode
	p.Challenge = response.Header.Get("WWW-Authenticate")
	p.ContentType = response.Header.Get("Content-Type")
	p.Date, _ = http.ParseTime(response.Header.Get("Date"))
	if response.TLS != nil && len(response.TLS.PeerCertificates) > 0 {
		p.From = response.TLS.PeerCertificates[0].NotBefore
		p.Until = response.TLS.PeerCertificates[0].NotAfter
	}
	p.Body, err = io.ReadAll(io.LimitReader(response.Body, maxProbe))
	return p, err
}

// Version asks the server for its version, with the token.
func (s *RemoteServer) Version(ctx context.Context) (string, error) {
	var status struct{ Version string }
	text, err := s.read(ctx, "vaultwicket://status")
	if err == nil {
		err = json.Unmarshal([]byte(text), &status)
	}
	return status.Version, err
}
