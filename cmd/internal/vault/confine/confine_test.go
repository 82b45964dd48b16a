package confine

import "testing"

func TestTheStateSaysWhatIsHeld(t *testing.T) {
	for _, test := range []struct {
		state State
		holds bool
		want  string
	}{
		{State{}, false, "none: "},
		{Unconfined("no wall here"), false, "none: no wall here"},
		{State{level: 2}, true, "landlock 2: files"},
		{State{level: 4}, true, "landlock 4: files, TCP"},
		{State{level: 7}, true, "landlock 7: files, TCP, signals, abstract sockets"},
		{State{level: 11}, true, "landlock 11: files, TCP, signals, abstract sockets, sockets in files, UDP"},
	} {
		if test.state.Holds() != test.holds || test.state.String() != test.want {
			t.Errorf("%+v: %v, %q", test.state, test.state.Holds(), test.state)
		}
	}
}
