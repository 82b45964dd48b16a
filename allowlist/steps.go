package allowlist

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
