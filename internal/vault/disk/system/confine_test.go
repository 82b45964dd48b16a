package system

import (
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

func TestTheStateSaysWhatIsHeld(t *testing.T) {
	for _, test := range []struct {
		state Confinement
		want  string
	}{
		{Confinement{}, "none: "},
		{Unconfined("no such wall"), "none: no such wall"},
		{Confinement{level: 2}, "landlock 2: files"},
		{Confinement{level: 4}, "landlock 4: files, TCP"},
		{Confinement{level: 7}, "landlock 7: files, TCP, signals, abstract sockets"},
		{Confinement{level: 11}, "landlock 11: files, TCP, signals, abstract sockets, sockets in files, UDP"},
	} {
		assert.That(t, test.state.String() == test.want, "%q, want %q", test.state, test.want)
	}
}
