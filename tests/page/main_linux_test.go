package page

import (
	"html"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }

// visitor is a program that has opened the page with its link.
type visitor struct{ *rig.Page }

// open starts the page and opens it.
func open(r *rig.Rig, flags ...string) *visitor { return &visitor{r.OpenPage(flags...)} }

// newRig is a vault with a few notes.
func newRig(t *testing.T) *rig.Rig {
	return rig.New(t, map[string]string{"Bread.md": "flour\nwater\nsalt\n", "Work/Plan.md": "one\ntwo\n", "Private/Diary.md": "secret words\n"})
}

// begin is a vault with a few notes, the page of its owner and a client.
func begin(t *testing.T) (r *rig.Rig, v *visitor, client *rig.Client) {
	r = newRig(t)
	return r, open(r), r.Stdio(false, "")
}

// stateOf is the state folder of a rig.
func stateOf(r *rig.Rig) string { return filepath.Join(r.Home, ".local", "state", "vaultwicket") }

var hiddenFields = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// send sends the form of a view whose text contains all of marks, with further fields.
func (v *visitor) send(view, action string, more url.Values, marks ...string) (status int, body string) {
	v.T.Helper()
	for _, form := range strings.Split(view, "<form ")[1:] {
		form, _, _ = strings.Cut(form, "</form>")
		if !strings.Contains(form, action+`"`) {
			continue
		}
		if slices.ContainsFunc(marks, func(mark string) bool { return !strings.Contains(form, mark) }) {
			continue
		}
		values := url.Values{}
		for _, field := range hiddenFields.FindAllStringSubmatch(form, -1) {
			values.Set(field[1], field[2])
		}
		maps.Copy(values, more)
		return v.Fetch(http.MethodPost, v.Base+action, values)
	}
	v.T.Fatalf("no form for %q with %q in %s", action, marks, view)
	return 0, ""
}

// undo sends the form of a view with a mark, and confirms it where that is asked.
func (v *visitor) undo(view, mark string) (body string) {
	v.T.Helper()
	if _, body = v.send(view, "changes/undo", nil, mark); strings.Contains(body, `name="confirm"`) {
		_, body = v.send(body, "changes/undo", nil, `name="confirm"`)
	}
	return body
}

// check has the installation checked, and waits for the end.
func (v *visitor) check() {
	v.T.Helper()
	v.send(v.See("health"), "health/check", nil)
	rig.WaitFor(v.T, "the end of the check", func() bool { return !strings.Contains(v.See("health"), "checking…") })
}

// has fails unless a view contains all of texts, as it is or as a browser reads it.
func has(t *testing.T, view string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		assert.That(t, strings.Contains(view, text) || strings.Contains(html.UnescapeString(view), text), "%q is not in %s", text, mainOf(view))
	}
}

// mainOf is a view without what is around it.
func mainOf(view string) string {
	if _, main, found := strings.Cut(view, "<main"); found {
		return main
	}
	return view
}

// lacks fails if a view contains one of texts.
func lacks(t *testing.T, view string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		assert.That(t, !strings.Contains(view, text), "%q is in %s", text, mainOf(view))
	}
}
