package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/exit"
	"vaultwicket/gateway/failure"
)

var update = flag.Bool("update", false, "write the generated tables into README.md")

const readme = "../../README.md"

// TestREADMEHoldsTheTableOfCodes compares what stands between markers with
// what the code knows.
func TestREADMEHoldsTheTableOfCodes(t *testing.T) {
	content, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	want := between(t, string(content), "codes", codesTable())
	if want == string(content) {
		return
	}
	if !*update {
		t.Fatal("README.md is stale; go generate ./cmd/vaultwicket mends it")
	}
	if err := os.WriteFile(readme, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func between(t *testing.T, content, marker, table string) string {
	t.Helper()
	begin, end := "<!-- "+marker+" -->\n", "<!-- /"+marker+" -->"
	before, rest, ok := strings.Cut(content, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("the page has no markers for %s", marker)
	}
	return before + begin + table + end + after
}

func codesTable() string {
	rows := []struct {
		class failure.Class
		text  string
	}{
		{failure.Answered, "the CLI answered with a failure"},
		{failure.BadRequest, "the request or a setting is wrong"},
		{failure.Refused, "denied by the policy"},
		{failure.Surroundings, "the client, the app, the vault or the state folder is not ready"},
		{failure.Halted, "the call was stopped"},
		{failure.Bug, "internal error"},
	}
	var b strings.Builder
	b.WriteString("| status | meaning | codes |\n|---|---|---|\n| 0 | done; for `dry-run`: it would be allowed | |\n")
	for _, row := range rows {
		var names []string
		for _, c := range failure.Codes() {
			if c.Class == row.class {
				names = append(names, "`"+c.Name+"`")
			}
		}
		fmt.Fprintf(&b, "| %d | %s | %s |\n", exit.StatusOfClass(row.class), row.text, strings.Join(names, " "))
	}
	return b.String()
}
