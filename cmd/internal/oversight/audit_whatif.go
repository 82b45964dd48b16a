package oversight

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/policy"
)

// whatIf contains the settings with which "audit what-if" replays the log; "" leaves a setting out.
type whatIf struct {
	auditQuery
	secrets, suspicious, remoteLinks string
}

// settings adds the flags for the settings.
func (w *whatIf) settings(f terminal.FlagSet) {
	f.StringVar(&w.secrets, "secrets", "", "what-if: as if secrets were redact, strict, block or allow")
	f.StringVar(&w.suspicious, "suspicious", "", "what-if: as if suspicious were notice, ask or off")
	f.StringVar(&w.remoteLinks, "remote-links", "", "what-if: as if remote-links were ask or allow")
}

// whatIfRow is the number of calls of a day, in local time, with one outcome of a rule.
type whatIfRow struct {
	Day     string `json:"day"`
	Rule    string `json:"rule"`
	Outcome string `json:"outcome"`
	Calls   int    `json:"calls"`
}

// replayAudit runs "vaultwicket audit what-if", which counts what the content rules would have done with other
// settings, as far as the log tells. Without settings it counts what the rules found.
func replayAudit(ctx context.Context, std terminal.Streams, args []string) error {
	var w whatIf
	rest, err := terminal.ParseFlags("audit what-if", args, func(f terminal.FlagSet) {
		w.settings(f)
		w.period(f)
	})
	if err != nil {
		return err
	}
	now := time.Now()
	if err := w.parse(rest, now); err != nil {
		return err
	}
	if err := w.checkSettings(); err != nil {
		return err
	}
	noteState(std)
	state, err := settings.StateFolder(std)
	if err != nil {
		return err
	}
	counts := map[whatIfRow]int{}
	unknown := map[string]int{}
	suspects := map[string]bool{} // the sessions that have read suspected prompt injection
	_, err = eachLine(ctx, std, audit.Lines(ctx, state, w.filter), func(line audit.Line) error {
		for _, o := range w.outcomes(line, suspects) {
			if o.outcome == "" {
				unknown[o.rule]++
				continue
			}
			counts[whatIfRow{Day: line.Time.Local().Format(time.DateOnly), Rule: o.rule, Outcome: o.outcome}]++
		}
		return nil
	})
	if err != nil {
		return lineError(err)
	}
	rows := []whatIfRow{}
	for row, n := range counts {
		row.Calls = n
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b whatIfRow) int {
		return cmp.Or(
			strings.Compare(a.Day, b.Day),
			strings.Compare(a.Rule, b.Rule),
			strings.Compare(a.Outcome, b.Outcome),
		)
	})
	for _, rule := range policy.TextRules() {
		if n := unknown[rule]; n > 0 {
			terminal.Notef(std.Err, "%s: not known for %s with texts that were not searched", rule, sanitize.Counted(n, "call"))
		}
	}
	terminal.Notef(
		std.Err,
		"the log has no texts: what another rule would find in them is not known, and calls before these rules count as if nothing was found",
	)
	if w.json {
		return terminal.PrintJSON(std.Out, rows, terminal.ExitDone)
	}
	table := terminal.NewScreen(std, w.screen, now).Table(
		terminal.Column{Title: "day"},
		terminal.Column{Title: "rule"},
		terminal.Column{Title: "outcome", Min: 8},
		terminal.Column{Title: "calls"},
	)
	for _, r := range rows {
		table.Add(
			terminal.Text(r.Day),
			terminal.Text(r.Rule),
			terminal.Text(r.Outcome),
			terminal.Text(strconv.Itoa(r.Calls)),
		)
	}
	return table.Flush()
}

// checkSettings returns an error if a setting has an invalid value.
func (w *whatIf) checkSettings() error {
	checks := []struct {
		name, value string
		choices     []string
	}{
		{"secrets", w.secrets, []string{"redact", "strict", "block", "allow"}},
		{"suspicious", w.suspicious, []string{"notice", "ask", "off"}},
		{"remote-links", w.remoteLinks, []string{"ask", "allow"}},
	}
	for _, check := range checks {
		if check.value != "" && !slices.Contains(check.choices, check.value) {
			return &terminal.UsageError{
				Reason: fmt.Sprintf("flag --%s: invalid value %q", check.name, excerpt.Short(check.value)),
				Advice: "want " + strings.Join(check.choices, ", "),
			}
		}
	}
	return nil
}

// outcome is what a rule would do with a call, "" if that is not known.
type outcome struct{ rule, outcome string }

// outcomesOfSecrets maps the values of the setting secrets to the outcome of an answer with secrets.
var outcomesOfSecrets = map[string]string{
	"block":  "refused",
	"allow":  "secrets shown",
	"redact": "secrets redacted",
	"strict": "secrets redacted",
}

// outcomesOfLinks maps the values of the setting remote-links to the outcome of a change that adds a link with text
// of another note.
var outcomesOfLinks = map[string]string{"ask": "approval required", "allow": "allowed"}

// outcomes replays a line. suspects contains the sessions that have read suspected prompt injection so far; outcomes
// adds to it.
func (w *whatIf) outcomes(line audit.Line, suspects map[string]bool) (outcomes []outcome) {
	found := map[string][]string{}
	for _, f := range line.Found {
		rule, kind, _ := strings.Cut(f, " ")
		found[rule] = append(found[rule], kind)
	}
	isCounting := w.secrets+w.suspicious+w.remoteLinks == ""
	session := strings.Join([]string{line.Session, line.Agent, line.Client, line.Vault}, "\x00")
	isEnd := line.Kind == "end"
	isDecision := line.Kind == "decision"
	for _, rule := range policy.TextRules() {
		kinds := found[rule]
		notSearched := slices.Contains(kinds, audit.NotSearched)
		isFound := len(kinds) > 0 && !notSearched
		switch {
		case isEnd && isCounting && !notSearched:
			for _, kind := range kinds {
				outcomes = append(outcomes, outcome{rule, kind})
			}
		case isEnd && notSearched:
			if w.searches(rule) {
				outcomes = append(outcomes, outcome{rule, ""})
			}
		case isEnd && isFound && rule == policy.RuleSecrets:
			if w.secrets != "" {
				outcomes = append(outcomes, outcome{rule, outcomesOfSecrets[w.secrets]})
			}
		case isEnd && isFound && rule == policy.RuleSuspicious:
			suspects[session] = true
			if w.suspicious == "notice" || w.suspicious == "ask" {
				outcomes = append(outcomes, outcome{rule, "notice"})
			}
		case isDecision && rule == policy.RuleSuspicious:
			if w.suspicious == "ask" && isChange(line) && suspects[session] {
				outcomes = append(outcomes, outcome{rule, "approval required"})
			}
		case isDecision && rule == policy.RuleRemoteLinks:
			isMade := line.Decision == "allow" || line.Decision == "ask"
			if w.remoteLinks != "" && isMade && len(kinds) > 0 {
				outcomes = append(outcomes, outcome{rule, outcomesOfLinks[w.remoteLinks]})
			}
		}
	}
	return outcomes
}

// searches reports whether a rule searches answers under the replayed settings.
func (w *whatIf) searches(rule string) bool {
	switch rule {
	case policy.RuleSecrets:
		return w.secrets != "" && w.secrets != "allow"
	case policy.RuleSuspicious:
		return w.suspicious != "" && w.suspicious != "off"
	}
	return false
}

// isChange reports whether a decision allowed a call that does more than read a note or show something in the app.
func isChange(line audit.Line) bool {
	return line.Decision == "allow" && line.Effect != "read" && line.Effect != "ui"
}
