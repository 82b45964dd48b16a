// Package ui is the local page: it shows what agents do, what waits for the user, and what can be
// undone. It reads the same data as the subcommands, and decides and undoes through the same
// functions; it has no other access to a vault.
//
// The page listens only on a loopback address. [guard] decides who may see it. Every view is HTML
// that is complete without JavaScript; the script refreshes parts of it when something happens.
// Text of notes appears only in questions and differences, cleaned as in the terminal and escaped.
// Hidden notes do not appear, except that the owner sees the access rules themselves.
package ui

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/conc/panics"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/httpguard"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// Surface is the name of calls and approvals of the page in the audit log.
const Surface = "page"

// atTerminal is the caller of calls that the owner makes at a terminal.
const atTerminal = consent.Terminal

// Config configures the page. All fields except Version and Now are required.
type Config struct {
	Gateway *gateway.Gateway
	State   string // the state folder
	Session string // names this process in the audit log
	Version string

	// Settings returns the current settings. Health checks the installation, which may
	// take seconds.
	Settings func() (Settings, error)
	Health   func(context.Context) []Finding
	// Agents returns the agents that are defined or have a token. Revoke revokes all rights of one.
	Agents func() ([]Agent, error)
	Revoke func(agent string) error
	// OfAgent returns a gateway with the rights of an agent.
	OfAgent func(agent string) (*gateway.Gateway, error)
	// Advise returns how to change the settings file so that a refused call is allowed.
	Advise func(Refusal) (Advice, error)

	Log *slog.Logger // receives messages for the user
	// Now is the clock; nil means the system clock.
	Now func() time.Time
}

// Settings are the settings with their origins.
type Settings struct {
	File string // "" for none
	Rows []Setting
}

// Setting is one setting. Lines are the lines to write into the file for another value.
type Setting struct {
	Name, Value, Default, Origin, About string
	Lines                               []string
}

// Refusal describes a refused call, as far as the audit log knows it.
type Refusal struct {
	Agent, Vault, Command, Path string // each "" if unknown
	Code, Rule                  string
	Needs                       access.Level // of the note at Path
}

// Advice describes how to change the settings file so that a call is allowed. If there are no edits, no change of the
// file allows it.
type Advice struct {
	File    string // the settings file, "" if there is none yet
	Setting string // the setting that refuses the call, "" if the settings allow it
	Origin  string // the source of this setting
	Edits   []Edit
	Opens   []string // what the edits allow besides the call
	Folder  string   // the folder of an access rule in the edits, "" if the rule is about the note of the call only
}

// Edit is a change of one line. Text replaces Was. With Was "", Text is added below the line, or at the beginning of the
// file for line 0. With Text "", the line is removed.
type Edit struct {
	Line             int
	Table, Was, Text string
}

// Finding is the result of one check of the installation. Level is ok, warning or problem.
type Finding struct{ Check, Level, What, Why, Fix string }

// Agent is an agent with its rights. State is active, paused, revoked, expired or undefined.
type Agent struct {
	Name, State, Tier string
	Mutations         bool
	Vaults            []string // nil for all
	Expires           *time.Time
}

const (
	maxConnections = 64 // a browser opens up to six
	maxStreams     = 24
	stopGrace      = 2 * time.Second
)

// Page serves the local page of one process.
type Page struct {
	Config
	guard   *guard
	answers answers
	calls   *CallLog
	streams *httpguard.Streams
	events  *events
	health  *health
	names   *noteNames
	routes  map[string]route

	mu       sync.Mutex
	followed []*followed             // in the order in which they were asked
	moves    uint64                  // number of changes of followed: it rises with each question, answer and end
	counted  map[string]countedLines // by the ids of changes
	ofAgents map[string]*gateway.Gateway

	// working ends with the page, and stops the background work of its views.
	working context.Context
	stop    context.CancelFunc
}

// New returns the page. It reads nothing yet.
func New(c Config) *Page {
	if c.Now == nil {
		c.Now = time.Now
	}
	p := &Page{
		Config:   c,
		calls:    OpenCallLog(c.State),
		streams:  httpguard.NewStreams(maxStreams),
		counted:  map[string]countedLines{},
		ofAgents: map[string]*gateway.Gateway{},
	}
	p.names = &noteNames{page: p, logs: audit.OpenLogs(c.State)}
	p.working, p.stop = context.WithCancel(context.Background())
	p.events = &events{page: p, open: map[chan event]bool{}, newest: firstCallNumber - 1}
	p.health = &health{page: p}
	p.routes = map[string]route{
		"":                  {show: p.overview},
		"activity":          {show: p.activity},
		"activity/call/":    {show: p.oneCall},
		"approvals":         {show: p.approvals},
		"approvals/approve": {act: func(r request) view { return p.decide(r, consent.Answer{Approve: true}) }},
		"approvals/one/":    {show: p.oneQuestion},
		"approvals/deny":    {act: func(r request) view { return p.decide(r, consent.Answer{Approve: false}) }},
		"approvals/forget":  {act: p.forgetBrowsers},
		"changes":           {show: p.changes},
		"changes/one/":      {show: p.oneChange},
		"changes/undo":      {act: p.undo},
		"approvals/allow":   {act: p.allow},

		"approvals/proposal/": {show: p.oneProposal},
		"approvals/draft":     {act: p.draftProposal},
		"approvals/take":      {act: p.takeProposal},
		"approvals/decline":   {act: p.declineProposal},
		"review":              {show: p.review},
		"review/seen":         {act: p.markReviewed},
		"agents":              {show: p.agents},
		"agents/end-grant":    {act: p.endGrant},
		"agents/pause":        {act: func(r request) view { return p.agentAct(r, "pause") }},
		"agents/resume":       {act: func(r request) view { return p.agentAct(r, "resume") }},
		"agents/revoke":       {act: func(r request) view { return p.agentAct(r, "revoke") }},
		"policy":              {show: p.policy},
		"policy/try": {
			show: func(r request) view { return view{template: "try", title: tryTitle, data: p.tryDataOf(r)} },
			act:  p.try,
		},
		"policy/access": {show: p.access},
		"health":        {show: p.healthView},
		"health/check": {act: func(request) view {
			p.health.begin()
			return view{goTo: "health"}
		}},
		// Read-only: to loosen the policy, the user must restart the program.
		"settings": {show: func(request) view {
			shown, err := p.inForce()
			return view{template: "settings", title: "Settings", data: shown}.failed(err)
		}},
		"pause/pause":  {act: p.pause},
		"pause/resume": {act: p.resume},
	}
	p.guard = newGuard(c.Now, newLinkPages(c.State, c.Session, "", c.Now, c.Log), p.answer)
	return p
}

// Open returns the path of a link that opens the page once.
func (p *Page) Open() string { return p.guard.Open() }

// readLog reads the audit log backwards from its end, part by part, until the page ends.
func (p *Page) readLog() {
	_, err := p.calls.Update()
	for more := err == nil; more && err == nil; {
		more, err = p.calls.ReadOlder(p.working)
	}
	if err != nil && p.working.Err() == nil {
		p.Log.Warn("the audit log cannot be read", "error", err.Error())
	}
}

// Serve answers requests on a listener until ctx ends, and then returns nil. The only errors are
// those of the listener.
func (p *Page) Serve(ctx context.Context, l net.Listener) error {
	baseCtx, cancelBase := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelBase()
	defer p.stop()
	limited := httpguard.NewConnLimiter(l, httpguard.ConnLimit(maxConnections))
	server := httpguard.NewServer(baseCtx, p.guard, slog.NewLogLogger(p.Log.Handler(), slog.LevelDebug))
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(limited) }()
	go func() { // so that the first view need not wait for it
		p.readLog()
		p.names.mu.Lock()
		p.names.build()
		p.names.mu.Unlock()
	}()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	p.stop()
	p.streams.Close()
	limited.CloseUnauthenticated() // browsers preconnect, and Shutdown would wait for these connections
	grace, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	_ = server.Shutdown(grace)
	cancelBase()
	_ = server.Close()
	<-failed
	// Wait for the running check, so that no program that it started outlives the page.
	h := p.health
	h.mu.Lock()
	done := h.done
	h.mu.Unlock()
	if done != nil {
		select {
		case <-done:
		case <-grace.Done():
		}
	}
	return nil
}

// request is an authenticated request.
type request struct {
	*http.Request
	visit

	rest    string // of the path, after the route
	seen    uint64 // version of the content of the view, see events
	pending int    // number of pending questions
}

// view is the answer to a request: a page, or a redirect. A form is always answered with a redirect
// (post/redirect/get), so that a browser that goes back does not send it again.
type view struct {
	template string // name of its file, without the extension
	title    string
	data     any
	status   int            // HTTP status; 0 means 200
	problem  *failure.Error // shown at the top
	note     string         // message about the change that was made
	goTo     string         // path to redirect to, whose view also shows the problem and note of this one
}

// route has the handlers of a path: show for GET and HEAD, act for POST; one of them may be nil.
// A path that ends with a slash matches everything below it.
type route struct{ show, act func(request) view }

// answer answers an authenticated request.
func (p *Page) answer(w http.ResponseWriter, r *http.Request, v visit) {
	if panicked := panics.Try(func() { p.show(w, r, v) }); panicked != nil {
		p.Log.Error("a request to the page panicked", "stack", string(panicked.Stack))
		http.Error(w, "internal error", http.StatusInternalServerError)
	}
}

// show answers a request with a file, the stream of events, a view or a redirect.
func (p *Page) show(w http.ResponseWriter, r *http.Request, v visit) {
	switch name, isAsset := strings.CutPrefix(v.Path, "assets/"); {
	case isAsset && r.Method != http.MethodPost:
		serveAsset(w, r, name)
		return
	case v.Path == "events" && r.Method == http.MethodGet:
		p.events.serve(w, r)
		return
	}
	handlers, known := p.routes[v.Path]
	rest := ""
	if i := strings.LastIndexByte(v.Path, '/'); !known && i >= 0 {
		handlers = p.routes[v.Path[:i+1]]
		rest = v.Path[i+1:]
	}
	handle := handlers.show
	if r.Method == http.MethodPost {
		handle = handlers.act
	}
	seen, pending := p.events.check() // before the view is made, which may show newer content but never older
	req := request{r, v, rest, seen, pending}
	if handle == nil {
		p.write(w, req, view{template: "missing", title: "Not found", status: http.StatusNotFound})
		return
	}
	kept := p.answers.take(r)
	if kept.template != "" {
		if long, ok := kept.data.(readInParts); ok {
			kept.data = long.inPart(r.URL.Query())
		}
		p.write(w, req, kept)
		return
	}
	answer := handle(req)
	httpguard.LimitWrite(w) // restart the limit: a change may have taken long
	if r.Method == http.MethodPost {
		w.Header().Set("Location", v.Base+p.answers.keep(answer))
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	answer.note = kept.note
	answer.problem = cmp.Or(kept.problem, answer.problem)
	answer.status = cmp.Or(kept.status, answer.status)
	p.write(w, req, answer)
}

// readInParts is data that may be too long for one view: the query of a request selects the part that is shown.
type readInParts interface {
	inPart(query url.Values) (data any)
}

// failed returns the view with an error at its top, or unchanged if err is nil.
func (v view) failed(err error) view {
	if err == nil {
		return v
	}
	v.problem = problemOf(err)
	v.status = http.StatusUnprocessableEntity
	return v
}

// problemOf returns an error for display to the owner: unlike clients, they may see the paths of
// the state folder.
func problemOf(err error) *failure.Error {
	var coded failure.CodedError
	if errors.As(err, &coded) {
		return failure.Of(err)
	}
	return &failure.Error{Code: failure.CodeState, Message: sanitize.String(err.Error())}
}

const (
	answerField = "answer"
	maxAnswers  = 32 // the oldest is dropped first
)

// answers keeps the answers to forms until the view after the redirect shows them. A note or
// problem is shown once; a whole page, such as a plan, can be loaded again.
type answers struct {
	mu   sync.Mutex
	list []keptAnswer
}

type keptAnswer struct {
	id string
	view
}

// keep stores an answer and returns the path that shows it.
func (a *answers) keep(v view) (path string) {
	if v.template == "" && v.note == "" && v.problem == nil {
		return v.goTo
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	kept := keptAnswer{rand.Text(), v}
	a.list = append(a.list[max(0, len(a.list)+1-maxAnswers):], kept)
	separator := "?"
	if strings.Contains(v.goTo, separator) {
		separator = "&"
	}
	return v.goTo + separator + url.Values{answerField: {kept.id}}.Encode()
}

// take returns the answer that a request asks for, or the zero view. A note or problem is then forgotten.
func (a *answers) take(r *http.Request) view {
	id := r.URL.Query().Get(answerField)
	if id == "" || r.Method != http.MethodGet {
		return view{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.list, func(answer keptAnswer) bool { return answer.id == id })
	if i < 0 {
		return view{}
	}
	stored := a.list[i].view
	if stored.template == "" {
		a.list[i].view = view{}
	}
	return stored
}

//go:embed assets/page.css assets/page.js assets/read.js assets/app.js assets/icon.svg assets/icon-waiting.svg
var assetFiles embed.FS

// Stylesheet returns the style sheet of the page, for the other pages of the program.
func Stylesheet() []byte {
	text, _ := assetFiles.ReadFile("assets/page.css") // it is embedded
	return text
}

// ReadScript returns the script that disables the approval of a question until it was read, for the other pages of the
// program. It works on the element with the attributes data-question and data-part.
func ReadScript() []byte {
	text, _ := assetFiles.ReadFile("assets/" + pageReads) // it is embedded
	return text
}

// assetTypes are the content types of the files of the page: browsers must not guess them.
var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// asset is a file of the page. Its address contains a part of its hash, so that browsers can cache it.
type asset struct {
	content, compressed []byte // compressed is by gzip
	hashPart            string
}

// assets returns the files of the page by name.
var assets = sync.OnceValue(func() map[string]asset {
	all := map[string]asset{}
	entries, _ := assetFiles.ReadDir("assets") // it is embedded
	for _, entry := range entries {
		content, _ := assetFiles.ReadFile("assets/" + entry.Name())
		var packed bytes.Buffer
		w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is valid
		_, _ = w.Write(content)                                    // to memory
		_ = w.Close()
		sum := sha256.Sum256(content)
		all[entry.Name()] = asset{content, packed.Bytes(), hex.EncodeToString(sum[:6])}
	}
	return all
})

// serveAsset answers with a file of the page. Views are never compressed: they contain tokens together
// with text of others, so that the compressed length could reveal a token.
func serveAsset(w http.ResponseWriter, r *http.Request, name string) {
	file, known := assets()[name]
	if !known {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", assetTypes[path.Ext(name)])
	w.Header().Set("Vary", "Accept-Encoding")
	if r.URL.RawQuery == file.hashPart {
		w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	content := file.content
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		content = file.compressed
	}
	if r.Method != http.MethodHead {
		_, _ = w.Write(content)
	}
}
