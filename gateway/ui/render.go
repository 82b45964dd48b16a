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

// views returns the templates by name, each with the layout around it. They are parsed for the
// first page: otherwise every start of the program would take 2 ms longer.
var views = sync.OnceValue(func() map[string]*template.Template {
	layout := template.Must(template.New("layout.html").Funcs(template.FuncMap{
		"line":    sanitize.Line,
		"took":    took,
		"join":    strings.Join,
		"value":   settingValue,
		"name":    nameOf,
		"dot":     dotOf,
		"count":   sanitize.Counted[int],
		"wants":   wants,
		"wantsOn": wantsOn,
		"did":     did,
		"didOn":   didOn,
		"row":     func(f frame, row any) framed { return framed{f, row} },
		"list":    func(names ...string) []string { return names },
		"cell": func(column string) template.HTMLAttr { // safe: the name comes from a template
			return template.HTMLAttr(`role="cell" data-label="` + column + `"`)
		},
		"asset":  func(name string) string { return "assets/" + name + "?" + assets()[name].hashPart },
		"clock":  func(t time.Time) string { return t.Local().Format("15:04:05") },
		"exact":  func(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05 -07:00") },
		"moment": func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
		"iso":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	}).ParseFS(templateFiles, "templates/layout.html", "templates/parts.html"))
	all := map[string]*template.Template{}
	entries, _ := templateFiles.ReadDir("templates") // it is embedded
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".html")
		if name != "layout" && name != "parts" {
			all[name] = template.Must(template.Must(layout.Clone()).ParseFS(templateFiles, "templates/"+entry.Name()))
		}
	}
	return all
})

// frame is the data of the layout around a view.
type frame struct {
	visit
	Active, Title, Version string
	Token, PauseToken      string // for the forms of the view, and for the one that pauses
	From                   string // the view with its query, for forms that lead back
	Paused                 *time.Time
	Pending                int
	Health                 healthData // result of the latest check
	Seen                   uint64     // version of the content, see events
	Now                    time.Time
	Problem                *failure.Error
	Note                   string
	Refresh                bool // reload after some seconds, for browsers without scripts
	Data                   any
}

// framed is a row for a template, with the frame of its view.
type framed struct {
	Frame frame
	Row   any
}

// Moment is a time that templates show both relative to now and exactly.
type Moment struct{ Time, Now time.Time }

// Ago returns how long ago the time was, in words. The script does the same, see page.js.
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

// undoButton is a form that undoes changes. About names them for users of screen readers.
type undoButton struct {
	undoForm
	Base, Token, Name, Class, Label, About string
}

// Which returns the form data that undoes changes of a vault with an id, and leads back to this view.
func (f frame) Which(vault, what, id string) undoForm {
	return undoForm{Vault: vault, ID: id, What: what, From: f.From}
}

// Form returns the main undo form of a view, with the name and label of its button.
func (f frame) Form(u undoForm, name, label string) undoButton {
	return undoButton{u, f.Base, f.visit.Token("changes"), name, "yes", label, ""}
}

// Undo returns the form in a list that undoes the changes of a vault with these ids.
func (f frame) Undo(vault, what, label, about string, ids []string) undoButton {
	u := f.Form(f.Which(vault, what, strings.Join(ids, ",")), "", label)
	u.Class = "small"
	u.About = about
	return u
}

// Day returns the form that undoes or redoes the changes of an agent on a day.
func (f frame) Day(c changedBy, what, label, about string) undoButton {
	u := f.Undo(c.Vault, what, label, about, []string{c.Newest()})
	u.Who = c.Who
	if c.Own {
		u.Own = "1"
	}
	return u
}

// Toggle returns the form that undoes or redoes a change.
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

// Answers returns the data of the forms that answer a question.
func (f frame) Answers(c card) questionForm {
	act := c.Act
	if act == "" {
		act = c.Command + " " + c.Path
	}
	return questionForm{f.Base, f.visit.Token("approvals"), c.Code, act, c.Typed}
}

// answeredCard is a question that no longer waits, with the data of the form that withdraws its approval.
type answeredCard struct {
	answered
	Base, Token string
}

// Followed returns the data of the card of a question that no longer waits.
func (f frame) Followed(a answered) answeredCard {
	return answeredCard{a, f.Base, f.visit.Token("approvals")}
}

// Blocks returns a card with the lines of a question, grouped by file.
func (frame) Blocks(lines []consent.Line) (c card) {
	c.Act, c.Intro, c.Files = blocksOf(lines)
	return c
}

// write answers a request with a view in the layout.
func (p *Page) write(w http.ResponseWriter, r request, v view) {
	f := frame{
		visit:      r.visit,
		Active:     r.Page(),
		Title:      v.title,
		Version:    p.Version,
		Token:      r.Token(r.Page()),
		PauseToken: r.Token("pause"),
		From:       r.Path + "?" + r.URL.RawQuery,
		Paused:     admission.PausedSince(p.State),
		Pending:    r.pending,
		Health:     p.health.latest(),
		Seen:       r.seen,
		Now:        p.Now(),
		Problem:    v.problem,
		Note:       v.note,
		Data:       v.data,
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

// duration formats a duration in one or two units.
func duration(d time.Duration) string {
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

// took formats the duration of a call.
func took(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// size formats a number of bytes.
func size(bytes int64) string {
	switch {
	case bytes < 1000:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 1e6:
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

// settingValue formats the value of a setting: a text, a boolean or a list of names.
func settingValue(value any) string {
	if names, ok := value.([]string); ok {
		value = strings.Join(names, ", ")
	}
	return cmp.Or(sanitize.Line(fmt.Sprint(value)), "none")
}

// countdown formats a remaining time, such as 9:59.
func countdown(d time.Duration) string {
	d = max(0, d)
	if d >= time.Hour {
		return duration(d)
	}
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// nameOf returns the name of an agent or client for display.
func nameOf(who string) string { return cmp.Or(sanitize.Line(who), "An unnamed client") }

// dotOf returns the CSS classes for the colour of an agent. Colours are assigned in the order in which
// agents are first shown, so that a few agents have different ones.
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

// batchVerb describes a batch, which is not a command of the table.
var batchVerb = allowlist.Verb{Wants: "run several calls", Did: "ran several calls", Before: "on"}

// verbOf returns the verb for a command. A command without a verb, such as an unknown one, is named
// instead.
func verbOf(command string) allowlist.Verb {
	if command == telemetry.BatchCommand {
		return batchVerb
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

// wants returns what a command would do, such as "delete".
func wants(command string) string { return verbOf(command).Wants }

// wantsOn returns wants for use before the name of a note, which may be "".
func wantsOn(command, note string) string {
	verb := verbOf(command)
	return beforeNote(verb.Wants, verb.Before, note)
}

// did returns what a command did, such as "deleted".
func did(command string) string { return verbOf(command).Did }

// didOn returns did for use before the name of a note, which may be "".
func didOn(command, note string) string {
	verb := verbOf(command)
	return beforeNote(verb.Did, verb.Before, note)
}

// beforeNote adds the preposition before to a verb if a note follows.
func beforeNote(does, before, note string) string {
	if note != "" && before != "" {
		return does + " " + before
	}
	return does
}

// AppPage returns the document in which clients display a difference (MCP Apps). It loads nothing, and
// displays the result of [AppView].
func AppPage() string {
	script, _ := assetFiles.ReadFile("assets/app.js") // it is embedded
	return execute("app", struct {
		Style  template.CSS
		Script template.JS
	}{template.CSS(Stylesheet()), template.JS(script)})
}

// AppView returns lines as escaped HTML, as on the local page. waits is set if they are a pending
// question; link leads to it, or is "" if no page is open.
func AppView(lines []consent.Line, waits bool, link string) string {
	return execute("view", struct {
		card
		Waits bool
		Link  string
	}{frame{}.Blocks(lines), waits, link})
}

// Asked returns the pending question with a reference, see [consent.LinkPath], as HTML, and a function
// that answers it. shown is "" if there is none. session is the name of the process in the audit log.
func Asked(state, session, ref string) (shown string, answer func(approve bool) error) {
	p := &Page{Config: Config{State: state, Now: time.Now}}
	found, _ := p.readQuestions() // unreadable questions cannot be answered
	waiting := found.Waiting
	i := slices.IndexFunc(waiting, func(q consent.StoredQuestion) bool { return ref != "" && q.Ref == ref })
	if i < 0 {
		return "", nil
	}
	question := waiting[i]
	c := p.cardOf(question)
	// A restricted question can only be approved where the whole of it is shown.
	isRestricted := question.Typed != "" || question.Only != ""
	canApprove := c.Whole && !isRestricted
	answer = func(approve bool) error {
		if approve && !canApprove {
			return &consent.Elsewhere{Question: question.Code, Reason: "it is too large to be approved here"}
		}
		_, err := consent.Decide(state, consent.Answer{
			Code:    question.Code,
			Approve: approve,
			By:      consent.RemotePage,
			Session: session,
		})
		return err
	}
	return execute("question", c), answer
}

// execute returns the output of a template of clients' apps, or "" after an error.
func execute(name string, data any) string {
	var text strings.Builder
	if views()["app"].ExecuteTemplate(&text, name, data) != nil {
		return "" // the client displays nothing
	}
	return text.String()
}

// maxRendered is the maximum size of a note in bytes that is rendered: some texts take the parser
// quadratic time.
const maxRendered = 128 << 10

// plainTag matches the tags that a rendered note may have: none that loads, runs or links anything,
// or has an attribute that the note chooses.
var plainTag = pattern(
	`^</?(p|h[1-6]|ul|ol|li|dl|dt|dd|table|thead|tbody|tr|th|td|blockquote|pre|code|tt|em|strong|del|br|hr)( /| align="(left|right|center)"| start="[0-9]{1,9}")?>`,
)

// rendering renders a note without its properties as HTML. HTML, images and links in the note are left
// out or shown as text. The result is "" for a note that is too long or cannot be rendered safely.
func rendering(note judge.Judged) (shown template.HTML) {
	if len(note.Bytes()) > maxRendered {
		return ""
	}
	if panics.Try(func() { shown = rendered(note.Bytes()) }) != nil { // a panic in the parser
		return ""
	}
	return shown
}

// rendered is rendering without its limits.
func rendered(note []byte) (shown template.HTML) {
	text, _ := sanitize.Text(string(note))
	source := []byte(text)
	if rest, found := bytes.CutPrefix(source, []byte("---\n")); found {
		if _, body, closed := bytes.Cut(rest, []byte("\n---\n")); closed {
			source = body
		}
	}
	p := parser.NewWithExtensions(
		parser.NoIntraEmphasis |
			parser.Tables |
			parser.FencedCode |
			parser.Strikethrough |
			parser.SpaceHeadings |
			parser.BackslashLineBreak |
			parser.NoEmptyLineBeforeBlock,
	)
	renderer := html.NewRenderer(html.RendererOptions{Flags: html.SkipHTML | html.SkipImages | html.SkipLinks})
	output := markdown.ToHTML(source, p, renderer)
	output = codeClass().ReplaceAll(output, []byte("<code>"))
	for rest := output; ; {
		at := bytes.IndexByte(rest, '<')
		if at < 0 {
			return template.HTML(output) // safe: all its tags are plain
		}
		tag := plainTag().Find(rest[at:])
		if tag == nil {
			return ""
		}
		rest = rest[at+len(tag):]
	}
}

// codeClass matches the start of a code block with its language, which a note chooses.
var codeClass = pattern(`<code class="language-[^"<>]*">`)

// pattern returns a regular expression that is compiled on first use, and not at each start of the
// program.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
