package approver

import (
	"fmt"
	"io"
	"strings"
	"time"

	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/consent"
)

// waiting is a question as "approvals --json" prints it.
type waiting struct {
	Code        string    `json:"code"`
	Asked       time.Time `json:"asked"`
	AgeSeconds  int       `json:"ageSeconds"`
	Expires     time.Time `json:"expires"`
	LeftSeconds int       `json:"leftSeconds"`
	Session     string    `json:"session"`
	Client      string    `json:"client,omitempty"`
	Vault       string    `json:"vault"`
	Command     string    `json:"command"`
	Text        string    `json:"text"`
}

func waitingOf(q consent.StoredQuestion, now time.Time) waiting {
	return waiting{
		Code: q.Code, Asked: q.Made, AgeSeconds: wholeSeconds(now.Sub(q.Made)), Expires: q.Expires, LeftSeconds: wholeSeconds(q.Expires.Sub(now)),
		Session: clean.Line(q.Session), Client: clean.Line(q.Client), Vault: clean.Line(q.Vault), Command: clean.Line(q.Command), Text: shownText(q.Text),
	}
}

// wholeSeconds is never below zero: a clock may have been put back.
func wholeSeconds(d time.Duration) int { return max(0, int(d/time.Second)) }

// shownText is the text of a question, as it was made to be shown.
func shownText(text string) string {
	text, _ = clean.Text(text)
	return text
}

// print writes a question. Its text is set off, so that no row of it stands where
// a code does.
func (w waiting) print(out io.Writer, s terminal.Screen) {
	fmt.Fprintf(out, "%s  %s\n", s.Paint(terminal.Strong, w.Code), w.times(s))
	who := "session " + inQuotes(w.Session)
	if w.Client != "" {
		who = "client " + inQuotes(w.Client) + ", " + who
	}
	fmt.Fprintf(out, "  vault %s, command %s, %s\n", inQuotes(w.Vault), inQuotes(w.Command), who)
	for line := range strings.Lines(w.Text) {
		line = strings.TrimSuffix(line, "\n")
		fmt.Fprintf(out, "  %s\n", s.Signed(consent.SignOf(line), line))
	}
}

// times says when the question was asked and how long it can be answered: on a terminal as
// people say it, unless times are asked for in full.
func (w waiting) times(s terminal.Screen) string {
	switch told := s.Time(w.Asked); {
	case !s.IsTerminal():
		return fmt.Sprintf("asked %s ago, %s left", time.Duration(w.AgeSeconds)*time.Second, time.Duration(w.LeftSeconds)*time.Second)
	case told == w.Asked.UTC().Format(time.RFC3339):
		return fmt.Sprintf("asked %s, expires %s", told, w.Expires.UTC().Format(time.RFC3339))
	default:
		return "asked " + told + ", " + s.Paint(terminal.Alert, terminal.Span(time.Duration(w.LeftSeconds)*time.Second)+" left")
	}
}

// inQuotes sets off a name that somebody else has chosen and that is clean.
func inQuotes(name string) string { return `"` + strings.ReplaceAll(name, `"`, `\"`) + `"` }
