package calls

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
)

// fromInput is the value of a parameter that is read from standard input.
const fromInput = "-"

// inputParams are the parameters for text: of these a dash alone is taken for standard
// input.
var inputParams = []string{"content", "new", "old"}

// maxInput bounds what is read from standard input: more than a parameter may have.
const maxInput = 2 << 20

func stdinFlag(f *settings.Flags, param *string) {
	f.StringVar(param, "stdin", "", "read the value of this parameter from standard input (content=- does the same)")
}

// withInput returns the words of a command with the value of one parameter from standard
// input: that of param, or the one that is written content=-. A line break at the end of
// the input belongs to it.
func withInput(std terminal.Streams, words []string, param string) ([]string, error) {
	at := slices.IndexFunc(words, func(word string) bool {
		key, value, _ := strings.Cut(word, "=")
		return value == fromInput && slices.Contains(inputParams, key)
	})
	switch {
	case at >= 0 && param != "":
		return words, &terminal.UsageError{Reason: fmt.Sprintf("--stdin cannot be combined with %q", quote.Short(words[at])), Advice: "standard input is one value: leave one of them out"}
	case at >= 0:
		param, _, _ = strings.Cut(words[at], "=")
		words = slices.Delete(slices.Clone(words), at, at+1)
	case param == "":
		return words, nil
	case strings.Contains(param, "="):
		return words, &terminal.UsageError{Reason: fmt.Sprintf("flag --stdin: %q is not the name of a parameter", quote.Short(param)), Advice: "use --stdin content"}
	}
	text, err := io.ReadAll(io.LimitReader(std.In, maxInput+1))
	switch {
	case err != nil:
		return words, &terminal.UsageError{Reason: fmt.Sprintf("read standard input: %v", err)}
	case len(text) > maxInput:
		return words, &terminal.UsageError{Reason: fmt.Sprintf("standard input is longer than %d bytes", maxInput), Advice: "write less at once"}
	}
	return append(slices.Clip(words), param+"="+string(text)), nil
}

// noteEscapes says that a backslash with an n is no line break, where somebody may have
// meant one.
func noteEscapes(std terminal.Streams, words []string) {
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		if slices.Contains(inputParams, key) && strings.Contains(value, `\n`) && !strings.Contains(value, "\n") {
			terminal.Notef(std.Err, `\n in %s= is written as it is, with its backslash; give lines on standard input with %s=-`, key, key)
		}
	}
}
