package handlers_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// withQuestions has notes of a household, one of each other kind of file, and an excluded folder.
func withQuestions(t *testing.T) *embedded.Vault {
	t.Helper()
	h := embedded.New(t, map[string]string{
		".obsidian/app.json":         `{"userIgnoreFilters":["Archive"]}`,
		".obsidian/daily-notes.json": `{"folder":"Daily"}`,
		"Money/Mortgage.md":          "---\naliases: [home loan]\ntags: [money]\nstatus: open\n---\n# Bank\nThe rate of the mortgage is fixed until 2031.\n\n# Notary\nThe notary keeps the deed.\n",
		"Money/Rent.md":              "---\nstatus: [closed, archived]\n---\nThe rent of the flat, not the mortgage of a bank. #money/flat\n",
		"House/Solar.md":             "# Roof\nThe photovoltaics make 9 kWp.\n## Insurance\nThe insurance of the roof ends in May.\n",
		"Daily/2026-11-20.md":        "Called the plumber.\n",
		"Plans.canvas":               `{"nodes":[{"id":"1","type":"text","text":"greenhouse with a pump","x":0,"y":0,"width":1,"height":1}],"edges":[]}`,
		"Books.base":                 "views: []\n",
		"Files/offer roofer.pdf":     "%PDF",
		"Files/receipt.pdf":          "%PDF",
		"Archive/Old.md":             "The mortgage of the old photovoltaics.\n",
	})
	old := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, name := range []string{"Money/Rent.md", "Files/receipt.pdf"} {
		require.NoError(t, os.Chtimes(h.File(name), old, old))
	}
	return h
}

// rowsOf returns the rows of an answer in JSON.
func rowsOf(h *embedded.Vault, args ...string) []map[string]any {
	h.T.Helper()
	status, out, _ := h.Run(append([]string{"find", "format=json"}, args...)...)
	var rows []map[string]any
	if err := json.Unmarshal([]byte(out), &rows); err != nil || status != answer.ExitDone {
		h.T.Fatalf("%q: status %d, %q, %v", args, status, out, err)
	}
	return rows
}

func TestFind(t *testing.T) {
	h := withQuestions(t)
	for _, test := range []struct {
		args string // separated by |
		want string // the paths
	}{
		{"query=mortage", "Money/Mortgage.md Money/Rent.md"},
		{"query=photovoltaics", "House/Solar.md"},
		{"query=greenhouse", "Plans.canvas"},
		{"query=books", "Books.base"},
		{"query=offer roofer", "Files/offer roofer.pdf"},
		{"query=plumber yesterday", "Daily/2026-11-20.md"},
		{`query="rate of the mortgage"`, "Money/Mortgage.md"},
		{`query="mortgage of the rate"`, ""},
		{"query=mortgage -rent", "Money/Mortgage.md"},
		{`query=mortgage -"of a bank"`, "Money/Mortgage.md"},
		{"query=mortgage tag:#money/flat", "Money/Rent.md"},
		{"query=mortgage path:Mortgage", "Money/Mortgage.md"},
		{"query=mortgage [status:open]", "Money/Mortgage.md"},
		{"query=mortgage|folder=House", ""},
		{"query=mortgage|folder=Money|limit=1", "Money/Mortgage.md"},
		{"query=mortgage|tag=money", "Money/Mortgage.md Money/Rent.md"},
		{"query=mortgage|tag=#Money/flat", "Money/Rent.md"},
		{"query=mortgage|path-glob=money/R*.md", "Money/Rent.md"},
		{"query=mortgage|path-glob=mone?/r**", "Money/Rent.md"},
		{"query=mortgage|path-glob=**/*gage.md", "Money/Mortgage.md"},
		{"query=mortgage|path-glob=*gage.md", ""},
		{"query=mortgage|property=status", "Money/Mortgage.md Money/Rent.md"},
		{"query=mortgage|property=status=Archived", "Money/Rent.md"},
		{"query=mortgage|property=none", ""},
		{"query=mortgage|since=2026-02-01", "Money/Mortgage.md"},
		{"query=offer roofer|since=2026-02-01", "Files/offer roofer.pdf"},
		{"query=receipt|since=2026-02-01", ""},
		{"query=receipt|since=2026-01-02", "Files/receipt.pdf"},
		{"query=roofer roof|type=note", "House/Solar.md"},
		{"query=roofer roof|type=attachment", "Files/offer roofer.pdf"},
		{"query=greenhouse pump|type=canvas", "Plans.canvas"},
		{"query=books|type=base", "Books.base"},
		{"query=quantum chromodynamics", ""},
		{"query=?!", ""},
	} {
		var paths []string
		for _, row := range rowsOf(h, strings.Split(test.args, "|")...) {
			paths = append(paths, row["path"].(string))
		}
		assert.Equal(t, strings.Join(paths, " "), test.want, "%s", test.args)
	}
}

func TestTheFormsOfFind(t *testing.T) {
	h := withQuestions(t)
	h.Expect(answer.ExitDone, "House/Solar.md:3\t# Insurance\t2.82\theading\n  ## **Insurance**\n", "find", "query=insurance", "context=0")
	long := strings.Repeat("beam ", 100)
	h.Put("House/Beams.md", long+"\nThe carpenter came.\n"+long+"\n\n"+long+"\n")
	short := strings.Repeat("beam ", 16) + "…"
	h.Expect(answer.ExitDone, "House/Beams.md:2\t0.85\n  "+short+"\n  The **carpenter** came.\n  "+short+"\n", "find", "query=carpenter")
	h.Expect(answer.ExitDone, "House/Beams.md:2\t0.85\n  The **carpenter** came.\n", "find", "query=carpenter", "context=0")
	_, out, _ := h.Run("find", "query=carpenter", "context=3")
	assert.Equal(t, strings.Count(out, "beam"), 3*48, "context=3")
	assert.Equal(t, strings.Count(out, "\n  …"), 0, "context=3")
	status, out, _ := h.Run("find", "query=mortage rate", "limit=1", "context=1")
	if status != answer.ExitDone || !strings.Contains(out, "Money/Mortgage.md:7\t# Bank\t") || !strings.Contains(out, `"mortgage", typo of "mortage"`) ||
		!strings.HasSuffix(out, "\n  # Bank\n  The **rate** of the **mortgage** is fixed until 2031.\n\n") &&
			!strings.HasSuffix(out, "\n  # Bank\n  The **rate** of the **mortgage** is fixed until 2031.\n") {
		t.Errorf("%d %q", status, out)
	}
	row := rowsOf(h, "query=mortgage rate", "context=0")[0]
	if row["heading"] != "Bank" || row["line"] != 7.0 ||
		row["snippet"] != "The **rate** of the **mortgage** is fixed until 2031." || row["score"].(float64) <= 0 {
		t.Errorf("%v", row)
	}
	h.Expect(answer.ExitDone, "Money/Mortgage.md:6\n# Bank\nThe rate of the mortgage is fixed until 2031.\n", "find", "query=mortgage rate", "budget=40")
	h.Expect(answer.ExitDone, "Plans.canvas\ngreenhouse with a pump\n", "find", "query=greenhouse", "budget=40")
	for _, format := range []string{"text", "json"} {
		for _, budget := range []int{1, 30, 60, 1500} {
			_, out, _ := h.Run("find", "query=mortgage", fmt.Sprintf("budget=%d", budget), "format="+format)
			most := max(3*budget, 120) + 1
			assert.That(t, len(out) <= most, "%d tokens as %s: %d bytes, %q", budget, format, len(out), out)
			assert.That(t, out != "", "%d tokens as %s: %d bytes, %q", budget, format, len(out), out)
		}
	}
	h.Expect(answer.ExitDone, "", "find", "query=quantum")
	h.Expect(answer.ExitDone, "[]\n", "find", "query=quantum", "format=json")
}

func TestOneCallOfFindAnswersAQuestion(t *testing.T) {
	archive := require.Value(txtar.ParseFile(filepath.Join("..", "ranking", "testdata", "english.txtar")))(t)
	h := embedded.New(t, nil)
	for _, f := range archive.Files {
		h.Put(f.Name, string(f.Data))
	}
	for question, want := range map[string]string{
		"until when is the interest of the home loan fixed?": "3.1 percent until 2031",
		"when is the deadline of my tax return":              "end of July",
		"who is the acountant":                               "Mrs Keller",
		"what helps against insomnia":                        "no screens after nine",
		"what did the heating enginer measure":               "45 degrees",
	} {
		status, out, _ := h.Run("find", "query="+question, "budget=1500")
		if status != answer.ExitDone || !strings.Contains(out, want) || len(out) > 1500*3 {
			t.Errorf("%s: status %d, %d bytes without %q: %.300s", question, status, len(out), want, out)
		}
	}
}

// What was found in another spelling, and what was tried in vain, is in the notice.
func TestFindSaysWhatItTried(t *testing.T) {
	h := withQuestions(t)
	for query, want := range map[string]string{
		"mortage":       `found "mortage" as "mortgage"`,
		"quantum":       `no match: no file contains "quantum"`,
		"insurantze":    `found "insurantze" as "insurance"`,
		"roff":          `found "roff" as "roof"`,
		"greenhoussses": `no match: no file contains "greenhoussses"; near words: greenhouse`,
		"quantum mortgage physics chromodynamics": `no match: no file contains "quantum" or "physics"`,
	} {
		_, _, said := h.Run("--facts", "find", "query="+query)
		assert.That(t, strings.Contains(said, strings.ReplaceAll(want, `"`, `\"`)), "%s: %q, want %q", query, said, want)
	}
}

func TestQueriesThatFindRefuses(t *testing.T) {
	h := withQuestions(t)
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"a megabyte":         {[]string{"query=" + strings.Repeat("x ", 1<<19)}, "Use at most 4096"},
		"many phrases":       {[]string{"query=" + strings.Repeat(`"a b" `, 9)}, "Use at most 8"},
		"operators alone":    {[]string{"query=tag:money -x"}, "no words"},
		"nothing":            {[]string{"query= "}, "no words"},
		"a wrong operator":   {[]string{"query=x tag:/(/"}, "query"},
		"a folder not there": {[]string{"query=x", "folder=Nowhere"}, `Folder "Nowhere" not found`},
		"a wrong date":       {[]string{"query=x", "since=someday"}, "someday"},
		"a long pattern":     {[]string{"query=x", "path-glob=" + strings.Repeat("*", 2000)}, "at most 1024 bytes"},
		"no limit":           {[]string{"query=x", "limit=0"}, "limit from 1 to 100"},
		"no budget":          {[]string{"query=x", "budget=20001"}, "budget from 1 to 20000"},
		"much context":       {[]string{"query=x", "context=11"}, "context from 0 to 10"},
	} {
		status, out, _ := h.Run(append([]string{"find"}, test.args...)...)
		assert.That(t, status != answer.ExitDone, "%s: %d %.300q", name, status, out)
		assert.Contains(t, out, test.want, "%s", name)
		assert.That(t, len(out) <= 1000, "%s: %d %.300q", name, status, out)
	}
}

// A hidden note changes no byte of an answer, whether rules or the file of patterns hide it.
func TestFindKnowsNothingOfHiddenNotes(t *testing.T) {
	queries := []string{"mortgage", "mortage", "photovoltaics roof", "secret", "secrte", "deed notary", "bank"}
	ask := func(h *embedded.Vault) (all string) {
		for _, query := range queries {
			for _, form := range []string{"format=text", "format=json", "budget=200"} {
				status, out, said := h.Run("--facts", "find", "query="+query, form)
				all += fmt.Sprintln(query, form, status, out, said)
			}
		}
		return all
	}
	for name, hide := range map[string]func(*embedded.Vault){
		"rules":    func(h *embedded.Vault) { h.Env[call.AccessVariable] = `[{"/":"r","Hidden":"none"}]` },
		"patterns": func(h *embedded.Vault) { h.Put(".vaultwicketignore", "Hidden/\n") },
	} {
		t.Run(name, func(t *testing.T) {
			h := withQuestions(t)
			hide(h)
			want := ask(h)
			for _, text := range []string{"secret mortgage [[Mortgage|the secret]]", strings.Repeat("mortgage bank photovoltaics secret ", 50)} {
				h.Put("Hidden/A.md", text)
				h.Put("Hidden/B.md", "# Roof\n"+text+"\n[[Solar|secret]] #money")
				got := ask(h)
				assert.That(t, got == want, "got  %s\nwant %s", got, want)
			}
		})
	}
}

// A worker answers as a process for one call does, before and after changes.
func TestFindInAWorker(t *testing.T) {
	h := withQuestions(t)
	h.Env["XDG_CACHE_HOME"], h.Env["LOCALAPPDATA"], h.Env["HOME"] = t.TempDir(), t.TempDir(), t.TempDir()
	h.Later = time.Hour
	w := h.Worker()
	expect := func(query string, want ...string) {
		t.Helper()
		id := w.Request(nil, "find", "query="+query)
		worker := w.Answers(1)[id].Stdout
		_, alone, _ := h.Run("find", "query="+query)
		assert.That(t, worker == alone, "%s: a worker says %q, a process %q", query, worker, alone)
		var paths []string
		for line := range strings.Lines(worker) {
			if !strings.HasPrefix(line, "  ") {
				path, _, _ := strings.Cut(line, ":")
				paths = append(paths, path)
			}
		}
		assert.That(t, slices.Equal(paths, want), "%s: %q, want %q", query, paths, want)
	}
	expect("photovoltaics", "House/Solar.md")
	does(w, "create", "path=New.md", "content=The heat pump of the neighbours.")
	expect("heat pumps neighbour", "New.md")
	does(w, "append", "path=New.md", "content=It is an aerothermal one.")
	expect("aerothermal", "New.md")
	does(w, "delete", "path=New.md")
	expect("aerothermal")
}

// does makes one call and waits for its end.
func does(w *embedded.Worker, words ...string) {
	w.T.Helper()
	id := w.Request(nil, words...)
	require.Equal(w.T, w.Answers(1)[id].End.Status, answer.ExitDone, "%q", words)
}

// embeddings is a server whose vectors say whether a text is about debts, and what it was sent.
func embeddings(t *testing.T) (address string, sent func() string, end func()) {
	t.Helper()
	var mu sync.Mutex
	var texts []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Input []string }
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&request))
		mu.Lock()
		defer mu.Unlock()
		texts = append(texts, request.Input...)
		var data []string
		for i, text := range request.Input {
			about := "[0,1]"
			if strings.Contains(text, "mortgage") || strings.Contains(text, "borrowed") {
				about = "[1,0]"
			}
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":%s}`, i, about))
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1 concepts", func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(texts, "\n")
	}, server.Close
}

// With a server for vectors a worker finds a note by other words, and sends no hidden and no excluded note.
// Without the server every answer is as before, and says so.
func TestFindByMeaning(t *testing.T) {
	h := withQuestions(t)
	h.Env["XDG_CACHE_HOME"], h.Env["LOCALAPPDATA"], h.Env["HOME"] = t.TempDir(), t.TempDir(), t.TempDir()
	h.Env[call.AccessVariable] = `[{"/":"r","Hidden":"none"}]`
	h.Env[guard.Variable] = guard.NewMarker([]byte("key of the test"), false).String()
	const token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	h.Put("Money/Account.md", "The token of the bank is "+token+".\n")
	h.Put("Hidden/Debts.md", "secret: I borrowed the mortgage.\n")
	h.Put("Money/Empty.md", "---\ntags: [money]\n---\n")
	h.Put(".vaultwicketignore", "Private/\n")
	h.Put("Private/Debts.md", "private: I borrowed the mortgage.\n")
	h.Later = time.Hour
	const query = "query=whom money was borrowed from"
	plain := map[string]string{}
	for _, q := range []string{query, "query=mortage", "query=insurance of the roof"} {
		_, plain[q], _ = h.Run("find", q)
	}
	address, sent, end := embeddings(t)
	h.Env[call.EmbeddingsVariable] = address
	w := h.Worker()
	does := func(words ...string) (stdout, stderr string) {
		id := w.Request(nil, append([]string{"--facts"}, words...)...)
		a := w.Answers(1)[id]
		return a.Stdout, a.Stderr
	}
	ask := func(query string) (stdout, stderr string) { return does("find", query) }
	out, said := ask(query)
	require.Contains(t, said, "without meaning: no note was compared so far", "before a note is compared")
	assert.Equal(t, out, plain[query], "before a note is compared")
	related := []string{"related", "path=Money/Mortgage.md"}
	near, nearSaid := "", "" // the oldest note is compared last
	assert.Await(20*time.Second, func() bool {
		near, nearSaid = does(related...)
		return strings.HasPrefix(near, "Money/Rent.md\twords mortgage, bank; similar meaning\n")
	})
	out, said = ask(query)
	assert.That(t, strings.HasPrefix(out, "Money/Mortgage.md:6\t# Bank\t"), "%q, %q", out, said)
	assert.That(t, !strings.Contains(out, "Debts"), "%q, %q", out, said)
	if texts := sent(); strings.Contains(texts, token) || !strings.Contains(texts, "The token of the bank") ||
		strings.Contains(texts, "secret: ") || strings.Contains(texts, "private") ||
		strings.Contains(texts, "Archive") || !strings.Contains(texts, "The notary keeps the deed") {
		t.Errorf("sent:\n%s", texts)
	}
	if !strings.HasPrefix(near, "Money/Rent.md\twords mortgage, bank; similar meaning\n") ||
		strings.Contains(near, "Debts") || strings.Contains(near, "Archive") ||
		strings.Contains(nearSaid, "without meaning") {
		t.Errorf("%q, %q", near, nearSaid)
	}
	h.Put("Hidden/Debts.md", "secret: another day.\n")
	h.Put("Private/Loan.md", "private: the mortgage that I borrowed.\n")
	end()
	for range 10 { // before and after the change is reported
		if out, said := does(related...); out != near || strings.Contains(said, "without meaning") {
			t.Errorf("after hidden notes changed, without the server: %q, %q, want %q", out, said, near)
		}
		time.Sleep(10 * time.Millisecond) // in which the change may be reported
	}
	out, said = does("related", "path=Money/Empty.md")
	delete(h.Env, call.EmbeddingsVariable)
	if _, alone, _ := h.Run("related", "path=Money/Empty.md"); out != alone ||
		!strings.HasPrefix(alone, "Money/Mortgage.md\ttags #money") ||
		!strings.Contains(said,
			"ranked by links, tags and words alone, without meaning: the note was not compared so far") {
		t.Errorf("a note without vectors: %q, %q, want %q", out, said, alone)
	}
	for q, want := range plain {
		if out, said := ask(q); out != want || !strings.Contains(said, "without meaning: no connection") {
			t.Errorf("%s without the server: %q, want %q, %q", q, out, want, said)
		}
	}
	saved, err := filepath.Glob(filepath.Join(ownerfiles.CacheFolder(func(name string) string { return h.Env[name] }, h.Dir), "*.vectors"))
	for _, name := range saved {
		data, err := os.ReadFile(name)
		require.Equal(t, err, nil, "%s has the names of hidden notes: %v", name, err)
		assert.That(t, !strings.Contains(string(data), "Debts"), "%s has the names of hidden notes: %v", name, err)
	}
	require.NoError(t, err)
	assert.Equal(t, len(saved), 1)
}

// Another machine is sent nothing unless the user approved it: find says what would be sent, and works without.
func TestFindAsksBeforeNotesAreSentElsewhere(t *testing.T) {
	h := withQuestions(t)
	h.Env[call.EmbeddingsVariable] = "http://10.1.2.3:9/v1 m"
	h.Expect(answer.ExitFailed, "Error: No server for vectors is set, or no worker stays that could use it.\n",
		"--write", "find:send", "host=10.1.2.3", "model=m", "sections=9")
	w := h.Worker()
	does := func(words ...string) (string, string) {
		id := w.Request(nil, append([]string{"--facts"}, words...)...)
		a := w.Answers(1)[id]
		return a.Stdout, a.Stderr
	}
	out, said := does("find", "query=photovoltaics")
	if !strings.HasPrefix(out, "House/Solar.md:2\t# Roof\t") || !strings.Contains(said, "the user has not approved") ||
		!strings.Contains(said,
			"10.1.2.3 would be sent up to 8 sections of notes: find:send host=10.1.2.3 model=m sections=8 asks the user") {
		t.Errorf("%q, %q", out, said)
	}
	out, said = does("--write", "find:send", "host=10.1.2.4", "model=m", "sections=9")
	assert.Contains(t, out+said, "is not the other machine of embeddings-url", "%q, %q", out, said)
	out, said = does("--write", "find:send", "host=10.1.2.3", "model=m", "sections=9")
	assert.That(t, out == "Sections are sent to: 10.1.2.3\n", "%q, %q", out, said)
	out, said = does("find", "query=photovoltaics")
	assert.That(t, !strings.Contains(said, "approve"), "%q, %q", out, said)
	assert.That(t, !strings.Contains(said, "find:send"), "%q, %q", out, said)
}

// A word that no note has is looked for in text files, and the answer says which texts were not searched.
func TestFindSaysWhatIsInOtherFiles(t *testing.T) {
	h := embedded.New(t, map[string]string{
		"a.md": "heat pump", "Data/costs.csv": "item,price\nChimney,500\n", "b.txt": "nothing",
		"c.canvas": `{"nodes":[{"type":"text","text":"gutter"}]}`, "scan.pdf": "%PDF-1.4", "x.docx": "PK",
		"pic.png": "\x89PNG",
	})
	const unsearched = `not searched: the text of 2 files (DOCX 1, PDF 1); attachment:text reads one`
	for query, want := range map[string]string{
		"chimney": `"chimney" is in "Data/costs.csv"; ` + unsearched,
		"quantum": `no file contains "quantum"; ` + unsearched,
	} {
		_, _, said := h.Run("--facts", "find", "query="+query)
		assert.That(t, strings.Contains(said, strings.ReplaceAll(want, `"`, `\"`)), "%s: %s", query, said)
	}
	h.Put("Data/names.csv", "Chimny,1\n") // which a note has with a typing error, and is a word of its own here
	h.Put("d.md", "the chimney smokes")
	_, _, guessed := h.Run("--facts", "find", "query=chimny")
	assert.Contains(t, guessed, `\"chimny\" is in \"Data/names.csv\"`)
	assert.That(t, !strings.Contains(guessed, "not searched"), "%s", guessed)
	_, out, said := h.Run("--facts", "find", "query=gutter")
	assert.That(t, strings.HasPrefix(out, "c.canvas"), "%s %s", out, said)
	assert.That(t, !strings.Contains(said, "not searched"), "%s %s", out, said)
}
