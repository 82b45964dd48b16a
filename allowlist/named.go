package allowlist

// Named returns the value of file=, by which a call names its note as a link
// does. ok is false for a call that names none, or one by its path.
func (c Call) Named() (name string, ok bool) {
	for _, a := range c.args {
		if a.key == "file" && a.kind == kindLink {
			return a.value, true
		}
	}
	return "", false
}

// At returns the call with the path of its note in place of the name, so that
// the note which was judged is the one that is worked on. The error is a
// [*ParseError] when the call names no note, or path is none.
func (c Call) At(path string) (Call, error) {
	if _, ok := c.Named(); !ok {
		return Call{}, &ParseError{code: CodeBadValue, Command: c.Name(), Param: "path", Reason: "the call names no note"}
	}
	params := c.Params()
	delete(params, "file")
	params["path"] = Text(path)
	at, err := Parse(c.Name(), params)
	at.vault = c.vault
	return at, err
}
