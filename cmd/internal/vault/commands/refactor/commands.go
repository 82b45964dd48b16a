// Package refactor has the commands that change many notes at once: a tag, a property
// or a heading gets another name wherever it is used, or a text is replaced.
//
// Each of them proposes one change of all notes. Nothing is done if one of the notes
// cannot be changed, and one undo takes all of it back.
package refactor

import (
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/commands/scope"
	"vaultwicket/cmd/internal/vault/grammar"
)

// Commands returns the commands of this package.
func Commands() []command.Command {
	text := func(name, help string) grammar.Param {
		return grammar.Param{Name: name, Hint: "text", Kind: grammar.Content, Help: help}
	}
	old := text("old", "The text to replace, exactly, or a regular expression")
	old.Required = true
	to := grammar.Param{Name: "to", Hint: "name", Required: true, Help: "The new name"}
	return []command.Command{
		{
			Name: "tag:rename", Help: "Rename a tag, and those below it, in all notes",
			Params: []grammar.Param{{Name: "name", Hint: "tag", Required: true, Help: "The tag, with or without #"}, to, scope.Folder()},
			Plan:   renameTag,
		},
		{
			Name: "property:rename", Help: "Rename a property in all notes",
			Params: []grammar.Param{{Name: "name", Hint: "name", Required: true, Help: "The property"}, to, scope.Folder()},
			Plan:   renameProperty,
		},
		{
			Name: "heading:rename", Help: "Rename a heading, and the links to it in all notes",
			Params: append(grammar.TargetParams(),
				grammar.Param{Name: "heading", Hint: "text", Required: true, Help: "The heading; A#B is B below A"},
				grammar.Param{Name: "to", Hint: "text", Required: true, Help: "The new text of the heading"}),
			Plan: renameHeading,
		},
		{
			Name: "vault:replace", Help: "Replace a text in all notes",
			Params: []grammar.Param{
				old, text("new", "The new text; with regex, $1 is the first group"),
				{Name: "remove", Kind: grammar.Flag, Help: "Remove the text"},
				{Name: "regex", Kind: grammar.Flag, Help: "old is a regular expression of JavaScript; ^ and $ match at each line"},
				{Name: "ignore-case", Kind: grammar.Flag, Help: "Upper and lower case are the same"},
				scope.Folder(), scope.Query(),
			},
			Plan: replaceText,
		},
	}
}
