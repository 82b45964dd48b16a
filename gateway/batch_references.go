package gateway

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

// writtenReferences matches the notations of other programs for the result of an earlier operation, such as
// {{a.path}}, ${a.path}, $a.stdout, <a.path> and ${{ steps.a.outputs.path }}.
var writtenReferences = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(\$\{\{|\{\{|\$\{|\$\(|\{|\$|<|@)\s*\$?(?:(?:steps|results|operations|ops)[.\[])?["']?([\w-]+)["']?\]?((?:\.\w+)*)\s*(\}\}|\}|\)|>)?`,
	)
})

// otherFields are names that other programs use for the fields of a result.
var otherFields = []string{"output", "outputs", "result", "results", "text", "content", "data", "id", "value", "notes"}

// literalReference finds something in a text that looks like a reference to the result of an operation but would be
// used as plain text. It returns how it is written, the operation, and the field that is probably meant; all are ""
// if nothing is found. Within a longer text only an operation of the batch with a known field counts; a text that
// consists of nothing else may name any operation or field.
func (b Batch) literalReference(text string) (written, clientID, field string) {
	for _, at := range writtenReferences().FindAllStringSubmatchIndex(text, -1) {
		part := func(n int) string { return text[max(at[2*n], 0):max(at[2*n+1], 0)] }
		name := part(2)
		fields := strings.Split(strings.TrimPrefix(part(3), "."), ".")
		last := fields[len(fields)-1]
		isOperation := slices.ContainsFunc(b.Operations, func(o Operation) bool { return o.ClientID == name })
		isOwnField := slices.Contains(fieldNames, strings.Join(fields, ".")) || slices.Contains(fieldNames, last)
		isField := isOwnField || slices.Contains(otherFields, last)
		isWhole := strings.TrimSpace(text) == text[at[0]:at[1]]
		inBraces := strings.HasPrefix(part(1), "{{") || strings.HasPrefix(part(1), "$")
		isOnlyReference := isWhole && inBraces
		switch {
		case isOperation && isField,
			isOnlyReference && isOwnField,
			isOnlyReference && isOperation && last == "":
			if !isOwnField {
				last = "path"
			}
			return text[at[0]:at[1]], name, last
		}
	}
	return "", "", ""
}

// refuseLiteralReferences returns an error if a text of an operation looks like a reference but is not one.
func (b Batch) refuseLiteralReferences(o Operation) error {
	for _, key := range slices.Sorted(maps.Keys(o.Params)) {
		written, from, field := b.literalReference(o.Params[key].Text())
		if written == "" {
			continue
		}
		hint := fmt.Sprintf(
			`for the value of a result send {"from": %q, "field": %q} in place of the text; a text that is meant as it is needs other names of operations`,
			from,
			field,
		)
		return failure.New(
			failure.CodeBadRequest,
			hint,
			"parameter %s contains %q, which looks like a reference and would be taken as text",
			excerpt.Short(key),
			excerpt.Short(written),
		)
	}
	return nil
}
