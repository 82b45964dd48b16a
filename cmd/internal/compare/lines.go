package compare

import (
	"encoding/json"
	"strings"
)

// equal reports whether two answers say the same: byte for byte but for the line break at
// the end, or as JSON.
func equal(a, b string) bool {
	if strings.TrimRight(a, "\r\n") == strings.TrimRight(b, "\r\n") {
		return true
	}
	x, y := canonical(a), canonical(b)
	return x != "" && x == y
}

// canonical writes JSON without space and with sorted keys; it returns "" for what is no
// JSON.
func canonical(text string) string {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return ""
	}
	written, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(written)
}

// without returns the lines that others do not have, each as often as it has more of them.
func without(lines, others []string) (only []string) {
	counts := map[string]int{}
	for _, line := range others {
		counts[line]++
	}
	for _, line := range lines {
		if counts[line] > 0 {
			counts[line]--
			continue
		}
		only = append(only, line)
	}
	return only
}

func atMost(lines []string) []string { return append([]string{}, lines[:min(len(lines), maxTexts)]...) }
