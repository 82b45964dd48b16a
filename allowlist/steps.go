package allowlist

// Step is one thing that has to be found out from the app before it carries out a
// call, because the app would not do exactly what the call says. How a step is carried
// out, and how a dry run describes it, is in one table in package gateway.
type Step uint8

// The zero value is no step.
const (
	// StepLocate asks which note a name stands for. The call is then run with the
	// path of the note.
	StepLocate Step = iota + 1
	// StepLocateNew works out where the note is going to be made that a call names
	// without a folder. The call is then run with its path.
	StepLocateNew
	// StepReadDaily asks for the path of the daily note, and reads the note at that
	// path in place of the call.
	StepReadDaily
	// StepAbsent asks whether the note that a call makes exists already.
	StepAbsent
)

// rowStep is a step that all calls of a command take, but for those with a parameter.
type rowStep struct {
	step    Step
	without string // the parameter, "" for none
}

var (
	// daily:read of the app makes a missing note (recorded on 1.13.7).
	readsDailyByPath = []rowStep{{step: StepReadDaily}}
	// create of the app makes a numbered copy beside a note that exists, and reports
	// success (recorded on 1.12.7).
	createsIfAbsent = []rowStep{{StepAbsent, "overwrite"}}
)

// DailyPath returns the question that StepReadDaily asks, about the vault of the call.
func (c Call) DailyPath() (Call, error) {
	asked, err := Parse("daily:path", nil)
	asked.vault = c.vault
	return asked, err
}

// HasStep reports whether a step is part of the call when the app runs it.
func (c Call) HasStep(s Step) bool {
	switch s {
	case StepLocate:
		_, named := c.Named()
		return named
	case StepLocateNew:
		_, named := c.NamesNew()
		return named
	}
	if c.row == nil {
		return false
	}
	for _, r := range c.row.steps {
		if r.step == s && (r.without == "" || !c.has(r.without)) {
			return true
		}
	}
	return false
}
