package ui

import (
	"cmp"
	"errors"
	"net/http"
	"runtime/debug"
	"strings"

	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/httpguard"
	"vaultwicket/gateway/ui/auth"
)

// request is a request that may see the page.
type request struct {
	*http.Request
	auth.Visit
	rest    string // of the path, behind that of the route
	seen    uint64 // the version of what the view shows, see events
	pending int    // questions
}

// view is the answer to a request: a page, or where to go on. The answer to a form is
// always the second: a page would be sent again by a browser that goes back to it.
type view struct {
	template string // its file, without the end
	title    string
	data     any
	status   int            // 0 is 200
	problem  *failure.Error // told at the top
	note     string         // what was done
	goTo     string         // a path of the page, which then shows the rest of this view
}

// route is what answers a path. show is for GET and HEAD, act for POST; one of them may be
// nil. A path that ends with a slash is for everything below it.
type route struct{ show, act func(request) view }

// routing returns the paths of the page.
func (p *page) routing() map[string]route {
	return map[string]route{
		"":                  {show: p.overview},
		"activity":          {show: p.activity},
		"activity/call/":    {show: p.oneCall},
		"approvals":         {show: p.approvals},
		"approvals/approve": {act: p.approve},
		"approvals/deny":    {act: p.deny},
		"changes":           {show: p.changes},
		"changes/one/":      {show: p.oneChange},
		"changes/undo":      {act: p.undo},
		"policy":            {show: p.policy},
		"policy/try":        {show: p.tryForm, act: p.try},
		"policy/access":     {show: p.access},
		"health":            {show: p.healthView},
		"health/check":      {act: p.checkHealth},
		"settings":          {show: p.settings},
		"pause/pause":       {act: p.pause},
		"pause/resume":      {act: p.resume},
	}
}

// serve answers a request that the guard let through.
func (p *page) serve(w http.ResponseWriter, r *http.Request, v auth.Visit) {
	defer p.rescue(w)
	switch name, isAsset := strings.CutPrefix(v.Path, "assets/"); {
	case isAsset && r.Method != http.MethodPost:
		serveAsset(w, r, name)
		return
	case v.Path == "events" && r.Method == http.MethodGet:
		p.events.serve(w, r)
		return
	}
	handle, rest, ok := p.find(v.Path, r.Method == http.MethodPost)
	seen, pending := p.events.check() // before the view is made: it may show more, and never less
	req := request{r, v, rest, seen, pending}
	if !ok {
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

// find returns what answers a path.
func (p *page) find(path string, change bool) (handle func(request) view, rest string, ok bool) {
	found, known := p.routes[path]
	if i := strings.LastIndexByte(path, '/'); !known && i >= 0 {
		found, rest = p.routes[path[:i+1]], path[i+1:]
	}
	handle = found.show
	if change {
		handle = found.act
	}
	return handle, rest, handle != nil
}

// rescue answers a request whose handler panicked. It must be deferred itself.
func (p *page) rescue(w http.ResponseWriter) {
	if fault := recover(); fault != nil {
		p.Log.Error("a request to the page panicked", "stack", string(debug.Stack()))
		http.Error(w, "internal error", http.StatusInternalServerError)
	}
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
