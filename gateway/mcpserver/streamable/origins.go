package streamable

import (
	"net/http"

	"vaultwicket/gateway/httpguard"
)

// newOrigins reads Config.Origins. The error is a *SettingError.
func newOrigins(list []string) (httpguard.Origins, error) {
	allowed := httpguard.Origins{}
	for _, entry := range list {
		origin, err := parseOrigin(entry)
		if err != nil {
			return nil, err
		}
		allowed[origin] = true
	}
	return allowed, nil
}

// parseOrigin reads an entry of Config.Origins. The error is a *SettingError.
func parseOrigin(entry string) (string, error) {
	origin, ok := httpguard.CanonicalOrigin(entry)
	if !ok {
		return "", &SettingError{Setting: "allow-origin", Value: entry, Reason: "is not a web origin", hint: `use a scheme and a host without a path, such as "https://app.example" or "http://localhost:3000"`}
	}
	return origin, nil
}

// share lets the page of a listed origin read the answer.
func share(answer http.Header, origin string) {
	answer.Set("Access-Control-Allow-Origin", origin)
	answer.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, Retry-After, WWW-Authenticate")
}

// preflight answers a browser that asks on behalf of a listed page what it may
// send.
func preflight(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "POST, GET, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name")
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}

// isPreflight reports whether a request is such a question.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}
