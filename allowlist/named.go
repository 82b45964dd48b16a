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

// NamesNew returns the name by which a call makes a note in the folder for new
// notes. ok is false for a call that makes none, or one at a path.
func (c Call) NamesNew() (name string, ok bool) {
	if c.row == nil || c.row.newNote == "" {
		return "", false
	}
	return c.Param(c.row.newNote)
}

// MadeAt returns the call with the path of the note that it makes in place of the
// name, so that the path which was judged is the one that is made. The error is a
// [*ParseError] when the call names no new note, or path is none.
func (c Call) MadeAt(path string) (Call, error) {
	if _, ok := c.NamesNew(); !ok {
		return Call{}, &ParseError{code: CodeBadValue, Command: c.Name(), Param: "path", Reason: "the call names no new note"}
	}
	return c.with(c.row.newNote, path)
}

// At returns the call with the path of its note in place of the name, so that
// the note which was judged is the one that is worked on. The error is a
// [*ParseError] when the call names no note, or path is none.
func (c Call) At(path string) (Call, error) {
	if _, ok := c.Named(); !ok {
		return Call{}, &ParseError{code: CodeBadValue, Command: c.Name(), Param: "path", Reason: "the call names no note"}
	}
	return c.with("file", path)
}

// with returns the call with a path in place of a name.
func (c Call) with(name, path string) (Call, error) {
	params := c.Params()
	delete(params, name)
	params["path"] = Text(path)
	at, err := Parse(c.Name(), params)
	at.vault = c.vault
	return at, err
}
