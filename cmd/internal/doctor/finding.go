// Package doctor checks an installation: settings, vaults, the app and its CLI, the
// state folder, MCP over HTTP, the clients and the machine. Each finding says what was
// found, why it matters and what to do about it.
//
// It reads and changes nothing. Whatever it has to ask another program goes through the
// functions of a [Machine], which the caller provides.
package doctor

// Level says how much a finding matters.
type Level string

// The levels, the least first.
const (
	OK      Level = "ok"
	Warning Level = "warning" // it works, though not as somebody may expect
	Problem Level = "problem" // something does not work until it is mended
)

// Finding is the result of one check.
type Finding struct {
	Check string `json:"check"` // a name that stays the same, such as vault-missing
	Level Level  `json:"level"`
	What  string `json:"what"`
	Why   string `json:"why,omitempty"` // why it matters; "" where all is well
	Fix   string `json:"fix,omitempty"` // what to do
}

// Report has the findings of all checks, in the order in which they ran.
type Report struct {
	Findings []Finding `json:"findings"`
}

// Worst returns the highest level of the findings, OK without any.
func (r *Report) Worst() Level {
	worst := OK
	for _, f := range r.Findings {
		if f.Level == Problem || worst == OK {
			worst = f.Level
		}
	}
	return worst
}

// Count returns how many findings have a level.
func (r *Report) Count(level Level) (n int) {
	for _, f := range r.Findings {
		if f.Level == level {
			n++
		}
	}
	return n
}

func (r *Report) ok(check, what string) {
	r.Findings = append(r.Findings, Finding{check, OK, what, "", ""})
}

func (r *Report) warn(check, what, why, fix string) {
	r.Findings = append(r.Findings, Finding{check, Warning, what, why, fix})
}

func (r *Report) problem(check, what, why, fix string) {
	r.Findings = append(r.Findings, Finding{check, Problem, what, why, fix})
}
