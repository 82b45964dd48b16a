package grammar

import "vaultwicket/cmd/internal/vault/answer"

// TableForms is the parameter format= of commands that print tables.
func TableForms() Param {
	return Param{Name: "format", OneOf: []string{answer.FormatJSON, answer.FormatTSV, answer.FormatCSV}, Help: "Output format"}
}

// TargetParams are the two ways to name a file.
func TargetParams() []Param {
	return []Param{
		{Name: "file", Hint: "name", Help: "File name, resolved like a link"},
		{Name: "path", Hint: "path", Help: "File path from the vault's folder"},
	}
}
