package vault

import "slices"

// noteRows returns the commands that read, make and edit the texts of notes.
func noteRows() []command {
	return slices.Concat(createCommands(), dailyCommands(), randomCommands(), templateCommands(), insertCommands(), uniqueCommands(), sectionCommands(), noteEditCommands())
}
