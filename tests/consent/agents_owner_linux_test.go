package consent

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

var (
	stateOnPage  = regexp.MustCompile(`title="[^"]*"><code>([^<]+)</code></a></td>.*?<span class="outcome ([a-z]+)">`)
	accessOnPage = regexp.MustCompile(`<div><dt>(Read|Change|Delete)</dt><dd>(yes|no)`)
)

// Fifty agents as the owner sees them at the terminal and on the local page: what commands,
// explain, access and dry-run say of each, and the views of the policy and of access, is what server
// and agent both allow, by the rule of this test.
func TestFiftyAgentsForTheOwner(t *testing.T) {
	t.Parallel()
	draws := rand.New(rand.NewPCG(26, 53))
	r := harness.New(t, map[string]string{"Ann/Plan.md": "a\n", "Bob/Plan.md": "b\n", "Both/Plan.md": "c\n"})
	r.Set("tier", `"v2"`).Set("confirm", `"never"`)
	all := map[string]rights{}
	for i := range 50 {
		name := fmt.Sprintf("agent-%02d", i)
		all[name] = drawRights(draws)
		r.Tables += all[name].table(name)
	}
	r.Save()
	compared := 0
	same := func(what string, got, want any) {
		t.Helper()
		if compared++; got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	parse := func(text string, into any) {
		t.Helper()
		err := json.Unmarshal([]byte(text), into)
		require.That(t, err == nil, "%v: %s", err, text)
	}
	for i := range testenv.Count(3, 50) {
		name := fmt.Sprintf("agent-%02d", i)
		d := all[name]
		page := r.OpenPage("--agent=" + name)
		onPage := map[string]string{}
		for _, cell := range stateOnPage.FindAllStringSubmatch(page.See("policy"), -1) {
			onPage[cell[1]] = cell[2]
		}
		var listed []struct {
			Name    string
			Allowed bool
		}
		parse(r.Must("commands", "--all", "--json", "--agent="+name), &listed)
		for _, call := range matrixCalls {
			what := fmt.Sprintf("%s (%+v), %s", name, d, call.command)
			open, state := d.opens(call), "enabled"
			switch {
			case !open:
				state = "disabled"
			case call.destroys && d.confirm == "destructive" && call.command == "delete", call.writes && d.confirm == "writes":
				state = "approval" // create destroys only with overwrite, which a list does not know
			}
			same(what+" on the page", onPage[call.command], state)
			at := slices.IndexFunc(listed, func(c struct {
				Name    string
				Allowed bool
			}) bool {
				return c.Name == call.command
			})
			same(what+" in commands", at >= 0 && listed[at].Allowed, open)
			var explained struct{ Allowed bool }
			parse(r.Must("explain", "--json", "--agent="+name, call.command), &explained)
			same(what+" explained", explained.Allowed, open)
		}
		for _, note := range []string{"Ann/Plan.md", "Bob/Plan.md", "Both/Plan.md"} {
			may := func(call matrixCall) bool { return d.opens(call) && d.level(note) >= call.needs }
			want := [3]bool{may(matrixCalls[0]), may(matrixCalls[1]), may(matrixCalls[3])}
			var said struct{ Read, Change, Delete struct{ Allowed bool } }
			parse(r.Must("access", "--json", "--agent="+name, note), &said)
			same(fmt.Sprintf("%s (%+v), access of %s", name, d, note), [3]bool{said.Read.Allowed, said.Change.Allowed, said.Delete.Allowed}, want)
			var shown [3]bool
			for i, cell := range accessOnPage.FindAllStringSubmatch(page.See("policy/access?path="+url.QueryEscape(note)), -1) {
				shown[i] = cell[2] == "yes"
			}
			same(fmt.Sprintf("%s (%+v), %s on the page", name, d, note), shown, want)
			call := matrixCalls[draws.IntN(len(matrixCalls))]
			decision, words := d.decides(call, note), []string{"path=" + note}
			if strings.Contains(call.params, "content") {
				words = append(words, "content=x")
			}
			if strings.Contains(call.params, "overwrite") {
				words = append(words, "overwrite")
			}
			out, _, _ := r.Run(append([]string{"dry-run", "--json", "--agent=" + name, call.command}, words...)...)
			var plan struct{ Decision string }
			if parse(out, &plan); decision != "missing" {
				same(fmt.Sprintf("%s (%+v), dry-run %s %s", name, d, call.command, note), plan.Decision, decision)
			} else {
				never, _, _ := r.Run(append([]string{"dry-run", "--json", "--agent=" + name, call.command},
					strings.Split(strings.Replace(strings.Join(words, "\n"), "Plan", "Plam", 1), "\n")...)...)
				same(fmt.Sprintf("%s (%+v), dry-run %s of the hidden %s", name, d, call.command, note), strings.ReplaceAll(never, "Plam", "Plan"), out)
			}
		}
	}
	t.Logf("%d comparisons", compared)
}
