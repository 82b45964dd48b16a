package exec

import (
	"time"

	"vaultwicket/exec/process"
)

// Outcome is what came of a call that was permitted. Together with a nil error
// it says one of two things: Failure is nil and the call did what it was asked
// to, or Failure says what the client answered instead. With an error it holds
// what had been gathered until then.
type Outcome struct {
	// Stdout and Stderr are what the program printed, cleaned of noise. They are
	// bytes as they came: nothing makes sure that they are valid UTF-8.
	Stdout, Stderr string
	// ExitCode is the exit status, 128 and the number of the signal for a
	// program that died by one, and -1 when no process ran.
	ExitCode int
	// Duration is how long the program ran, both times when it was asked again.
	Duration time.Duration
	// Total is how long Stdout would be if nothing had been dropped. Cut says
	// that its middle was dropped, at the offset CutAt.
	Total int64
	Cut   bool
	CutAt int
	// Notices are remarks for people: noise that was taken out of the streams,
	// the sentence of an empty answer, an outdated installer.
	Notices []string
	// Path, Hash and Before are what the embedded program reported: the note,
	// the hash of its content and the hash it had before. The app reports none.
	// Change is the entry of the journal that can take the change back.
	Path, Hash, Before, Change string
	// Added and Removed are the lines of all notes that a change made and took away;
	// Loses says that it took away so much that it was destructive.
	Added, Removed int
	Destructive    bool
	// Image is the media type of an image, whose bytes are the last line of Stdout in
	// base64; "" for other answers.
	Image string
	// State names what the answer of the embedded program was made from, "" where it cannot
	// say. Unchanged says that it is the state of [UnlessState], and nothing was answered.
	State     string
	Unchanged bool
	// Kept is the answer of which Stdout is the first part, see [FirstPart]; nil where
	// Stdout is all of it.
	Kept *KeptAnswer
	// Failure is nil when the call did what it was asked to.
	Failure *Failure
}

// notRun is the outcome of a call for which no process was started.
func notRun() Outcome { return Outcome{ExitCode: process.NoExit} }
