package transport

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/vaultwicket/vaultwicket/internal/httpguard"
)

// received is the decoded body of a POST request.
type received struct {
	Message
	modern bool // uses protocol 2026-07-28 or later
}

// checkHeaders reports whether the headers are valid for a message. If not, it answers the request.
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

func tooLarge(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	refuse(w, http.StatusRequestEntityTooLarge, "the message is too long")
}

// readBody reads a body within the limits on size and time and within the memory budget p. If that
// fails, it answers the request, and ok is false.
func readBody(w http.ResponseWriter, r *http.Request, p *reservation, limit int64) ([]byte, bool) {
	httpguard.LimitRead(w, bodyLimit)
	body, err := io.ReadAll(countingReader{r.Context(), http.MaxBytesReader(w, r.Body, limit), p})
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

// readMessage decodes a message. If that fails, it answers the request, and ok is false.
func readMessage(w http.ResponseWriter, h http.Header, body []byte) (m received, ok bool) {
	decoded, err := Decode(body)
	version := decoded.Param("protocolVersion")
	meta := decoded.Param("_meta")
	isVersion := IsNull(version) || IsString(version)
	isMeta := IsNull(meta) || decoded.Meta != nil
	if err == nil && !(isVersion && isMeta) {
		err = &Error{Code: mcp.INVALID_REQUEST, ID: decoded.ID, Text: "message is not a JSON-RPC message"}
	}
	if refusal := (*Error)(nil); errors.As(err, &refusal) {
		replyWith(w, http.StatusBadRequest, refusal.Encode())
		return received{}, false
	}
	modern := mcp.IsModernProtocol(h.Get(mcp.HeaderProtocolVersion)) ||
		mcp.IsModernProtocol(decoded.Meta.ProtocolVersion())
	return received{decoded, modern}, true
}

// checkModern checks a message of protocol 2026-07-28, whose headers must match its content (SEP-2243,
// SEP-2575). It returns the reason for an error and its JSON-RPC code, or "". [Server] rejects unknown
// versions and requests without capabilities.
func checkModern(h http.Header, m received) (code int, reason string) {
	inHeader := h.Get(mcp.HeaderProtocolVersion)
	inMeta := m.Meta.ProtocolVersion()
	switch {
	case m.Kind == Response:
		return mcp.INVALID_REQUEST, "client-to-server responses are not supported in protocol version " +
			mcp.ProtocolVersion20260728 + ": server-initiated requests were replaced by multi round-trip requests"
	case h.Get(mcp.HeaderLastEventID) != "":
		return mcp.HEADER_MISMATCH, "Last-Event-ID is not supported in protocol version " + mcp.ProtocolVersion20260728 +
			": streams are not resumable, re-issue the request with a new ID"
	case inHeader == "":
		return mcp.HEADER_MISMATCH, mcp.HeaderProtocolVersion + " header is required for requests carrying " + mcp.MetaKeyProtocolVersion
	case inMeta == "":
		return mcp.INVALID_PARAMS, "missing or invalid _meta field " + mcp.MetaKeyProtocolVersion
	case inHeader != inMeta:
		return mcp.HEADER_MISMATCH, mcp.HeaderProtocolVersion + " header " + inHeader + " does not match request " + mcp.MetaKeyProtocolVersion + " " + inMeta
	case m.Kind != Request || !mcp.IsValidProtocolVersion(inMeta) || m.Meta.ClientCapabilities() == nil:
		return 0, ""
	}
	if err := mcp.ValidateStandardHeaders(h.Get, inMeta, mcp.MCPMethod(m.Method), m.Params); err != nil {
		return mcp.HEADER_MISMATCH, err.Error()
	}
	return 0, ""
}

// accepts reports whether a client accepts a media type. Without an Accept header it accepts any.
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

// sessionHeader is the header with the id of a session.
const sessionHeader = "Mcp-Session-Id"

// singleHeaders lists the headers that decisions depend on. They must not be repeated, because programs
// differ in which value they use.
var singleHeaders = []string{
	"Content-Type", "Content-Encoding", mcp.HeaderProtocolVersion, sessionHeader, "Mcp-Method", "Mcp-Name", "Last-Event-Id",
}
