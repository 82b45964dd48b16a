package transport

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/httpguard"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/shares"
)

// newHosts returns the allowed hosts: addr, the entries of more, and the names in the certificate leaf.
func newHosts(addr string, more []string, leaf *x509.Certificate) (httpguard.Hosts, error) {
	var names []string
	if name, ok := httpguard.HostName(addr); ok && !httpguard.Unspecified(name) {
		names = append(names, name)
	}
	for _, entry := range more {
		name, err := parseHost(entry)
		if err != nil {
			return httpguard.Hosts{}, err
		}
		names = append(names, name)
	}
	return httpguard.NewHosts(names, leaf), nil
}

// parseHost parses an entry of HTTPConfig.Hosts. The error is a *SettingError.
func parseHost(entry string) (string, error) {
	name, ok := httpguard.HostName(httpguard.Bracketed(entry))
	_, notIP := netip.ParseAddr(entry)
	hasPort := notIP != nil && !strings.HasSuffix(entry, "]") && strings.Contains(entry, ":")
	if !ok || hasPort {
		return "", &SettingError{
			Setting: "allow-host",
			Value:   entry,
			Reason:  "is not a host name",
			hint:    `use a name or an address without a port, such as "notes.example"`,
		}
	}
	return name, nil
}

// parseOrigin parses an entry of HTTPConfig.Origins. The error is a *SettingError.
func parseOrigin(entry string) (string, error) {
	origin, ok := httpguard.CanonicalOrigin(entry)
	if !ok {
		return "", &SettingError{
			Setting: "allow-origin",
			Value:   entry,
			Reason:  "is not a web origin",
			hint:    `use a scheme and a host without a path, such as "https://app.example" or "http://localhost:3000"`,
		}
	}
	return origin, nil
}

const (
	// wrongGap is the minimum time between answers to wrong tokens. A token of 32 random bytes cannot be
	// guessed at any rate; the limit keeps attempts cheap for the server.
	wrongGap = 100 * time.Millisecond

	// wrongWait is the maximum delay of such an answer. Together with wrongGap it limits how many requests
	// wait. Further ones are answered with 429 immediately.
	wrongWait = 2 * time.Second

	// warnInterval is the minimum time between log messages about wrong tokens.
	warnInterval = time.Minute
)

// owner identifies who sent a request: the [Holder.Identity] of the token, or else its digest.
type owner [sha256.Size]byte

// bearer checks bearer tokens. Requests with a valid token never wait for others, because wrong ones are
// delayed only after the comparison.
type bearer struct {
	digest   owner
	holder   func(ctx context.Context, token string) (Holder, error) // see [HTTPConfig.HolderOf]
	ended    func() bool                                             // see [HTTPConfig.TokenEnded]
	resource *Resource
	log      *slog.Logger

	mu          sync.Mutex
	nextAnswer  time.Time // when the next wrong token may be answered
	lastWarning time.Time // time of the last log message
	wrongTokens int       // wrong tokens since then
}

func newBearer(token string, log *slog.Logger) *bearer {
	return &bearer{digest: sha256.Sum256([]byte(token)), log: log}
}

// admitted identifies who sent an authenticated request, and which server answers it.
type admitted struct {
	owner  owner
	server *Server // the server of the agent; nil if the token is that of the settings
	agent  string  // the name of the agent; "" if the token is that of the settings
}

// payer returns the payer to which the resources of a request are charged: the agent, with all its tokens and sessions
// together, or "" if the token is that of the settings.
func (by admitted) payer() shares.Payer {
	if by.agent == "" {
		return ""
	}
	return shares.Agent(ownerfiles.CallerOf(by.agent, ""))
}

// unnamedAgent is used for an agent without a name. It is not a valid name of an agent, and "" would mean the owner.
const unnamedAgent = "unnamed agent"

// admit authenticates a request. If that fails, it answers the request, and ok is false. It compares digests, because a
// comparison in constant time requires equal lengths.
func (b *bearer) admit(w http.ResponseWriter, r *http.Request) (by admitted, ok bool) {
	token, given := tokenIn(r)
	sum := owner(sha256.Sum256([]byte(token)))
	if given && b.isOwn(sum) {
		return admitted{owner: sum}, true
	}
	problem := ""
	scopes := ""
	text := ""
	if b.resource != nil {
		scopes = strings.Join(b.resource.Scopes, " ") // the scopes that a client should request first
	}
	status := http.StatusUnauthorized
	if given && b.holder != nil {
		holder, err := b.holder(shares.WithUnverified(r.Context(), shares.Network(remoteHost(r))), token)
		var refused *Refusal
		switch {
		case errors.As(err, &refused):
			status = refused.Status
			scopes = refused.Scopes
			text = refused.Reason
		case err == nil && holder.Server != nil:
			return admitted{holder.owner(sum), holder.Server, cmp.Or(holder.Agent, unnamedAgent)}, true
		}
	}
	if given && !b.delay(r.Context(), r.RemoteAddr) {
		status = http.StatusTooManyRequests
		w.Header().Set("Retry-After", "2")
	}
	switch {
	case status == http.StatusForbidden && scopes != "":
		problem = insufficientScope
	case status == http.StatusUnauthorized && given:
		problem = "invalid_token"
	}
	b.resource.challenge(w.Header(), problem, scopes)
	w.Header().Set("Connection", "close")
	refuse(w, status, cmp.Or(text, http.StatusText(status)))
	return admitted{}, false
}

// isOwn reports whether sum is the digest of the token of the settings.
func (b *bearer) isOwn(sum owner) bool {
	return subtle.ConstantTimeCompare(sum[:], b.digest[:]) == 1
}

// tokenIn returns the token of a request. given is false unless the request has exactly one.
func tokenIn(r *http.Request) (token string, ok bool) {
	values := r.Header["Authorization"]
	if len(values) != 1 {
		return "", false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimLeft(token, " ")
	return token, strings.EqualFold(scheme, "Bearer") && token != ""
}

// recheckInterval is the time between two checks whether the token of a stream is still valid.
const recheckInterval = 500 * time.Millisecond

// endWithToken calls end soon after the token of a request becomes invalid for its owner, unless ctx is
// done before. It is needed for streams, which may be open for hours.
func (b *bearer) endWithToken(ctx context.Context, r *http.Request, by owner, end func()) {
	token, _ := tokenIn(r)
	go func() {
		ticker := time.NewTicker(recheckInterval)
		defer ticker.Stop()
		for b.isValid(ctx, token, by) {
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
		}
		end()
	}()
}

// isValid reports whether a token still belongs to an owner and its agent still has rights. It returns
// true as long as that cannot be determined.
func (b *bearer) isValid(ctx context.Context, token string, expected owner) bool {
	sum := owner(sha256.Sum256([]byte(token)))
	ended := b.ended
	if !b.isOwn(sum) {
		holder, err := b.holder(ctx, token)
		var refused *Refusal
		isUnknown := errors.As(err, &refused) && refused.Status == http.StatusServiceUnavailable
		switch {
		case isUnknown, ctx.Err() != nil:
			return true
		case err != nil, holder.Server == nil, holder.owner(sum) != expected:
			return false
		}
		ended = holder.Ended
	}
	return ended == nil || !ended()
}

// delay waits before a wrong token is answered. It returns false immediately if too many requests wait.
// It also logs wrong tokens, at most once per warnInterval.
func (b *bearer) delay(ctx context.Context, remote string) bool {
	now := time.Now()
	b.mu.Lock()
	b.wrongTokens++
	if now.Sub(b.lastWarning) >= warnInterval {
		b.log.Warn("invalid bearer token", "from", remote, "times", b.wrongTokens)
		b.lastWarning = now
		b.wrongTokens = 0
	}
	if b.nextAnswer.Before(now) {
		b.nextAnswer = now
	}
	isFull := b.nextAnswer.Sub(now) >= wrongWait
	if !isFull {
		b.nextAnswer = b.nextAnswer.Add(wrongGap)
	}
	wait := b.nextAnswer.Sub(now)
	b.mu.Unlock()
	if isFull {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return true
}

// Resource is the metadata from which OAuth clients learn where to get an access token (RFC 9728).
type Resource struct {
	// URL is the address at which clients reach the endpoint, with https or on this machine. It is the
	// audience of access tokens. The metadata is based on it, never on the Host header of a request.
	URL string
	// Issuer is the URL of the authorization server.
	Issuer string
	// Scopes are the supported scopes. Clients are told to request all of them: the user decides which to
	// grant, and common clients with a refresh token never ask for more later.
	Scopes []string
}

// SignIn is an authorization server at the same address.
type SignIn interface {
	http.Handler
	// Owns reports whether the authorization server serves a path.
	Owns(path string) bool
}

// Holder describes the holder of a token.
type Holder struct {
	// Server answers the requests of the holder.
	Server *Server
	Agent  string // name of the agent; without one, it gets no metrics
	// Identity is the same for all tokens that may use the same session. If it is zero, a session can be
	// used only with this token.
	Identity [sha256.Size]byte
	// Ended reports whether the agent has lost its rights. Its streams then end; its calls are denied with
	// an explanation. nil means never.
	Ended func() bool
}

// owner returns the owner of requests with a token. token is its digest.
func (h Holder) owner(token owner) owner {
	if h.Identity != [sha256.Size]byte{} {
		return h.Identity
	}
	return token
}

// Refusal is the error of a token that is, or may be, valid, but is not accepted.
type Refusal struct {
	Status int    // HTTP status
	Scopes string // the scopes that the token would need, separated by spaces; "" if none are missing
	Reason string
}

func (e *Refusal) Error() string { return e.Reason }

// insufficientScope is the RFC 6750 error code for a token without the scopes for a request.
const insufficientScope = "insufficient_scope"

// metadataPath is the prefix of the path of the metadata (RFC 9728, section 3).
const metadataPath = "/.well-known/oauth-protected-resource"

// metadata returns the origin of the server and the path of its metadata.
func (o *Resource) metadata() (origin, path string) {
	u, _ := url.Parse(o.URL) // validated before
	return u.Scheme + "://" + u.Host, metadataPath + strings.TrimSuffix(u.EscapedPath(), "/")
}

// describes answers a request for the metadata, and reports whether it was one. There are three paths:
// that for URL, that for the endpoint, in case a proxy changes the path, and that for the whole origin.
func (o *Resource) describes(w http.ResponseWriter, r *http.Request, path string) bool {
	if o == nil {
		return false
	}
	_, own := o.metadata()
	isMetadata := path == own || path == metadataPath+endpoint || path == metadataPath
	if !isMetadata {
		return false
	}
	if allowed(w, r, http.MethodGet, http.MethodHead) {
		text, _ := json.Marshal(map[string]any{ // cannot fail for strings
			"resource":                 o.URL,
			"authorization_servers":    []string{o.Issuer},
			"scopes_supported":         o.Scopes,
			"bearer_methods_supported": []string{"header"},
			"resource_name":            "vaultwicket",
		})
		replyWith(w, http.StatusOK, text)
	}
	return true
}

// challenge sets the header that tells a client how to authenticate (RFC 6750, section 3): problem is the
// error code for its token, "" if it sent none, and scopes are the scopes to request.
func (o *Resource) challenge(h http.Header, problem, scopes string) {
	text := "Bearer"
	if o != nil {
		origin, path := o.metadata()
		text += fmt.Sprintf(" resource_metadata=%q", origin+path)
		if problem != "" {
			text += fmt.Sprintf(", error=%q", problem)
		}
		if scopes != "" {
			text += fmt.Sprintf(", scope=%q", scopes)
		}
	}
	h.Set("WWW-Authenticate", text)
}

const (
	tokenBytes = 32
	minToken   = 43       // length of 32 bytes in base64 without padding
	minHex     = 64       // length of 32 bytes in hexadecimal
	maxToken   = 1 << 10  // far below the limit on the headers of a request
	minVariety = 10       // minimum number of different characters; very few random tokens have fewer
	tokenSet   = "-._~+/" // valid characters besides letters and digits (RFC 6750)
)

// Token returns the token in the file at path. If the file is missing, it creates one with a new token.
// It must be a regular file that only this user can read, and contain only a token and at most a newline.
// The error is a *SettingError without text of the file.
func Token(path string) (string, error) {
	token, err := readToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	if err := makeToken(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", tokenError(path, "cannot be made", "", err)
	}
	return readToken(path) // as the next start will
}

func tokenError(path, reason, hint string, cause error) error {
	return &SettingError{Setting: "token-file", Value: path, Reason: reason, hint: hint, cause: cause}
}

// readToken reads a token file. The error wraps fs.ErrNotExist if there is none.
func readToken(path string) (string, error) {
	file, err := ownerfiles.OpenLinked(path) // the file briefly has two names in makeToken
	var unsafeFile *ownerfiles.Unsafe
	switch {
	case err == nil:
	case !errors.As(err, &unsafeFile):
		return "", tokenError(path, "cannot be read", "", err)
	case unsafeFile.Problem == ownerfiles.NotRegular:
		return "", tokenError(path, unsafeFile.Reason(), "name the file itself, not a link to it", nil)
	case unsafeFile.Problem == ownerfiles.OtherOwner:
		return "", tokenError(path, unsafeFile.Reason(), "name a file of your own, or none", nil)
	case unsafeFile.Problem == ownerfiles.Accessible:
		return "", tokenError(
			path,
			unsafeFile.Reason(),
			unsafeFile.Remedy()+", and make a new token: this one may be known",
			nil,
		)
	default:
		return "", tokenError(path, unsafeFile.Reason(), "try again", nil)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxToken+3))
	if err != nil {
		return "", tokenError(path, "cannot be read", "", err)
	}
	token := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if reason := Weakness(token); reason != "" {
		return "", tokenError(
			path,
			"contains a token that "+reason,
			"remove the file, and a new one is created at the next start",
			nil,
		)
	}
	return token, nil
}

// makeToken atomically creates a file with a new token. It never replaces a file; the error is then
// fs.ErrExist.
func makeToken(path string) error {
	dir := filepath.Dir(path)
	if !ownerfiles.EnsureFolder(dir) {
		return fmt.Errorf("its folder %s", cmp.Or(ownerfiles.WhyUnsafe(dir), "cannot be made"))
	}
	file, err := os.CreateTemp(dir, ".token-") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	secret := make([]byte, tokenBytes)
	rand.Read(secret)
	_, err = fmt.Fprintln(file, base64.RawURLEncoding.EncodeToString(secret))
	err = errors.Join(err, file.Sync(), file.Close())
	if err != nil {
		return err
	}
	return os.Link(file.Name(), path)
}

func isLetterOrDigit(c rune) bool {
	isDigit := '0' <= c && c <= '9'
	isLetter := 'a' <= c|0x20 && c|0x20 <= 'z'
	return isDigit || isLetter
}

// Weakness returns the reason why a text is not valid as HTTPConfig.Token, "" if it is valid.
func Weakness(token string) string {
	different := map[rune]bool{}
	for _, c := range strings.TrimRight(token, "=") {
		different[c] = true
		if !strings.ContainsRune(tokenSet, c) && !isLetterOrDigit(c) {
			return "has characters that a header cannot carry"
		}
	}
	switch {
	case token == "":
		return "is missing"
	case len(token) < minToken:
		return fmt.Sprintf("is shorter than %d characters, which 32 random bytes need", minToken)
	case len(token) < minHex && strings.Trim(token, "0123456789abcdefABCDEF") == "":
		return fmt.Sprintf("is shorter than %d hexadecimal digits, which 32 random bytes need", minHex)
	case len(token) > maxToken:
		return fmt.Sprintf("is longer than %d characters", maxToken)
	case len(different) < minVariety:
		return "is not random"
	}
	return ""
}
