package vault

import "slices"

// historyRows returns the commands that show and take back changes.
func historyRows() []command {
	return slices.Concat(historyCommands(), undoCommands())
}
