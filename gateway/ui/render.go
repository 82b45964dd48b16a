package ui

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gomarkdown/markdown"
	"github.com/gomarkdown/markdown/html"
	"github.com/gomarkdown/markdown/parser"
	"github.com/sourcegraph/conc/panics"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
	judge "github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

//go:embed templates/*.html
var templateFiles embed.FS

// views are the templates by their names, each with the layout around it. They are parsed
// for the first page: every start of the program would take 2 ms longer.
var views = sync.OnceValue(func() map[string]*template.Template {
	layout := template.Must(template.New("layout.html").Funcs(template.FuncMap{
		"line": sanitize.Line, "took": took, "join": strings.Join, "value": settingValue, "name": nameOf, "dot": dotOf, "count": sanitize.Counted[int],
		"wants":   wants,
		"wantsOn": wantsOn,
		"did":     did,
		"didOn":   didOn,
		"row":     func(f frame, row any) framed { return framed{f, row} },
		"list":    func(names ...string) []string { return names },
		"cell": func(column string) template.HTMLAttr {
			return template.HTMLAttr(`role="cell" data-label="` + column + `"`)
		}, // the name is of a template
		"asset":  func(name string) string { return "assets/" + name + "?" + assets()[name].hashPart },
		"clock":  func(t time.Time) string { return t.Local().Format("15:04:05") },
		"exact":  func(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05 -07:00") },
		"moment": func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
		"iso":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
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
	visit
	Active, Title, Version string
	Token, PauseToken      string // of the forms of the view, and of the one that pauses
	From                   string // the view with its query, for forms that lead back
	Paused                 *time.Time
	Pending                int
	Health                 healthData // of the latest check
	Seen                   uint64     // see events
	Now                    time.Time
	Problem                *failure.Error
	Note                   string
	Refresh                bool // load again after some seconds, for browsers without script
	Data                   any
}

// framed is a row for a template, with what is around it.
type framed struct {
	Frame frame
	Row   any
}

// Moment is a time as the templates show it: how long ago, and exactly.
type Moment struct{ Time, Now time.Time }

// Ago says how long before now the time is, in words. The script says the same, see page.js.
func (m Moment) Ago() string {
	switch d := m.Now.Sub(m.Time); {
	case d < 5*time.Second:
		return "just now"
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	default:
		return fmt.Sprintf("%d days ago", int(d.Hours()/24))
	}
}

// At returns a time for the template "time".
func (f frame) At(t time.Time) Moment { return Moment{t, f.Now} }

// undoButton is a form that undoes changes. About says which, for those who only hear the label.
type undoButton struct {
	undoForm
	Base, Token, Name, Class, Label, About string
}

// Which returns what undoes changes of a vault with an id, and leads back to this view.
func (f frame) Which(vault, what, id string) undoForm {
	return undoForm{Vault: vault, ID: id, What: what, From: f.From}
}

// Form returns the form that a view is about, with the name of its button.
func (f frame) Form(u undoForm, name, label string) undoButton {
	return undoButton{u, f.Base, f.visit.Token("changes"), name, "yes", label, ""}
}

// Undo returns the form in a list that undoes changes of a vault with some ids.
func (f frame) Undo(vault, what, label, about string, ids []string) undoButton {
	u := f.Form(f.Which(vault, what, strings.Join(ids, ",")), "", label)
	u.Class = "small"
	u.About = about
	return u
}

// Day returns the form that undoes the changes of an agent on a day, or does them again.
func (f frame) Day(c changedBy, what, label, about string) undoButton {
	u := f.Undo(c.Vault, what, label, about, []string{c.Newest()})
	u.Who = c.Who
	if c.Own {
		u.Own = "1"
	}
	return u
}

// Toggle returns the form that undoes a change, or does it again.
func (f frame) Toggle(c changeRow) undoButton {
	what := "redo"
	label := "Redo"
	if c.InEffect {
		what = ""
		label = "Undo"
	}
	return f.Undo(c.Vault, what, label+c.Others(), c.Command+" of "+sanitize.Line(c.Path), []string{c.Toggle})
}

// questionForm is a form that answers a question.
type questionForm struct{ Base, Token, Code, Act, Typed string }

// Answers returns the forms that answer a question.
func (f frame) Answers(c card) questionForm {
	act := c.Act
	if act == "" {
		act = c.Command + " " + c.Path
	}
	return questionForm{f.Base, f.visit.Token("approvals"), c.Code, act, c.Typed}
}

// answeredCard is a question that does not wait any more, with what the form that withdraws its approval needs.
type answeredCard struct {
	answered
	Base, Token string
}

// Followed returns what the card of a question shows that does not wait any more.
func (f frame) Followed(a answered) answeredCard {
	return answeredCard{a, f.Base, f.visit.Token("approvals")}
}

// Blocks returns the lines of a question by files.
func (frame) Blocks(lines []consent.Line) (c card) {
	c.Act, c.Intro, c.Files = blocksOf(lines)
	return c
}

// write writes the answer to a request.
func (p *Page) write(w http.ResponseWriter, r request, v view) {
	f := frame{
		visit: r.visit, Active: r.Page(), Title: v.title, Version: p.Version, Token: r.Token(r.Page()), PauseToken: r.Token("pause"), From: r.Path + "?" + r.URL.RawQuery, Health: p.health.latest(),
		Paused: admission.PausedSince(
			p.State,
		), Now: p.Now(), Pending: r.pending, Seen: r.seen, Problem: v.problem, Note: v.note, Data: v.data,
	}
	if checked, ok := v.data.(healthData); ok {
		f.Refresh = checked.Running
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

// buildTime is how long a call took.
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
	return cmp.Or(sanitize.Line(fmt.Sprint(value)), "none")
}

// countdown is how long something can still be done.
func countdown(d time.Duration) string {
	d = max(0, d)
	if d >= time.Hour {
		return lasted(d)
	}
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// nameOf is an agent or a client as it is shown.
func nameOf(who string) string { return cmp.Or(sanitize.Line(who), "An unnamed client") }

// dotOf is the class of the colour of an agent. Colours are given in the order in which agents are
// first shown, so that few agents have different ones.
func dotOf(who string) string {
	dots.mu.Lock()
	defer dots.mu.Unlock()
	number, known := dots.given[who]
	if !known && len(dots.given) < maxDots { // clients choose their names
		number = len(dots.given)
		dots.given[who] = number
	}
	return fmt.Sprintf("dot dot%d", number%8)
}

const maxDots = 1000

var dots = struct {
	mu    sync.Mutex
	given map[string]int
}{given: map[string]int{}}

// ofBatch is what an agent does with a batch, which is no command of the table.
var ofBatch = allowlist.Verb{Wants: "run several calls", Did: "ran several calls", Before: "on"}

// verbOf returns what a command does, for people. One that can never be enabled, or that is unknown,
// is named as it is.
func verbOf(command string) allowlist.Verb {
	if command == telemetry.BatchCommand {
		return ofBatch
	}
	verb, known := allowlist.VerbOf(command)
	if !known {
		return allowlist.Verb{
			Wants:  sanitize.Line("run " + command),
			Did:    sanitize.Line("ran " + command),
			Before: "on",
		}
	}
	return verb
}

// wants says what an agent wants to do with a command.
func wants(command string) string { return verbOf(command).Wants }

// wantsOn is wants in front of a note, "" for none.
func wantsOn(command, note string) string {
	verb := verbOf(command)
	return beforeNote(verb.Wants, verb.Before, note)
}

// did says what an agent has done with a command.
func did(command string) string { return verbOf(command).Did }

// didOn is did in front of a note, "" for none.
func didOn(command, note string) string {
	verb := verbOf(command)
	return beforeNote(verb.Did, verb.Before, note)
}

func beforeNote(does, before, note string) string {
	if note != "" && before != "" {
		return does + " " + before
	}
	return does
}

// AppPage returns the document in which clients show a difference (MCP Apps). It loads nothing, and
// shows what [AppView] returns.
func AppPage() string {
	script, _ := assetFiles.ReadFile("assets/app.js") // it is embedded
	return drawn("app", struct {
		Style  template.CSS
		Script template.JS
	}{template.CSS(Stylesheet()), template.JS(script)})
}

// AppView returns lines as the local page shows them, escaped. waits says that they are a question
// that waits for the user; link leads to it, "" where no page is open.
func AppView(lines []consent.Line, waits bool, link string) string {
	return drawn("view", struct {
		card
		Waits bool
		Link  string
	}{frame{}.Blocks(lines), waits, link})
}

// Asked returns the question that waits under a name, see [consent.LinkPath], as the local page shows
// it, and what answers it; "" if none does. session is the process in the audit log.
func Asked(state, session, ref string) (shown string, answer func(approve bool) error) {
	p := &Page{Config: Config{State: state, Now: time.Now}}
	found, _ := p.readQuestions() // what cannot be read cannot be answered
	waiting := found.Waiting
	i := slices.IndexFunc(waiting, func(q consent.StoredQuestion) bool { return ref != "" && q.Ref == ref })
	if i < 0 {
		return "", nil
	}
	c := p.cardOf(waiting[i])
	if !c.Whole || waiting[i].Typed != "" ||
		waiting[i].Only != "" { // it is read, and approved, where all of it is shown
		return drawn("question", c), func(approve bool) error {
			if approve {
				return &consent.Elsewhere{Question: waiting[i].Code, Reason: "it is too large to be approved here"}
			}
			_, err := consent.Decide(
				state,
				consent.Answer{Code: waiting[i].Code, By: consent.RemotePage, Session: session},
			)
			return err
		}
	}
	return drawn("question", c), func(approve bool) error {
		_, err := consent.Decide(
			state,
			consent.Answer{Code: waiting[i].Code, Approve: approve, By: consent.RemotePage, Session: session},
		)
		return err
	}
}

func drawn(name string, data any) string {
	var text strings.Builder
	if views()["app"].ExecuteTemplate(&text, name, data) != nil {
		return "" // the client shows nothing
	}
	return text.String()
}

// maxRendered is the maximum size of a note in bytes that is shown as it reads: some texts take the
// parser quadratic time.
const maxRendered = 128 << 10

// plainTag is every tag that a note may have when it is shown as it reads: none that loads, runs,
// leads anywhere or has an attribute of its text's choice.
var plainTag = pattern(
	`^</?(p|h[1-6]|ul|ol|li|dl|dt|dd|table|thead|tbody|tr|th|td|blockquote|pre|code|tt|em|strong|del|br|hr)( /| align="(left|right|center)"| start="[0-9]{1,9}")?>`,
)

// rendering returns a note as it reads, without its properties: HTML, images and links in it are left
// out or shown as text. It is "" for a note that is too long, or of which that cannot be said.
func rendering(note judge.Judged) (shown template.HTML) {
	if len(note.Bytes()) > maxRendered {
		return ""
	}
	if panics.Try(func() { shown = rendered(note.Bytes()) }) != nil { // in the parser
		return ""
	}
	return shown
}

func rendered(note []byte) (shown template.HTML) {
	text, _ := sanitize.Text(string(note))
	source := []byte(text)
	if rest, found := bytes.CutPrefix(source, []byte("---\n")); found {
		if _, body, closed := bytes.Cut(rest, []byte("\n---\n")); closed {
			source = body
		}
	}
	p := parser.NewWithExtensions(
		parser.NoIntraEmphasis | parser.Tables | parser.FencedCode | parser.Strikethrough | parser.SpaceHeadings | parser.BackslashLineBreak | parser.NoEmptyLineBeforeBlock,
	)
	made := markdown.ToHTML(
		source,
		p,
		html.NewRenderer(html.RendererOptions{Flags: html.SkipHTML | html.SkipImages | html.SkipLinks}),
	)
	made = codeClass().ReplaceAll(made, []byte("<code>"))
	for rest := made; ; {
		at := bytes.IndexByte(rest, '<')
		if at < 0 {
			return template.HTML(made) // every tag in it is plain
		}
		tag := plainTag().Find(rest[at:])
		if tag == nil {
			return ""
		}
		rest = rest[at+len(tag):]
	}
}

// codeClass is a block of code with its language, which a note chooses.
var codeClass = pattern(`<code class="language-[^"<>]*">`)

// pattern is a regular expression that is compiled for the first page that needs it, and not at each
// start of the program.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
