package grammar

import (
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
)

// PartSwitch is followed by how many bytes of a long listing a worker prints, in whole rows.
// It keeps the whole, which the facts then name. With "lines:" before the number every line is
// a row. A process for one call prints everything.
const PartSwitch = "--part"

// KeptSwitch has a worker print more of an answer that it keeps. Behind it stand the id, the
// offset at which the last part ended and how many bytes are printed at least; there is no
// command.
const KeptSwitch = "--kept"

// Kept is what of an answer a worker is to print. The zero Kept is nothing.
type Kept struct {
	ID          string
	From, Bytes int
}

// maxPart is more than an answer has that is kept.
const maxPart = 16 << 20

func parsePart(args []string) (p answer.Part, ok bool) {
	if len(args) == 0 {
		return p, false
	}
	number, lines := strings.CutPrefix(args[0], "lines:")
	n, ok := parseSize(number)
	return answer.Part{Bytes: n, Lines: lines}, ok && n > 0
}

func parseKept(args []string) (k Kept, ok bool) {
	if len(args) != 3 || args[0] == "" {
		return k, false
	}
	from, ok1 := parseSize(args[1])
	bytes, ok2 := parseSize(args[2])
	return Kept{args[0], from, bytes}, ok1 && ok2
}

func parseSize(text string) (n int, ok bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && 0 <= n && n <= maxPart
}
