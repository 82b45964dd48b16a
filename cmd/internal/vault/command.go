package vault

// command is one row of the table of what this program can do.
type command struct {
	name   string
	about  string
	params []param
	// bare names the value that a bare word stands for, if one is taken.
	bare string
	// run answers a command that reads. One that may change the vault has plan in
	// its place, which says what it would do and touches nothing.
	run  func(*vault, params) (reply, error)
	plan func(*vault, params) (proposal, error)
	// shows reports whether a request of a command with a plan only shows
	// something, nil means that none does.
	shows func(params) bool
	// meant judges what the app made of a file, where it is not byte for byte what
	// was planned. With nil nothing else is what was asked for.
	meant meaning
}

func (c command) writes() bool { return c.plan != nil }

// syntax returns what a command line of the command can carry.
func (c command) syntax() syntax { return syntax{name: c.name, params: c.params, bare: c.bare} }
