package page

import (
	"html"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// visitor is a program that has opened the page with its link.
type visitor struct{ *harness.Page }

// open starts the page and opens it.
func open(r *harness.Program, flags ...string) *visitor { return &visitor{r.OpenPage(flags...)} }

// newProgram is a vault with a few notes.
func newProgram(t *testing.T) *harness.Program {
	return harness.New(t, map[string]string{"Bread.md": "flour\nwater\nsalt\n", "Work/Plan.md": "one\ntwo\n", "Private/Diary.md": "secret words\n"})
}

// begin is a vault with a few notes, the page of its owner and a client.
func begin(t *testing.T) (r *harness.Program, v *visitor, client *harness.Client) {
	r = newProgram(t)
	return r, open(r), r.Stdio(false, "")
}

// stateOf is the state folder of a program.
func stateOf(r *harness.Program) string {
	return filepath.Join(r.Home, ".local", "state", "vaultwicket")
}

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

// pairedWith returns a browser that was paired by the page of the owner, which has ended.
func pairedWith(r *harness.Program) *harness.Page {
	r.T.Helper()
	link, process := r.StartPage()
	jar, err := cookiejar.New(nil)
	assert.That(r.T, err == nil, "%v", err)
	p := &harness.Page{T: r.T, Base: link[:strings.Index(link, "open/")], Client: &http.Client{Jar: jar}}
	status, body := p.Fetch(http.MethodGet, link, nil)
	assert.That(r.T, status == http.StatusOK, "the link answers %d: %s", status, body)
	assert.That(r.T, process.Signal(os.Interrupt) == nil, "the page has ended")
	harness.WaitFor(r.T, "the end of the page", func() bool {
		pages, err := ownerfiles.Servers(consent.Pages(stateOf(r)))
		return err == nil && len(pages) == 0
	})
	return p
}

var questionForms = regexp.MustCompile(`name="token" value="([^"]+)"><input type="hidden" name="does" value="([^"]+)"`)

// answer sends the form of the page of a question.
func (v *visitor) answer(body, link, does string) {
	v.T.Helper()
	for _, form := range questionForms.FindAllStringSubmatch(body, -1) {
		if form[2] == does {
			status, answer := v.Fetch(http.MethodPost, link, url.Values{"token": {form[1]}, "does": {does}})
			assert.That(v.T, status == http.StatusOK, "%s: %d %s", does, status, answer)
			return
		}
	}
	v.T.Fatalf("no form for %q in %s", does, body)
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
	harness.WaitFor(v.T, "the end of the check", func() bool { return !strings.Contains(v.See("health"), "checking…") })
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

// path is the part of the address of the page that its links begin with.
func (v *visitor) path() string {
	return v.Base[strings.Index(v.Base[len("http://"):], "/")+len("http://"):]
}
