package vault_test

import (
	"context"
	"fmt"
	"html"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// shownVault is a vault with a file for each of some secrets, in one place.
type shownVault struct {
	*embedded.Vault
	host    *call.Host
	secrets []fake.Secret
	paths   []string
	calls   int
	shown   map[string]int // by the command
	first   map[string]string
}

func newShownVault(t *testing.T, p fake.Place, secrets []fake.Secret) *shownVault {
	files := map[string]string{
		".obsidian/daily-notes.json": `{"folder":"Daily","template":"T/0"}`, ".obsidian/templates.json": `{"folder":"T"}`,
		"All.base": "views:\n  - type: table\n    name: All\n    order: [file.name, title, titles, file.links, file.tags]\n",
	}
	w := &shownVault{secrets: secrets, shown: map[string]int{}, first: map[string]string{}}
	for i, s := range secrets {
		path := fmt.Sprintf("T/%d.%s", i, p.Ext)
		w.paths = append(w.paths, path)
		files[path] = p.Put(s.Line)
		if p.Ext == "md" {
			files[fmt.Sprintf("Linked %d.md", i)] = fmt.Sprintf("![[T/%d]] is linked\n", i)
		}
	}
	w.Vault = embedded.New(t, files)
	w.Env[guard.Variable] = guard.NewMarker([]byte("key of the test"), false).String()
	w.host = w.Host()
	t.Cleanup(w.host.Close)
	return w
}

// decodings are how a caller may read an answer.
var decodings = []func(text string) string{
	func(text string) string { return text },
	func(text string) string { return html.UnescapeString(html.UnescapeString(text)) },
	func(text string) string { return strings.NewReplacer(`\`, "", "\x00", "").Replace(text) },
	func(text string) string { return strings.NewReplacer("\\\\\n   ", "", "\\\n   ", "").Replace(text) },
	func(text string) string {
		var out strings.Builder
		for line := range strings.Lines(text) {
			if decoded, err := url.PathUnescape(line); err == nil {
				line = decoded
			}
			out.WriteString(line)
		}
		return out.String()
	},
}

// ask makes a call, and counts the secrets that its answer shows.
func (w *shownVault) ask(args ...string) {
	w.T.Helper()
	w.calls++
	status, out, told := embedded.Asked(context.Background(), w.host, "", append([]string{w.Dir, call.WriteSwitch, call.FactsSwitch}, args...))
	_ = status // errors are answers, too
	for _, decode := range decodings {
		text := decode(out + told)
		for _, s := range w.secrets {
			piece := s.Value[len(s.Value)-10 : len(s.Value)-1]
			middle := s.Value[len(s.Value)/2-4 : len(s.Value)/2+4]
			if strings.Contains(text, piece) || strings.Contains(text, middle) {
				w.shown[args[0]]++
				if w.first[args[0]] == "" {
					at := max(strings.Index(text, piece), strings.Index(text, middle))
					w.first[args[0]] = fmt.Sprintf("%s by %q: %q", s.Kind, args, text[max(0, at-60):min(len(text), at+60)])
				}
				return
			}
		}
	}
}

// readAll runs every reading command on the whole vault, and on each file that mine selects.
func (w *shownVault) readAll(mine func(i int) bool) {
	known := map[string][]string{
		"query": {"above", "first", "title", "text", "x", "/[a-z]{3}/", "the"}, "name": {"title", "titles", "T/0", "0"},
		"expr":  {"title", "titles", "file.links", "file.name"},
		"where": {"title", `title.contains("a")`}, "period": {"day"}, "view": {"All"}, "base": {"All"}, "from": {"2026-11-20"},
	}
	for _, row := range vault.Table() {
		if row.Writes() || slices.Contains([]string{"help", "version", "status", "vaults"}, row.Name) {
			continue
		}
		forms := []string{""}
		given := map[string][]string{}
		hasPath := false
		for _, p := range paramsOf(row) {
			switch {
			case p.Name == "format":
				for _, choice := range p.Choices {
					forms = append(forms, "format="+choice)
				}
			case p.Name == "path":
				hasPath = true
			case p.Required || p.Name == "name" || p.Name == "where" || p.Name == "view":
				given[p.Name] = known[p.Name]
			}
		}
		combinations := [][]string{{row.Name}}
		for _, name := range slices.Sorted(maps.Keys(given)) {
			var more [][]string
			for _, c := range combinations {
				if len(given[name]) == 0 {
					more = append(more, c)
				}
				for _, value := range given[name] {
					more = append(more, append(slices.Clone(c), name+"="+value))
				}
			}
			combinations = more
		}
		for _, c := range combinations {
			for _, form := range forms {
				args := slices.Clone(c)
				if form != "" {
					args = append(args, form)
				}
				w.ask(args...)
				for i, path := range w.paths {
					if hasPath && mine(i) {
						w.ask(append(args, "path="+path)...)
					}
				}
			}
		}
	}
}

// change makes and previews changes of a file, and asks for what they were.
func (w *shownVault) change(path string) {
	for _, args := range [][]string{
		{call.PlanSwitch, "append", "path=" + path, "content=more"}, {"append", "path=" + path, "content=more"},
		{"history", "path=" + path}, {"diff", "path=" + path}, {"history:read", "path=" + path, "version=1"},
		{call.PlanSwitch, "undo"}, {"note:replace", "path=" + path, "old=no such text", "new=x"},
		{call.PlanSwitch, "note:replace", "path=" + path, "old=more", "new=less"},
		{call.PlanSwitch, "copy", "path=" + path, "to=Copy.md"}, {"copy", "path=" + path, "to=Copies/" + path},
		{"read", "path=Copies/" + path}, {call.PlanSwitch, "delete", "path=" + path},
		{"property:set", "path=" + path, "name=other", "value=x"}, {"undo"}, {"canvas:set", "path=" + path, "id=a", "text=new"}, {"undo"},
		{call.PlanSwitch, "create", "path=" + path, "overwrite", "content=x"}, {"create", "path=" + path, "content=x"},
		{call.PlanSwitch, "vault:replace", "old=x", "new=y"},
		{"template:read", "name=" + strings.TrimSuffix(path, ".md")},
		{"template:read", "name=" + strings.TrimSuffix(path, ".md"), "resolve"},
		{"create", "path=Made/" + path, "template=" + strings.TrimSuffix(path, ".md")},
		{call.PlanSwitch, "note:split", "path=" + path, "level=1"},
		{call.PlanSwitch, "note:merge", "path=" + path, "into=Copies/" + path},
		{"base:eval", "path=" + path, "expr=title"},
	} {
		w.ask(args...)
	}
}

// TestNoCommandShowsASecret puts 60 kinds of secrets into 50 places, and runs every command on them.
func TestNoCommandShowsASecret(t *testing.T) {
	places := fake.Places()
	secrets := fake.Secrets()
	calls := 0
	for n, where := range slices.Sorted(maps.Keys(places)) {
		some := secrets
		if !testenv.Long() { // another part of the kinds in each place
			some = nil
			for i, s := range secrets {
				if (i+n)%8 == 0 {
					some = append(some, s)
				}
			}
		}
		w := newShownVault(t, places[where], some)
		w.readAll(func(i int) bool { return i%4 == n%4 })
		for i, path := range w.paths {
			if i%4 == n%4 {
				w.change(path)
			}
		}
		for _, command := range slices.Sorted(maps.Keys(w.shown)) {
			t.Errorf("%s: %s shows %d times: %s", where, command, w.shown[command], w.first[command])
		}
		calls += w.calls
		w.host.Close()
	}
	assert.That(t, calls > 10000, "%d calls", calls)
	t.Logf("%d places, %d kinds, %d calls", len(places), len(secrets), calls)
}
