package ui

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"

	"vaultwicket/gateway/admission"
	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/failure"
)

//go:embed templates/*.html
var templateFiles embed.FS

// views are the templates by their names, each with the layout around it. They are parsed
// for the first page: every start of the program would take 2 ms longer.
var views = sync.OnceValue(parseViews)

func parseViews() map[string]*template.Template {
	layout := template.Must(template.New("layout.html").Funcs(template.FuncMap{
		"line": clean.Line, "text": shownText, "exact": exactTime, "took": took, "join": strings.Join, "value": settingValue, "rows": questionRows,
		"add": func(a, b int) int { return a + b }, "iso": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	}).ParseFS(templateFiles, "templates/layout.html", "templates/parts.html"))
	all := map[string]*template.Template{}
	entries, _ := templateFiles.ReadDir("templates") // it is in the program
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".html")
		if name != "layout" && name != "parts" {
			all[name] = template.Must(template.Must(layout.Clone()).ParseFS(templateFiles, "templates/"+entry.Name()))
		}
	}
	return all
}

// frame is what the layout shows around a view.
type frame struct {
	Base, Active, Title, Version string
	Token                        string // of the forms of the view
	PauseToken                   string
	Paused                       *time.Time
	Pending                      int
	Seen                         uint64 // see events
	Now                          time.Time
	Problem                      *failure.Error
	Note                         string
	Refresh                      bool // again in a while, for who has no script
	Data                         any
}

// Moment is a time as the templates show it: how long ago, and exactly.
type Moment struct{ Time, Now time.Time }

// Ago says how long before now the time is, in words.
func (m Moment) Ago() string { return ago(m.Now.Sub(m.Time)) }

// At returns a time for the template "time".
func (f frame) At(t time.Time) Moment { return Moment{t, f.Now} }

// write writes the answer to a request.
func (p *page) write(w http.ResponseWriter, r request, v view) {
	f := frame{
		Base: r.Base, Active: r.Page(), Title: v.title, Version: p.Version, Token: r.Token(r.Page()), PauseToken: r.Token("pause"),
		Paused: admission.PausedSince(p.State), Now: p.Now(), Pending: r.pending, Seen: r.seen, Problem: v.problem, Note: v.note, Data: v.data,
	}
	if checking, ok := v.data.(interface{ Unfinished() bool }); ok {
		f.Refresh = checking.Unfinished()
	}
	var body bytes.Buffer
	if err := views()[v.template].ExecuteTemplate(&body, "layout.html", f); err != nil {
		p.Log.Error("a view cannot be written", "view", v.template, "error", err.Error())
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if v.status != 0 {
		w.WriteHeader(v.status)
	}
	if r.Method != http.MethodHead {
		_, _ = body.WriteTo(w)
	}
}
