package page

import (
	"bufio"
	"fmt"
	"html"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// openToKill opens a page whose process a test kills.
func openToKill(r *harness.Program) (v *visitor, process *osexec.Cmd) {
	r.T.Helper()
	r.Save()
	process = osexec.Command(harness.Binary, "ui")
	process.Env = []string{"HOME=" + r.Home, "TZ=UTC"}
	user := harness.StartAtTerminal(r.T, process)
	r.T.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait() // it was killed
	})
	line := require.Value(bufio.NewReader(user).ReadString('\n'))(r.T)
	link := strings.TrimSpace(line)
	jar := require.Value(cookiejar.New(nil))(r.T)
	v = &visitor{&harness.Page{T: r.T, Base: link[:strings.Index(link, "open/")], Client: &http.Client{Jar: jar}}}
	status, body := v.Fetch(http.MethodGet, link, nil)
	require.That(r.T, status == http.StatusOK, "the link answers %d: %s", status, body)
	return v, process
}

// post sends the form of a view without waiting for its answer, which may never come.
func (v *visitor) post(view, action string) {
	v.T.Helper()
	_, form, found := strings.Cut(view, action+`"`)
	require.That(v.T, found, "no form for %q in %s", action, mainOf(view))
	form, _, _ = strings.Cut(form, "</form>")
	values := url.Values{}
	for _, field := range hiddenFields.FindAllStringSubmatch(form, -1) {
		values.Set(field[1], html.UnescapeString(field[2]))
	}
	request := require.Value(http.NewRequestWithContext(v.T.Context(), http.MethodPost, v.Base+action, strings.NewReader(values.Encode())))(v.T)
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	request.Header.Set("Origin", "http://"+request.URL.Host)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	go func() {
		if answer, err := v.Client.Do(request); err == nil {
			_ = answer.Body.Close()
		}
	}()
}

// A process that is killed while it makes a proposal leaves all of it or nothing, after the next look of the owner or the
// next call of the agent; the proposal then says which, and what is not made can be taken.
func TestAPageKilledWhileItMakesAProposal(t *testing.T) {
	const files = 40
	for _, after := range []int{0, 1, 3, files / 2, files - 1} { // files that are there when it is killed
		t.Run(fmt.Sprintf("after %d files", after), func(t *testing.T) {
			r := newProgram(t)
			r.Tables = "[agents.nightly]\ntier = \"v1\"\nallow-mutations = true\n"
			var operations []string
			for i := range files {
				operations = append(operations, fmt.Sprintf(`{"clientId": "o%d", "command": "create", "params": {"path": "Work/K%02d.md", "content": "text %d"}}`, i, i, i))
			}
			propose(r, `{"operations": [`+strings.Join(operations, ",")+`]}`)
			v, process := openToKill(r)
			_, rest, _ := strings.Cut(v.See("approvals"), "approvals/proposal/")
			code, _, _ := strings.Cut(rest, `"`)
			picks := url.Values{}
			for i := range files {
				picks.Add("pick", fmt.Sprint(i))
			}
			_, drawn := v.send(v.See("approvals/proposal/"+code), "approvals/draft", picks)
			made := func() int {
				found, _ := filepath.Glob(filepath.Join(r.Vault, "Work", "K*.md"))
				return len(found)
			}
			claimed := func() bool {
				heads, _ := filepath.Glob(filepath.Join(stateOf(r), "proposals", "*"))
				for _, head := range heads {
					if text, err := os.ReadFile(head); err == nil && strings.Contains(string(text), "being made") {
						return true
					}
				}
				return made() > 0
			}
			v.post(drawn, "approvals/take")
			harness.WaitFor(t, "the claim", claimed)
			harness.WaitFor(t, "the files", func() bool { return made() >= after })
			require.NoError(t, process.Process.Kill())
			_ = process.Wait() // it was killed

			next := open(r)
			view := next.See("approvals/proposal/" + code)
			taken := strings.Contains(view, "It does not wait any more: taken")
			t.Logf("killed after %d files: %d are made", after, made())
			switch {
			case taken:
				assert.Equal(t, made(), files, "it is taken: all of it")
			default:
				has(t, view, "Show what this does now")
				assert.Equal(t, made(), 0, "it waits: nothing of it")
				_, drawn = next.send(view, "approvals/draft", picks)
				_, body := next.send(drawn, "approvals/take", nil)
				has(t, body, fmt.Sprintf("Done: %d of %d operations.", files, files))
				assert.Equal(t, made(), files, "it can still be taken")
			}
			assert.Contains(t, r.Must("run", "--agent", "nightly", "approvals"), "taken")
		})
	}
}
