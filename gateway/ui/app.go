package ui

import (
	"html/template"
	"strings"

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

func drawn(name string, data any) string {
	var text strings.Builder
	if views()["app"].ExecuteTemplate(&text, name, data) != nil {
		return "" // the client shows nothing
	}
	return text.String()
}
