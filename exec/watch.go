package exec

import "context"

// Watcher is told of every program that answers for a [Runner], for traces. It
// learns nothing of what is asked and answered. It is called by many goroutines
// at once and must come back at once.
type Watcher interface {
	// BeginRun is told that a program is going to be asked: "obsidian" or
	// "embedded". What it returns, unless nil, is told how that ended: the exit
	// status, -1 if nothing ran, and the code of the error or the failure, "" for
	// none. ctx is the one of Run.
	BeginRun(ctx context.Context, backend string) (end func(exitCode int, code string))
}

// codeIn returns the code of what went wrong, "" if nothing did. An error without
// one is an internal error.
func codeIn(out Outcome, err error) string {
	coded, ok := err.(interface{ Code() string })
	switch {
	case ok:
		return coded.Code()
	case err != nil:
		return codeFault
	case out.Failure != nil:
		return out.Failure.Code()
	}
	return ""
}

// codeFault is what the gateway calls an error without a code.
const codeFault = "internal"
