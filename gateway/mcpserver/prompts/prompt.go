// Package prompts writes the MCP prompts: instructions for a model about which calls to
// make for a common task. A text names only calls that the policy permits, and never
// contains text of a note.
package prompts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway"
	"vaultwicket/gateway/mcpserver/wire"
)

// Prompt is a task that a user can start.
type Prompt struct {
	Name, Title, Description string
	arguments                []Argument
	write                    func(*draft) string
}

// Argument is an argument of a prompt. Every argument is optional.
type Argument struct {
	Name, Description string
	// check returns what is wrong with a value, "" if it is valid.
	check func(text string) string
	// suggest returns values to choose from, given the current day; nil for none. They are
	// never names or texts of notes: the client may not be allowed to see all of them.
	suggest func(today time.Time) []string
}

// Names returns the names of the prompts, in order.
func Names() []string {
	var names []string
	for _, p := range All() {
		names = append(names, p.Name)
	}
	return names
}

// Text returns the text of a prompt for a model that uses gw. now is the local time of the
// user. The error is an [*Error] about an unknown name or an invalid argument.
func Text(gw *gateway.Gateway, name string, arguments map[string]string, now time.Time) (string, error) {
	p, err := Find(name)
	if err != nil {
		return "", err
	}
	if err := p.Check(gw, arguments); err != nil {
		return "", err
	}
	return p.write(newDraft(gw, arguments, now)), nil
}

// Find returns the prompt of that name. The error is an [*Error].
func Find(name string) (Prompt, error) {
	for _, p := range All() {
		if p.Name == name {
			return p, nil
		}
	}
	hint := "the prompts are " + strings.Join(Names(), ", ")
	if near := quote.Nearest(name, Names()); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return Prompt{}, &Error{Prompt: wire.Clip(name), hint: hint}
}

// Check validates the arguments of the prompt. The error is an [*Error].
func (p Prompt) Check(gw *gateway.Gateway, arguments map[string]string) error {
	valid := p.Arguments(gw.VaultNames())
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		i := slices.IndexFunc(valid, func(a Argument) bool { return a.Name == name })
		if i < 0 {
			return unknownArgument(p, name, valid)
		}
		if arguments[name] == "" {
			continue // clients send a field that was left empty like this
		}
		if reason := valid[i].check(arguments[name]); reason != "" {
			return &Error{Prompt: p.Name, Reason: fmt.Sprintf("argument %q %s", name, reason)}
		}
	}
	return nil
}

func unknownArgument(p Prompt, name string, valid []Argument) error {
	var names []string
	for _, a := range valid {
		names = append(names, a.Name)
	}
	hint := "valid arguments: " + strings.Join(names, ", ")
	if near := quote.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return &Error{Prompt: p.Name, Reason: fmt.Sprintf("unknown argument %q", wire.Clip(name)), hint: hint}
}

// Arguments returns the arguments of the prompt. With several vaults, the name of the
// vault is one of them.
func (p Prompt) Arguments(vaults []string) []Argument {
	if len(vaults) < 2 {
		return p.arguments
	}
	return append(slices.Clone(p.arguments), vaultArgument(vaults))
}

// Suggestions returns values of the argument to choose from; now is the local time of the
// user.
func (a Argument) Suggestions(now time.Time) []string {
	if a.suggest == nil {
		return nil
	}
	return a.suggest(noon(now))
}

// Error says what is wrong with a request for a prompt.
type Error struct {
	Prompt string // the name in the request
	Reason string // "" for an unknown prompt
	hint   string
}

// Code is that of an invalid request.
func (e *Error) Code() string { return "bad_request" }

// Hint says what to send instead, "" if the error says it.
func (e *Error) Hint() string { return e.hint }

func (e *Error) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("unknown prompt %q", e.Prompt)
	}
	return fmt.Sprintf("prompt %q: %s", e.Prompt, e.Reason)
}
