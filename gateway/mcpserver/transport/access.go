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

// newHosts returns the hosts of an address and a list of further names.
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

// parseHost reads an entry of Config.Hosts. The error is a *SettingError.
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

// parseOrigin reads an entry of Config.Origins. The error is a *SettingError.
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
	// wrongGap is the time between two answers to a wrong token. A token of 32 random bytes
	// cannot be guessed at any rate; the limit keeps attempts cheap for the server.
	wrongGap = 100 * time.Millisecond

	// wrongWait is the maximum delay of such an answer, and with [wrongGap] limits how many
	// wait. Beyond it the answer is 429 at once.
	wrongWait = 2 * time.Second

	// warnInterval is the minimum time between two messages about wrong tokens.
	warnInterval = time.Minute
)

// owner is the digest of the token of a request, or the [Holder.Identity] of the token.
type owner [sha256.Size]byte

// bearer checks the token. A request with the right one never waits for others: the delay of
// wrong ones comes after the comparison.
type bearer struct {
	want     owner
	holder   func(ctx context.Context, token string) (Holder, error) // see [HTTPConfig.HolderOf]
	ended    func() bool                                             // see [HTTPConfig.TokenEnded]
	resource *Resource
	log      *slog.Logger

	mu     sync.Mutex
	turn   time.Time // when the next wrong token may be answered
	told   time.Time
	wrongs int // since told
}

func newBearer(token string, log *slog.Logger) *bearer {
	return &bearer{want: sha256.Sum256([]byte(token)), log: log}
}

// admitted is whose request it is, and who answers it.
type admitted struct {
	owner  owner
	server *Server // of the agent; nil for the token of no agent
	agent  string  // the name of the agent, "" for the token of no agent
}

// payer is who pays for what a request takes: the agent over all its tokens and sessions, "" for the token of no agent.
func (by admitted) payer() shares.Payer {
	if by.agent == "" {
		return ""
	}
	return shares.Agent(ownerfiles.CallerOf(by.agent, ""))
}

// unnamed stands for an agent without a name: the name of no agent, which is not the owner either.
const unnamed = "unnamed agent"

// admit returns whose request it is, or answers it. It compares digests, because a comparison in constant time needs equal lengths.
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
		scopes = strings.Join(b.resource.Scopes, " ") // with which a client begins
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
			return admitted{holder.owner(sum), holder.Server, cmp.Or(holder.Agent, unnamed)}, true
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

// isOwn reports whether a digest is that of the token of the settings.
func (b *bearer) isOwn(sum owner) bool {
	return subtle.ConstantTimeCompare(sum[:], b.want[:]) == 1
}

// tokenIn returns the token of a request. given is false for a request without exactly one.
func tokenIn(r *http.Request) (token string, given bool) {
	values := r.Header["Authorization"]
	if len(values) != 1 {
		return "", false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimLeft(token, " ")
	return token, strings.EqualFold(scheme, "Bearer") && token != ""
}

// lookAgain is the time between two looks at whether the token of a stream still counts.
const lookAgain = 500 * time.Millisecond

// endWithToken calls end soon after the token of a request counts no longer for its owner, unless
// ctx ends before: a stream is open for hours, and its token is only checked at its beginning.
func (b *bearer) endWithToken(ctx context.Context, r *http.Request, by owner, end func()) {
	token, _ := tokenIn(r)
	go func() {
		looks := time.NewTicker(lookAgain)
		defer looks.Stop()
		for b.counts(ctx, token, by) {
			select {
			case <-looks.C:
			case <-ctx.Done():
				return
			}
		}
		end()
	}()
}

// counts reports whether a token is still that of an owner, and its agent has rights. It is while
// that cannot be told.
func (b *bearer) counts(ctx context.Context, token string, by owner) bool {
	sum := owner(sha256.Sum256([]byte(token)))
	ended := b.ended
	if !b.isOwn(sum) {
		holder, err := b.holder(ctx, token)
		var refused *Refusal
		unknown := errors.As(err, &refused) && refused.Status == http.StatusServiceUnavailable
		switch {
		case unknown, ctx.Err() != nil:
			return true
		case err != nil, holder.Server == nil, holder.owner(sum) != by:
			return false
		}
		ended = holder.Ended
	}
	return ended == nil || !ended()
}

// delay waits for the turn of a wrong token, and logs wrong tokens, at most one message a minute. It is
// false, at once, if too many wait.
func (b *bearer) delay(ctx context.Context, remote string) bool {
	now := time.Now()
	b.mu.Lock()
	b.wrongs++
	if now.Sub(b.told) >= warnInterval {
		b.log.Warn("invalid bearer token", "from", remote, "times", b.wrongs)
		b.told = now
		b.wrongs = 0
	}
	if b.turn.Before(now) {
		b.turn = now
	}
	full := b.turn.Sub(now) >= wrongWait
	if !full {
		b.turn = b.turn.Add(wrongGap)
	}
	wait := b.turn.Sub(now)
	b.mu.Unlock()
	if full {
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

// Resource describes the server to OAuth clients, which find out from it where to get an access
// token (RFC 9728).
type Resource struct {
	// URL is the address at which clients reach the endpoint, with https or on this machine.
	// Access tokens are for it. It decides what is described: the Host header of a request never
	// does.
	URL string
	// Issuer is the URL of the authorization server.
	Issuer string
	// Scopes are those of access tokens. A client begins with all of them: whoever grants them
	// chooses, and common clients that have a refresh token never ask for more.
	Scopes []string
}

// SignIn is an authorization server at the same address.
type SignIn interface {
	http.Handler
	// Owns reports whether a path is one of the server.
	Owns(path string) bool
}

// Holder is whose a token is.
type Holder struct {
	// Server answers the requests.
	Server *Server
	Agent  string // its name; without one it gets no figures
	// Identity is the same for all tokens that may use one session, zero for only this token.
	Identity [sha256.Size]byte
	// Ended reports whether the agent has no rights any more: its calls are answered with that, and its
	// streams end. nil is never.
	Ended func() bool
}

// owner returns the owner of the requests with a token, which has a digest.
func (h Holder) owner(token owner) owner {
	if h.Identity != [sha256.Size]byte{} {
		return h.Identity
	}
	return token
}

// Refusal is why a token is not accepted although it is valid, or may be.
type Refusal struct {
	Status int    // of HTTP
	Scopes string // that the token would need, "" if it does not lack any
	Reason string
}

func (e *Refusal) Error() string { return e.Reason }

// insufficientScope is the error of RFC 6750 for a token that was not issued for a request.
const insufficientScope = "insufficient_scope"

// metadataPath is where the address of a description begins (RFC 9728, 3).
const metadataPath = "/.well-known/oauth-protected-resource"

// metadata returns the origin of the server and the path of its description.
func (o *Resource) metadata() (origin, path string) {
	u, _ := url.Parse(o.URL) // it was checked
	return u.Scheme + "://" + u.Host, metadataPath + strings.TrimSuffix(u.EscapedPath(), "/")
}

// describes answers a request for the description, and reports whether it was one: for the path of the
// address of the server, of its endpoint before a proxy changes the path, or the one for a whole origin.
func (o *Resource) describes(w http.ResponseWriter, r *http.Request, path string) bool {
	if o == nil {
		return false
	}
	if _, own := o.metadata(); path != own && path != metadataPath+endpoint && path != metadataPath {
		return false
	}
	if allowed(w, r, http.MethodGet, http.MethodHead) {
		text, _ := json.Marshal(map[string]any{ // only text
			"resource": o.URL, "authorization_servers": []string{o.Issuer}, "scopes_supported": o.Scopes,
			"bearer_methods_supported": []string{"header"}, "resource_name": "vaultwicket",
		})
		replyWith(w, http.StatusOK, text)
	}
	return true
}

// challenge says in a response what is wrong with the token, "" for no token, which scopes would
// do, and where a client finds out how to get one (RFC 6750, 3).
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
	minToken   = 43       // 32 bytes in base64, without padding
	minHex     = 64       // and in hexadecimal digits
	maxToken   = 1 << 10  // far below the limit of a request's head
	variety    = 10       // different characters; a random token in hex has fewer once in many millions
	tokenSet   = "-._~+/" // besides letters and digits, RFC 6750
)

// Token returns the token in the file at path, which it creates with a new token if it is missing.
// The file must be a regular one that only this user can read, with one token and at most a newline.
// The error is a *SettingError, without text of the file.
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

// readToken reads a file. The error wraps fs.ErrNotExist if there is none.
func readToken(path string) (string, error) {
	file, err := ownerfiles.OpenLinked(path) // makeToken gives it two names for a moment
	var unsafe *ownerfiles.Unsafe
	switch {
	case err == nil:
	case !errors.As(err, &unsafe):
		return "", tokenError(path, "cannot be read", "", err)
	case unsafe.Problem == ownerfiles.NotRegular:
		return "", tokenError(path, unsafe.Reason(), "name the file itself, not a link to it", nil)
	case unsafe.Problem == ownerfiles.OtherOwner:
		return "", tokenError(path, unsafe.Reason(), "name a file of your own, or none", nil)
	case unsafe.Problem == ownerfiles.Accessible:
		return "", tokenError(
			path,
			unsafe.Reason(),
			unsafe.Remedy()+", and make a new token: this one may be known",
			nil,
		)
	default:
		return "", tokenError(path, unsafe.Reason(), "try again", nil)
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

// makeToken creates the file with a new token, atomically. It never replaces a file: the error is
// then fs.ErrExist.
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

// Weakness returns why a text is not valid for Config.Token, "" if it is.
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
	case len(different) < variety:
		return "is not random"
	}
	return ""
}
