package streamable

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/gateway/httpguard"
	"vaultwicket/gateway/mcpserver/message"
)

// received is the body of a POST, and what is decided on of it.
type received struct {
	message.Message
	body   []byte
	modern bool // of protocol 2026-07-28 or later
	params params
}

// params are the parameters that a session or the version of the protocol depends on.
type params struct {
	ProtocolVersion string          `json:"protocolVersion"`
	ClientInfo      json.RawMessage `json:"clientInfo"`
	Meta            *mcp.Meta       `json:"_meta"`
}

// checkHeaders reports whether the headers are those of a message that is taken, and
// answers the others.
func (d *handler) checkHeaders(w http.ResponseWriter, r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "Content-Type must be application/json")
		return false
	}
	if r.Header.Get("Content-Encoding") != "" {
		refuse(w, http.StatusUnsupportedMediaType, "the body must not be encoded")
		return false
	}
	if !accepts(r.Header, "application/json") || !accepts(r.Header, eventStream) {
		refuse(w, http.StatusNotAcceptable, "Accept must include application/json and "+eventStream)
		return false
	}
	if r.ContentLength > d.MaxBody {
		tooLarge(w)
		return false
	}
	return true
}

// senderOf returns whose share of the memory a message is counted in: that of its
// session, or of who connects from the same place.
func (d *handler) senderOf(r *http.Request, by owner) string {
	if id := r.Header.Get(server.HeaderKeySessionID); id != "" && d.sessions.has(id, by) {
		return id
	}
	return remoteHost(r)
}

func tooLarge(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	refuse(w, http.StatusRequestEntityTooLarge, "the message is too long")
}

// readBody reads a body up to its limits of size and time, and as long as there is
// room for it.
func readBody(w http.ResponseWriter, r *http.Request, p *reservation, limit int64) ([]byte, bool) {
	httpguard.LimitRead(w, bodyLimit)
	body, err := io.ReadAll(counted{http.MaxBytesReader(w, r.Body, limit), p})
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return body, true
	case errors.As(err, &large):
		tooLarge(w)
		return nil, false
	}
	w.Header().Set("Connection", "close")
	switch {
	case errors.Is(err, errMemoryFull), errors.Is(err, errNoShare):
		refuseBusy(w, err.Error())
	case p.wasDropped(), errors.Is(err, os.ErrDeadlineExceeded):
		refuse(w, http.StatusRequestTimeout, "timeout while reading the message")
	default:
		refuse(w, http.StatusBadRequest, "the message is incomplete")
	}
	return nil, false
}

// readMessage reads what there is to decide on, or answers the request.
func (d *handler) readMessage(w http.ResponseWriter, h http.Header, body []byte) (received, bool) {
	m := received{body: body, modern: mcp.IsModernProtocol(h.Get(mcp.HeaderProtocolVersion))}
	var err error
	if m.Message, err = message.Decode(body); err == nil {
		err = m.readParams()
	}
	if err != nil {
		replyWith(w, http.StatusBadRequest, refusalOf(err).Encode())
	}
	return m, err == nil
}

// readParams reads the fields that a plain call does not have.
func (m *received) readParams() error {
	if m.Plain {
		return nil
	}
	var whole struct {
		Params params `json:"params"`
	}
	if err := json.Unmarshal(m.body, &whole); err != nil {
		return &message.Error{Code: mcp.INVALID_REQUEST, ID: m.ID, Text: "message is not a JSON-RPC message"}
	}
	m.params = whole.Params
	m.modern = m.modern || mcp.IsModernProtocol(m.params.Meta.ProtocolVersion())
	return nil
}

// refusalOf returns an error of [message.Decode] as its answer.
func refusalOf(err error) *message.Error {
	var refusal *message.Error
	if !errors.As(err, &refusal) {
		refusal = &message.Error{Code: mcp.INVALID_REQUEST, Text: err.Error()}
	}
	return refusal
}

// accepts reports whether a client takes a type of answer. One that does not say
// takes any.
func accepts(h http.Header, kind string) bool {
	values := h["Accept"]
	if len(values) == 0 {
		return true
	}
	family, _, _ := strings.Cut(kind, "/")
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, _, _ := strings.Cut(part, ";")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case kind, family + "/*", "*/*":
			return true
		}
	}
	return false
}

// singleHeaders are the headers that a decision hangs on. Two readers of two of them may
// not look at the same.
var singleHeaders = []string{
	"Content-Type", "Content-Encoding", mcp.HeaderProtocolVersion, server.HeaderKeySessionID, "Mcp-Method", "Mcp-Name", "Last-Event-Id",
}

// rejectDuplicates refuses a request that has one of them twice.
func rejectDuplicates(w http.ResponseWriter, h http.Header) bool {
	for _, name := range singleHeaders {
		if len(h.Values(name)) > 1 {
			refuse(w, http.StatusBadRequest, "the header "+name+" must appear once")
			return false
		}
	}
	return true
}
