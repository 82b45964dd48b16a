package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/guard"
)

// Notice is a remark on an answer for the gateway, such as why the answer is empty: one line. Only [Remark] makes one,
// of a constant and of what callers may see. The zero value is no remark.
type Notice struct{ text string }

// Remark returns a notice; an empty text is no remark. The arguments are names, numbers, and texts that the caller may
// see.
func Remark(format words, args ...any) Notice {
	return Notice{fmt.Sprintf(string(format), printable(args)...)}
}

// And returns a notice with the remarks of this one and the others, in this order.
func (n Notice) And(others ...Notice) Notice {
	var texts []string
	for _, one := range append([]Notice{n}, others...) {
		if one != (Notice{}) {
			texts = append(texts, one.text)
		}
	}
	return Notice{strings.Join(texts, "; ")}
}

// Noting returns the reply with another remark.
func (r Reply) Noting(notice Notice) Reply {
	r.Notice = r.Notice.And(notice)
	return r
}

// String returns the text of the notice, "" for no remark.
func (n Notice) String() string { return n.text }

// printable returns the arguments of a message as they are printed: of an error its reason without paths of the machine,
// and of bytes, which may be those of a note, only how many there are.
func printable(args []any) []any {
	printed := slices.Clone(args)
	for i, arg := range args {
		switch arg := arg.(type) {
		case error:
			printed[i] = excerpt.Reason(arg)
		case []byte:
			printed[i] = guard.NewUnjudged(arg)
		}
	}
	return printed
}
