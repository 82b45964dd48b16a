package clients

// Class says who can fix the cause of an [Error].
type Class int

// The classes of errors.
const (
	Usage       Class = iota // the command line asks for something that cannot be
	Environment              // a file or a program is not as it has to be
	Conflict                 // an entry or a file is in the way
)

// Error is why nothing was changed.
type Error struct {
	Class  Class
	Reason string
	Help   string // what the user can do, may be empty
}

func (e *Error) Error() string { return e.Reason }

// Hint returns advice for the user.
func (e *Error) Hint() string { return e.Help }
