package vault

import "slices"

// baseRows returns the commands about bases.
func baseRows() []command {
	return slices.Concat(baseCommands(), baseQueryCommands(), baseCreateCommands(), baseSetCommands())
}
