package ui

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"

	"vaultwicket/gateway/admission"
	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/failure"
)

//go:embed templates/*.html
var templateFiles embed.FS

// views are the templates by their names, each with the layout around it. They are parsed
// for the first page: every start of the program would take 2 ms longer.
var views = sync.OnceValue(func() map[string]*template.Template {
	layout := template.Must(template.New("layout.html").Funcs(template.FuncMap{
		"line": clean.Line, "took": took, "join": strings.Join, "value": settingValue, "rows": questionRows,
		"exact": func(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05 -07:00") },
		"text": func(text string) string { // several lines of another's choice
			text, _ = clean.Text(text)
			return text
		},
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
})

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
	Refresh                      bool // load again after some seconds, for browsers without script
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

// ago says how long ago something was. The script says the same, see page.js.
func ago(d time.Duration) string {
	switch {
	case d < 5*time.Second:
		return "just now"
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

// lasted says how long something takes or has taken, in one or two units.
func lasted(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// took is how long a call took.
func took(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// size is a number of bytes.
func size(bytes int64) string {
	switch {
	case bytes < 1000:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 1e6:
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

// settingValue is the value of a setting: a text, a boolean or a list of names.
func settingValue(value any) string {
	if names, ok := value.([]string); ok {
		value = strings.Join(names, ", ")
	}
	return cmp.Or(clean.Line(fmt.Sprint(value)), "none")
}

// questionRow is a line of a question. Class is added or removed for a line of a
// difference, quoted for other text of notes, and "" for the words of this program.
type questionRow struct{ Class, Text string }

// classes are those of the kinds of lines that are not of this program.
var classes = map[consent.LineKind]string{
	consent.Quoted: "quoted", consent.Same: "quoted", consent.Removed: "removed", consent.Added: "added",
}

// questionRows returns the rows of a question.
func questionRows(lines []consent.Line) (rows []questionRow) {
	for _, row := range consent.Rows(lines, consent.Columns) {
		rows = append(rows, questionRow{classes[row.Kind], row.Text})
	}
	return rows
}
