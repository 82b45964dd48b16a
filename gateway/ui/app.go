package ui

import (
	"html/template"
	"slices"
	"strings"
	"time"

	"vaultwicket/gateway/consent"
)

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
	waiting, _, _, _, _ := p.questions() // what cannot be read cannot be answered
	i := slices.IndexFunc(waiting, func(q consent.StoredQuestion) bool { return ref != "" && q.Ref == ref })
	if i < 0 {
		return "", nil
	}
	return drawn("question", p.cardOf(waiting[i])), func(approve bool) error {
		_, err := consent.Decide(state, consent.Answer{Code: waiting[i].Code, Approve: approve, By: consent.RemotePage, Session: session})
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
