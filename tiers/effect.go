package tiers

import "fmt"

// Effect is the most severe thing a call does, counted over its command and
// its parameters together.
type Effect uint8

const (
	// Unknown is the zero value and worse than every other effect.
	Unknown Effect = iota
	// Reads changes neither the vault nor the app.
	Reads
	// Shows moves the focus or opens a view; the vault stays as it is.
	Shows
	// Writes makes or changes notes or user data that can be brought back.
	Writes
	// Destroys removes, replaces or restores over what is there.
	Destroys
	// Publishes changes what the public network can see.
	Publishes
	// Administers changes configuration, plugins or the running app.
	Administers
	// Executes runs code.
	Executes
)

var effectNames = [...]string{
	Unknown: "unknown", Reads: "read", Shows: "ui", Writes: "write",
	Destroys: "destructive", Publishes: "publish", Administers: "admin", Executes: "exec",
}

// String returns the name used in results, such as "write".
func (e Effect) String() string {
	if int(e) < len(effectNames) {
		return effectNames[e]
	}
	return fmt.Sprintf("effect(%d)", uint8(e))
}

// WorseThan reports whether e is more severe than other. Unknown, and any
// value outside the list, is worse than everything that is known.
func (e Effect) WorseThan(other Effect) bool { return e.severity() > other.severity() }

// Mutates reports whether e needs the mutation gate: everything above Shows.
func (e Effect) Mutates() bool { return e.WorseThan(Shows) }

func (e Effect) severity() int {
	if e == Unknown || e > Executes {
		return int(Executes) + 1
	}
	return int(e)
}
