package ui

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheOverviewNamesProblems(t *testing.T) {
	v := visit(t, filepath.Join(t.TempDir(), "state"))
	const banner = `2 problems found`
	v.page.Health = func(context.Context) []Finding {
		return []Finding{{Level: "problem", What: "one"}, {Level: "warning"}, {Level: "ok"}, {Level: "problem"}}
	}
	if view := v.see(""); strings.Contains(view, "problems found") {
		t.Errorf("before a check: %s", view)
	}
	<-v.page.health.begin()
	if view := v.see(""); !strings.Contains(view, banner) || !strings.Contains(view, `href="`+v.base[strings.Index(v.base[8:], "/")+8:]+`health">Health</a></p>`) {
		t.Errorf("after it: %s", view)
	}
}
