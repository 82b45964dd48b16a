// Package notes has the commands that read, make and edit the texts of notes: daily
// and random notes, templates, and edits of a part of a note.
package notes

import (
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/edit"
)

// Commands returns the commands of this package.
func Commands() []command.Command {
	return []command.Command{
		{Name: "create", Plan: create, Verify: meansCreated},
		{Name: "append", Plan: addTo("Appended to: ", edit.Append), Verify: meansAppended},
		{Name: "prepend", Plan: addTo("Prepended to: ", edit.Prepend), Verify: meansPrepended},
		{Name: "daily", Help: "Create today's note if it is missing, and print its path", Plan: daily, Verify: meansDaily(appendedDaily)},
		{Name: "daily:ensure", Plan: dailyEnsure},
		{Name: "daily:path", Run: dailyPath},
		{Name: "daily:read", Run: dailyRead},
		{Name: "daily:range", Run: dailyRange},
		{Name: "daily:append", Plan: dailyEdit(edit.Append), Verify: meansDaily(appendedDaily)},
		{Name: "daily:prepend", Plan: dailyEdit(edit.Prepend), Verify: meansDaily(prepended)},
		{Name: "periodic:path", Run: periodicPath},
		{Name: "periodic:read", Run: periodicRead},
		{Name: "periodic:append", Plan: periodicAppend},
		{Name: "random", Help: "Pick a random note and print its path", Run: randomPath},
		{Name: "random:read", Run: randomRead},
		{Name: "templates", Run: listTemplates},
		{Name: "template:read", Run: readTemplate},
		{Name: "template:insert", Plan: insertTemplate},
		{Name: "unique", Plan: unique, Verify: meansUnique},
		{Name: "note:section", Run: readSection},
		// These work on no note that is not named: the focused note is the user's choice,
		// not the caller's.
		{Name: "note:replace", Plan: replaceText},
		{Name: "note:insert", Plan: insertText},
		{Name: "note:set-section", Plan: setSection},
	}
}
