package exec

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/exec/process"
	"github.com/vaultwicket/vaultwicket/policy"
)

// Hold is the right of one call to have a large answer in memory. A [Runner] gives it to one
// call at a time: a few answers of megabytes could fill the memory of a machine. A program
// with a large answer waits for it, up to the time limit of its call.
//
// A caller that keeps the text of an [Outcome] after Run puts a Hold into the context, and
// releases it with the text.
type Hold struct {
	semaphore chan struct{} // of the Runner

	mu   sync.Mutex
	held bool
}

// Hold returns a Hold that is not held yet.
func (r *Runner) Hold() *Hold { return &Hold{semaphore: r.large} }

type holdKey struct{}

// WithHold has the programs of a call keep their large answer under h, one program at a time;
// the text of the one before must be dropped.
func WithHold(ctx context.Context, h *Hold) context.Context {
	return context.WithValue(ctx, holdKey{}, h)
}

// Release returns the right, if it is held.
func (h *Hold) Release() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held {
		h.held = false
		<-h.semaphore
	}
}

// take waits for the right as long as ctx lasts.
func (h *Hold) take(ctx context.Context) bool {
	if h == nil {
		return true // a program that answers no call, such as a probe
	}
	h.mu.Lock() // the other stream of the program may be waiting
	defer h.mu.Unlock()
	if h.held {
		return true
	}
	select {
	case h.semaphore <- struct{}{}:
		h.held = true
	case <-ctx.Done():
	}
	return h.held
}

// holding runs a program under the Hold of its call, or a new one. The answer of an earlier
// program of the same call is released first, so that no call waits while it blocks others.
func (r *Runner) holding(ctx context.Context) (held context.Context, end func()) {
	if h := holdOf(ctx); h != nil {
		h.Release()
		return ctx, func() {}
	}
	h := r.Hold()
	return WithHold(ctx, h), h.Release
}

func holdOf(ctx context.Context) *Hold {
	h, _ := ctx.Value(holdKey{}).(*Hold)
	return h
}

// withhold removes everything from an answer of the app that could name a hidden note. The app
// does not know the rules: its errors suggest other notes, and anything can be on its standard
// error. The requested data and sentences that only repeat the call stay.
func (a *attempt) withhold(permit policy.Grant) {
	q := questionOf(permit, Program{backend: appBackend})
	v := &a.verdict
	saysNothing := v.stdout == "" && v.stderr == ""
	v.stderr = ""
	v.notices = slices.DeleteFunc(v.notices, func(notice string) bool { return notice != q.reply.Empty })
	switch {
	case a.Kind != process.Exited, v.unavailable != nil:
		v.stdout = ""
		v.cut = false
	case v.failure != nil && !saysNothing && !q.isKnownRefusal(trimmed(v.stdout)):
		v.stdout = ""
		v.cut = false
		v.failure = &Failure{
			fact: fact{
				code:   v.failure.code,
				hint:   v.failure.hint,
				reason: fmt.Sprintf("the Obsidian app answered command %q with an error, or not as it should", q.name),
			},
			text: v.failure.text,
		}
	case v.failure == nil && q.reply.Kind == allowlist.Confirmation:
		v.stdout = q.knownConfirmation(firstLine(v.stdout))
	}
}

// Missing is the answer of the app to a call on a note that does not exist, for a hidden note.
// Its ExitCode is -1 and the rest zero for a call that names none.
func Missing(call allowlist.Call) Outcome {
	for _, s := range call.NamedPaths() {
		text := fmt.Sprintf("Error: File \"%s\" not found.", s.Path)
		return Outcome{
			Stdout:  text + "\n",
			Total:   int64(len(text)) + 1,
			Failure: question{name: call.Name(), reply: call.Reply()}.refusal(text, 0),
		}
	}
	return notRun()
}

// isKnownRefusal reports whether text is an error that repeats nothing but what the call itself names.
func (q question) isKnownRefusal(text string) bool {
	switch text {
	case textNoActiveFile,
		textNoTemplates,
		"Error: Destination file already exists!",
		"Error: File is not a markdown file.",
		"Error: Invalid date format. Use YYYY-MM-DD":
		return true
	}
	rest, isError := strings.CutPrefix(text, prefixError)
	what, rest, quoted := strings.Cut(rest, ` "`)
	return isError && quoted && isWord(what) && slices.ContainsFunc(q.values, func(value string) bool {
		return rest == value+`" not found.` || rest == value+`" already exists.`
	})
}

// knownConfirmation returns a confirmation with names from the call only, of another its first words.
func (q question) knownConfirmation(line string) string {
	for _, prefix := range q.reply.Confirms {
		rest, ok := strings.CutPrefix(line, prefix)
		if !ok {
			continue
		}
		for _, value := range q.values {
			if rest == value || rest == value+".md" || strings.HasPrefix(rest, value+": ") {
				return line + "\n"
			}
		}
		return strings.TrimRight(prefix, ": ") + "\n"
	}
	return ""
}
