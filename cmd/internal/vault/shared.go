package vault

// tableForms is the parameter format= of commands that print tables.
func tableForms() param {
	return param{name: "format", oneOf: []string{formJSON, formTSV, formCSV}, about: "Form of the answer"}
}

// targetParams are the two ways to name a file.
func targetParams() []param {
	return []param{
		{name: "file", hint: "name", about: "File name, resolved like a link"},
		{name: "path", hint: "path", about: "File path from the vault's folder"},
	}
}
