package ui

import (
	"cmp"
	"crypto/rand"
	"embed"
	"errors"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"strings"
	"sync"

	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/httpguard"
)

// request is a request that may see the page.
type request struct {
	*http.Request
	visit

	rest    string // of the path, after that of the route
	seen    uint64 // the version of what the view shows, see events
	pending int    // questions
}

// view is the answer to a request: a page, or a redirect. A form is always answered with a redirect
// (post/redirect/get), so that a browser that goes back does not send it again.
type view struct {
	template string // its file, without the end
	title    string
	data     any
	status   int            // 0 is 200
	problem  *failure.Error // told at the top
	note     string         // about the change that was made
	goTo     string         // a path of the page, which then shows the rest of this view
}

// route is what answers a path. show is for GET and HEAD, act for POST; one of them may be
// nil. A path that ends with a slash is for everything below it.
type route struct{ show, act func(request) view }

// serve answers an authenticated request.
func (p *page) serve(w http.ResponseWriter, r *http.Request, v visit) {
	defer func() {
		if fault := recover(); fault != nil {
			p.Log.Error("a request to the page panicked", "stack", string(debug.Stack()))
			http.Error(w, "internal error", http.StatusInternalServerError)
		}
	}()
	switch name, isAsset := strings.CutPrefix(v.Path, "assets/"); {
	case isAsset && r.Method != http.MethodPost:
		serveAsset(w, r, name)
		return
	case v.Path == "events" && r.Method == http.MethodGet:
		p.events.serve(w, r)
		return
	}
	found, known := p.routes[v.Path]
	rest := ""
	if i := strings.LastIndexByte(v.Path, '/'); !known && i >= 0 {
		found, rest = p.routes[v.Path[:i+1]], v.Path[i+1:]
	}
	handle := found.show
	if r.Method == http.MethodPost {
		handle = found.act
	}
	seen, pending := p.events.check() // before the view is made: it may show more, and never less
	req := request{r, v, rest, seen, pending}
	if handle == nil {
		p.write(w, req, view{template: "missing", title: "Not found", status: http.StatusNotFound})
		return
	}
	kept := p.answers.take(r)
	if kept.template != "" {
		p.write(w, req, kept)
		return
	}
	answer := handle(req)
	httpguard.LimitWrite(w) // a change may have taken long
	if r.Method == http.MethodPost {
		w.Header().Set("Location", v.Base+p.answers.keep(answer))
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	answer.note, answer.problem, answer.status = kept.note, cmp.Or(kept.problem, answer.problem), cmp.Or(kept.status, answer.status)
	p.write(w, req, answer)
}

// failed is a view with an error at its top.
func (v view) failed(err error) view {
	v.problem, v.status = problemOf(err), http.StatusUnprocessableEntity
	return v
}

// problemOf is an error as the owner of the vault sees it: unlike a client they may know
// the paths of the state folder.
func problemOf(err error) *failure.Error {
	var coded failure.CodedError
	if errors.As(err, &coded) {
		return failure.Of(err)
	}
	return &failure.Error{Code: failure.CodeState, Message: clean.String(err.Error())}
}

const (
	answerField = "answer"
	maxAnswers  = 32 // the oldest goes first; a page of one is a plan, or a question before an undo
)

// answers are the answers to forms, until the view after the redirect shows them. A note or a
// problem is shown once; a page can be loaded again.
type answers struct {
	mu   sync.Mutex
	list []keptAnswer
}

type keptAnswer struct {
	id string
	view
}

// keep returns the path that shows an answer.
func (a *answers) keep(v view) (path string) {
	if v.template == "" && v.note == "" && v.problem == nil {
		return v.goTo
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	one := keptAnswer{rand.Text(), v}
	a.list = append(a.list[max(0, len(a.list)+1-maxAnswers):], one)
	sign := "?"
	if strings.Contains(v.goTo, sign) {
		sign = "&"
	}
	return v.goTo + sign + url.Values{answerField: {one.id}}.Encode()
}

// take returns the answer that a request is for, the zero view if there is none.
func (a *answers) take(r *http.Request) view {
	id := r.URL.Query().Get(answerField)
	if id == "" || r.Method != http.MethodGet {
		return view{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.list {
		if one := &a.list[i]; one.id == id {
			kept := one.view
			if kept.template == "" {
				one.view = view{}
			}
			return kept
		}
	}
	return view{}
}

//go:embed assets/page.css assets/page.js assets/icon.svg
var assetFiles embed.FS

// assetTypes are the types of the files of the page: browsers do not guess them.
var assetTypes = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// serveAsset answers with a file of the page.
func serveAsset(w http.ResponseWriter, r *http.Request, name string) {
	content, err := assetFiles.ReadFile(path.Join("assets", path.Base(name)))
	kind, known := assetTypes[path.Ext(name)]
	if err != nil || !known || path.Base(name) != name {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	if r.Method != http.MethodHead {
		_, _ = w.Write(content)
	}
}
