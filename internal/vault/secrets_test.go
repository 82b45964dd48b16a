package vault_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// twins are two vaults with the same notes: in one they have secrets, which the program
// redacts, in the other the marks of them, as plain text. Nothing that a caller does may tell
// them apart.
type twins struct {
	secret, plain *embedded.Vault
	marker        *guard.Marker
	left, shown   map[string]string // the files of both after the last call
}

func newTwins(t *testing.T, files map[string]string) *twins {
	w := &twins{marker: guard.NewMarker([]byte("key of the test"), false), secret: embedded.New(t, files)}
	shown := map[string]string{}
	for path, text := range files {
		shown[path] = string(w.marker.Redact([]byte(text)))
	}
	w.plain = embedded.New(t, shown)
	w.secret.Env[guard.Variable] = w.marker.String()
	for path := range files {
		then := time.Date(2026, 11, 1, 0, 0, len(path), 0, time.UTC)
		require.NoError(t, errors.Join(os.Chtimes(w.secret.File(path), then, then), os.Chtimes(w.plain.File(path), then, then)))
	}
	w.left, w.shown = w.secret.Texts(false), w.plain.Texts(false)
	return w
}

// varying is what differs between the two: what a plan has for the gateway alone, times, and the sizes of
// files. The hashes that callers are told are equal: they tell nothing of a secret.
var varying = regexp.MustCompile(`[0-9a-f]{64}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^\t\n"]*|\d{8}T\d{6}\.\d+Z-[0-9a-f]+|\b\d{13}\b`)

// sized are the commands whose answers have sizes, or versions with their size.
var sized = regexp.MustCompile(`^(attachments|attachment:read|file|folder|vault|vaults|history|diff)$`)

// sameBut compares what a command says in both, but for what varies.
func sameBut(command, a, b string) bool {
	but := varying
	if sized.MatchString(command) {
		but = regexp.MustCompile(varying.String() + `|\d+`)
	}
	return a == b || but.ReplaceAllString(a, "#") == but.ReplaceAllString(b, "#")
}

// do runs a call in both vaults, and compares the answers and all files. A call that writes the
// mark of a secret into another note is refused.
func (w *twins) do(args ...string) string {
	t := w.secret.T
	t.Helper()
	given := append([]string{call.FactsSwitch}, args...)
	args = slices.DeleteFunc(args, func(a string) bool { return a == call.PlanSwitch })
	status, out, said := w.secret.Run(given...)
	if strings.Contains(out, "is the mark of a secret of another note") || strings.Contains(out, "a secret would no longer be recognized") {
		require.That(t, maps.Equal(w.secret.Texts(false), w.left), "%q: refused with %d, and changed", args, status)
		require.That(t, status != answer.ExitDone, "%q: refused with %d, and changed", args, status)
		return out
	}
	plainStatus, plainOut, plainSaid := w.plain.Run(given...)
	require.Equal(t, status, plainStatus, "%q: %d %q\nwithout secrets: %d %q", args, status, out, plainStatus, plainOut)
	require.That(t, sameBut(args[0], out, plainOut), "%q: %d %q\nwithout secrets: %d %q", args, status, out, plainStatus, plainOut)
	require.That(t, sameBut(args[0], said, plainSaid), "%q: %q\nwithout secrets: %q", args, said, plainSaid)
	with, without := w.secret.Texts(false), w.plain.Texts(false)
	if !slices.Equal(slices.Sorted(maps.Keys(with)), slices.Sorted(maps.Keys(without))) {
		t.Fatalf("%q: files %q and %q", args, slices.Sorted(maps.Keys(with)), slices.Sorted(maps.Keys(without)))
	}
	for path, text := range with {
		if text == w.left[path] && without[path] == w.shown[path] {
			continue
		}
		shown := string(w.marker.Redact([]byte(text)))
		require.That(t, shown == without[path], "%q: %s is\n%s\nshown as\n%s\nwithout secrets\n%s", args, path, text, shown, without[path])
	}
	w.left, w.shown = with, without
	return out
}

// drawnToken returns a token of the form of GitHub's. The last one of it is never in a file.
func drawnToken(r *rand.Rand) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	var b strings.Builder
	for range 36 {
		b.WriteByte(letters[r.IntN(len(letters))])
	}
	return "ghp_" + b.String()
}

// secretFiles are notes with secrets in all places that a note has. Each secret is another one
// but for one that two notes share.
func secretFiles(r *rand.Rand) (files map[string]string, tokens []string) {
	token := func() string {
		tokens = append(tokens, drawnToken(r))
		return tokens[len(tokens)-1]
	}
	shared := token()
	key := token()[4:] + token()[4:]
	escaped := func() string { return `\u0067` + token()[1:] }
	return map[string]string{
		"Escaped.md": "---\ntitle: \"Escaped\\n" + token() + "\"\nother: \"\\x67" + token()[1:] + "\"\nlist: [\"x\\t" +
			token() + "\", plain]\npassphrase: >-\n  " + token()[4:20] + " horse\n  " + token()[4:20] +
			"\n---\n# Escaped [x](" + escaped() + ")\n" +
			"```json\n{\"a\": \"b\\n" + token() + "\", \"c\": \"" + escaped() + "\", \"password\": \"\\\"" +
			token()[4:20] + " horse\"}\n```\n- [ ] task [y](a%67" + token()[1:] +
			")\n\n| who | password |\n|---|---|\n| bob | " + token()[4:24] + " horse |\n",
		"Cards.canvas": `{"nodes":[{"id":"a","type":"text","text":"# Cards\n` + token() + `\n- [ ] do \"` + token() +
			`\" it","x":0,"y":0,"width":10,"height":10},` +
			`{"id":"b","type":"text","text":"-----BEGIN PRIVATE KEY-----\n` + key + `\n-----END PRIVATE KEY-----\n","x":0,"y":50,"width":10,"height":10},` +
			`{"id":"c","type":"link","url":"https:\/\/bob:` + token()[4:20] +
			`@host.test\/x","x":0,"y":90,"width":10,"height":10},{"id":"d","type":"group","label":"g\t` +
			escaped() +
			`","x":0,"y":130,"width":10,"height":10}],"edges":[{"id":"e","fromNode":"a","toNode":"b","label":"\n` +
			token() + `"}]}`,
		"config.json": "{\"a\":\"x\\n" + token() + "\",\"b\":\"" + escaped() + "\"}\n",
		"Wide.md":     wide("# Wide\n" + token() + "\n"), "Zero.md": "\x00# Zero\n" + token() + "\n",
		"A.md": "---\ntitle: Keys\napi: " + token() + "\nlist:\n  - " + token() +
			"\n  - plain\npassword: Zk7pQ2mVx\n---\n# Keys " + token() + "\nThe token " + shared +
			" opens the door.\n\n- [ ] rotate " + token() +
			" 📅 2026-11-25\n- [x] done\n\n## Part\n| name | value |\n|---|---|\n| key | " + token() +
			" |\n\n```\nexport A=" + token() + "\n```\nSee [[B|" + token() + "]] and `" + token() + "` ^block\n",
		"B.md": "# B\npostgres://app:Zk7pQ2mVx@db.local/x\n-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAx3Fq7Zk1l2m3n4o5\np6q7r8s9tUvWxYz0a1b2c3d4\n-----END RSA PRIVATE KEY-----\n" +
			shared + "\n[[A]] end\n",
		"Daily/2026-11-21.md": "today " + token() + "\n- [ ] call\n", "Templates/Form.md": "form {{date}}\n", "C.md": "no secret, [[A#Part]] and ![[B]]\n",
		"Board.canvas": `{"nodes":[{"id":"a","type":"text","text":"card ` + token() + `","x":0,"y":0,"width":10,"height":10}],"edges":[]}` + "\n",
		"All.base":     "views:\n  - type: table\n    name: Keys\n    filters: title == \"Keys\"\n    order: [file.name, api, list]\n",
		"words.txt":    "text " + token() + "\n",

		".obsidian/daily-notes.json": `{"folder":"Daily"}`, ".obsidian/templates.json": `{"folder":"Templates"}`,
		".obsidian/app.json": `{"alwaysUpdateLinks":true}`,
	}, tokens
}

// wide returns a text in UTF-16.
func wide(text string) string {
	var out strings.Builder
	for _, c := range []byte("\xff\xfe" + text) {
		if out.WriteByte(c); c < 0x80 {
			out.WriteByte(0)
		}
	}
	return out.String()
}

// TestReadsDoNotTellSecrets runs every reading command on every file, in every form, and
// searches for parts of secrets.
func TestReadsDoNotTellSecrets(t *testing.T) {
	files, tokens := secretFiles(rand.New(rand.NewPCG(29, 3)))
	w := newTwins(t, files)
	w.do("append", "path=A.md", "content=more") // so that there is a version
	calls := 0
	read := func(args ...string) {
		calls++
		out := w.do(args...)
		for _, token := range tokens {
			out := strings.ReplaceAll(out, "\x00", "")
			require.That(t, !strings.Contains(out, token[4:16]), "%q tells %s: %s", args, token, out)
		}
	}
	for _, row := range vault.Table() {
		if row.Writes() || slices.Contains([]string{"help", "version", "status"}, row.Name) {
			continue
		}
		forms := []string{""}
		given := map[string][]string{}
		for _, p := range paramsOf(row) {
			switch {
			case p.Name == "format":
				for _, choice := range p.Choices {
					forms = append(forms, "format="+choice)
				}
			case p.Name == "path":
				given["path"] = []string{"A.md", "B.md", "Board.canvas", "All.base", "words.txt", "Escaped.md",
					"Cards.canvas", "config.json", "Wide.md", "Zero.md"}
			case p.Name == "query":
				given["query"] = []string{"token", "Keys", tokens[0], tokens[1][:12], "/ghp_[A-Z]/", "MIIE"}
			case p.Required || p.Name == "name" || p.Name == "heading" || p.Name == "where":
				given[p.Name] = map[string][]string{"name": {"api", "list", "password", "Form", "A", "title", "other",
					"passphrase"}, "heading": {"Part", "Keys"},
					"expr":  {"api", "list", "file.links", "title + passphrase"},
					"where": {`api.contains("ghp")`, "api", "rank > 1"}, "from": {"2026-11-20"}, "version": {"1"},
					"ref": {"A.md:12"}, "period": {"day"}}[p.Name]
			}
		}
		combinations := [][]string{{row.Name}}
		for _, name := range slices.Sorted(maps.Keys(given)) {
			var more [][]string
			for _, c := range combinations {
				if len(given[name]) == 0 || name != "path" && name != "query" {
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
				if form != "" {
					c = append(slices.Clone(c[:len(c):len(c)]), form)
				}
				if c[0] == "random" || c[0] == "random:read" {
					c = append(c, "folder=Daily")
				}
				read(c...)
			}
		}
	}
	assert.That(t, calls >= 500, "%d calls", calls)
}

// TestWritesKeepSecrets has a caller that sees marks change notes with every writing command,
// with texts that were shown.
func TestWritesKeepSecrets(t *testing.T) {
	for seed := range uint64(testenv.Count(15, 40)) {
		r := rand.New(rand.NewPCG(29, seed))
		files, _ := secretFiles(r)
		w := newTwins(t, files)
		pick := func(all []string) string { return all[r.IntN(len(all))] }
		for range 25 {
			note := pick([]string{"A.md", "B.md", "C.md", "Daily/2026-11-21.md"})
			shown := w.shown[note]
			lines := strings.Split(strings.TrimSuffix(shown, "\n"), "\n")
			lines = slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, "BEGIN RSA") }) // text behind it is of the key
			n := r.IntN(len(lines))
			line, mark := strings.ReplaceAll(lines[n], `\`, `\\`), ""
			if marks := regexp.MustCompile(`‹[^›]*›`).FindAllString(shown, -1); len(marks) > 0 {
				mark = pick(marks)
			}
			foreign := "‹secret:github-pat:012345›"
			if r.IntN(5) == 0 { // the user changes the note, too
				text := w.left[note] + "later " + drawnToken(r) + "\n"
				w.secret.Put(note, text)
				w.plain.Put(note, string(w.marker.Redact([]byte(text))))
				w.left, w.shown = w.secret.Texts(false), w.plain.Texts(false)
				w.do("undo")
			}
			w.do([][]string{
				{"append", "path=" + note, "content=again " + mark}, {"prepend", "path=" + note, "content=first " + mark + " x"},
				{"note:replace", "path=" + note, "old=" + line, "new=new " + line + " end"}, {"note:replace", "path=" + note, "old=" + line, "new=it is gone"},
				{"note:insert", "path=" + note, fmt.Sprintf("lines=%d", n+1), "position=after", "content=between " + mark},
				{"note:set-section", "path=" + note, "heading=Part", "content=section " + mark + "\\nsecond"},
				{"property:set", "path=" + note, "name=copy", "value=" + mark},
				{"property:set", "path=" + note, "name=api", "value=plain"},
				{"property:remove", "path=" + note, "name=list"},
				{"create", "path=" + note, "overwrite", "content=" + strings.ReplaceAll(strings.ReplaceAll(shown, `\`, `\\`), "\n", "\\n") + "tail"},
				{"create", "path=New.md", "content=x " + foreign}, {"append", "path=C.md", "content=" + foreign},
				{"vault:replace", "old=The", "new=Der"}, {"vault:replace", "old=name", "new=label"},
				{"tag:rename", "name=x", "to=y"}, {"property:rename", "name=api", "to=api2"},
				{"heading:rename", "path=A.md", "heading=Part", "to=Piece"}, {"rename", "path=" + note, "name=Moved"},
				{"move", "path=Moved.md", "to=" + note}, {"delete", "path=" + note},
				{"daily:append", "content=daily " + mark}, {"task:add", "path=" + note, "content=check " + mark}, {"task", "ref=A.md:12", "done"},
				{"canvas:set", "path=Board.canvas", "id=a", "text=changed"},
				{"canvas:add", "path=Board.canvas", "text=new"}, {"undo"},
				{"history:restore", "path=" + note, "version=1"},
				{"copy", "path=" + note, "to=Copy.md"}, {"note:merge", "path=B.md", "into=A.md"},
				{"note:extract", "path=A.md", "heading=Part", "to=Part.md"}, {"note:split", "path=A.md", "level=2"},
				{"folder:copy", "path=Daily", "to=Days"}, {"folder:rename", "path=Daily", "name=Journal"},
				{"folder:rename", "path=Journal", "name=Daily"},
				{"property:add", "path=" + note, "name=list", "value=" + mark},
				{"property:remove-item", "path=" + note, "name=list", "value=plain"},
				{call.PlanSwitch, "append", "path=" + note, "content=plan " + mark}, {call.PlanSwitch, "delete", "path=" + note},
			}[r.IntN(38)]...)
		}
		for path, text := range w.left {
			require.That(t, !strings.Contains(text, "‹secret:"), "seed %d: %s has a mark: %s", seed, path, text)
		}
	}
}

// TestAnErrorInABaseDoesNotTellSecrets has a secret where an error of YAML names a text.
func TestAnErrorInABaseDoesNotTellSecrets(t *testing.T) {
	token := "ghp_" + "R8dk2Lx0PqW3mZt7YbN5cVj1HsA9fGe4UoTg"
	w := newTwins(t, map[string]string{"K.base": "formulas:\n  " + token + ": \"1\"\nviews:\n  - type: table\n    name: A\n"})
	mark := string(w.marker.Redact([]byte(token)))
	for _, content := range []string{
		"formulas:\n  " + mark + ": \"1\"\n  " + mark + ": \"2\"\n", "x: *" + mark + "\n", mark + ": [\n", "views: {" + mark + ": 1}\n",
	} {
		said := w.secret.Failure("create", "path=K.base", "content="+content, "overwrite").Reason
		assert.NotContains(t, said, token[4:], "%q", content)
		assert.Contains(t, said, "is not a base", "%q", content)
	}
}

// TestASecretIsNotExtended: text after a token would make it a longer one, which is not recognized.
func TestASecretIsNotExtended(t *testing.T) {
	token := "npm_" + strings.Repeat("a1B2c3D4e5F6", 3)
	w := newTwins(t, map[string]string{"2026-11-21.md": "key " + token, "A.md": "key " + token})
	for _, args := range [][]string{{"daily:append", "content=x", "inline"}, {"append", "path=A.md", "content=x", "inline"}} {
		assert.Contains(t, w.do(args...), "would no longer be recognized", "%q", args)
	}
	w.do("daily:append", "content=x")
	w.do("append", "path=A.md", "content= x", "inline")
	got := w.secret.Get("2026-11-21.md")
	assert.That(t, got == "key "+token+"\nx" || got == "key "+token+"\nx\n", "%q", got)
}

// TestATemplateDoesNotExposeItsSecrets: a token is recognized wherever a template puts it, a
// password only as a property at the start of a note.
func TestATemplateDoesNotExposeItsSecrets(t *testing.T) {
	token := drawnToken(rand.New(rand.NewPCG(29, 5)))
	w := newTwins(t, map[string]string{
		"Templates/Token.md":    "key " + token + " of {{title}}\n",
		"Templates/Password.md": "---\npassword: sunflower\n---\nform\n", "A.md": "# A\ntext\n",
		".obsidian/templates.json": `{"folder":"Templates"}`,
	})
	assert.Contains(t, w.do("template:read", "name=Token", "resolve"), "key ‹secret:github-pat:")
	w.do("template:insert", "path=A.md", "name=Token")
	assert.Contains(t, w.secret.Get("A.md"), token, "A.md")
	w.do("create", "path=B.md", "template=Password")
	assert.Equal(t, w.secret.Get("B.md"), "---\npassword: sunflower\n---\nform\n", "B.md")
	w.secret.Run("template:insert", "path=A.md", "name=Password") // where the note has no properties, those of the template are at its start
	w.secret.Run("template:insert", "path=B.md", "name=Password")
	for path, text := range w.secret.Texts(false) {
		assert.That(t, !strings.Contains(string(w.marker.Redact([]byte(text))), "sunflower"), "%s is %q", path, text)
	}
}

// TestASearchForSecretsIsCharged lets calls run out of steps while what they read is searched. What
// other calls share, such as the index, is right afterwards.
func TestASearchForSecretsIsCharged(t *testing.T) {
	slow := strings.Repeat("password: xy1 token| cloudflare key sk- AKIA ://a:b ey-\n", 2000)
	v := embedded.New(t, map[string]string{"Slow.md": slow + "[[Other]] needle\n", "Other.md": "- [ ] short password: s7nflower!\n"})
	v.Env[guard.Variable] = guard.NewMarker([]byte("key of the test"), false).String()
	standard := budget.Default.Steps
	defer func() { budget.Default.Steps = standard }()
	for _, test := range []struct{ line, slow, fast string }{
		{"read path=Slow.md", "takes more than 20000 steps", "needle"}, {"outline path=Slow.md", "takes more than 20000 steps", ""},
		{"search query=needle", "takes more than 20000 steps", "Slow.md"}, {"search:context query=needle", "takes more than 20000 steps", "needle"},
		{"append path=Slow.md content=more", "takes more than 20000 steps", "Appended to: Slow.md"},
		{"backlinks path=Other.md", "", "Slow.md"}, {"read path=Other.md", "", "‹secret:password:"},
		{"append path=Other.md content=more", "", "Appended to: Other.md"},
	} {
		before := v.Texts(false)
		budget.Default.Steps = 20000
		status, out, _ := v.Run(strings.Fields(test.line)...)
		if test.slow != "" && (status != answer.ExitFailed || !strings.Contains(out, test.slow) || !maps.Equal(v.Texts(false), before)) {
			t.Errorf("%s: %d %.200q", test.line, status, out[max(0, len(out)-200):])
		}
		budget.Default.Steps = standard
		status, out, _ = v.Run(strings.Fields(test.line)...)
		assert.Equal(t, status, answer.ExitDone, "%s", test.line)
		assert.Contains(t, out, test.fast, "%s", test.line)
	}
}

// A caller sees the mark of a secret as text, and may name a part of it: the secret stays, or goes
// as a whole, or nothing is changed.
func TestNoPartOfAMarkIsChanged(t *testing.T) {
	const note = "password: Zk7pQ2mVx secret\r\nmore"
	w := newTwins(t, map[string]string{"A.md": note})
	mark := strings.Fields(string(w.marker.Redact([]byte(note))))[1]
	digits := mark[len(mark)-len("000000›") : len(mark)-len("›")]
	for _, c := range []struct {
		args []string
		left string // what the note is then, "" for a change that is refused
	}{
		{[]string{"vault:replace", "old=secret", "new=hidden"}, "password: Zk7pQ2mVx hidden\r\nmore"},
		{[]string{"vault:replace", "old=password", "new=passphrase"}, "passphrase: Zk7pQ2mVx secret\r\nmore"},
		{[]string{"vault:replace", "old=" + digits, "new=x"}, note},
		{[]string{"vault:replace", "old=[‹›]", "remove", "regex"}, note},
		{[]string{"vault:replace", "old=$", "new=.", "regex"}, "password: Zk7pQ2mVx secret.\r\nmore."},
		{[]string{"vault:replace", "old= ‹.*› ", "new= none ", "regex"}, "password: none secret\r\nmore"},
		{[]string{"note:replace", "path=A.md", "old=: ‹secret", "new=: ‹hidden"}, ""},
		{[]string{"note:replace", "path=A.md", "old=" + digits, "new=x"}, ""},
		{[]string{"note:replace", "path=A.md", "old=" + digits, "new=000000"}, ""},
		{[]string{"note:replace", "path=A.md", "old=› secret", "new=x"}, ""},
		{[]string{"note:replace", "path=A.md", "old=" + mark[:len(mark)-len("00›")], "new=x"}, ""},
		{[]string{"note:replace", "path=A.md", "old=" + mark[len("‹se"):] + " ", "new=x"}, ""},
		{[]string{"note:replace", "path=A.md", "old=password: " + mark[:len(mark)-len("0›")], "new=x"}, ""},
		{[]string{"create", "path=A.md", "overwrite", "content=" + mark[:len(mark)-len("00›")]}, ""},
		{[]string{"note:replace", "path=A.md", "old=" + mark, "new=‹none›"}, "password: ‹none› secret\r\nmore"},
	} {
		w.secret.Put("A.md", note)
		_, said, _ := w.secret.Run(c.args...)
		left := w.secret.Get("A.md")
		want := c.left
		if refused := c.left == "" && strings.Contains(said, "secret"); refused {
			want = note
		}
		assert.Equal(t, left, want, "the note after %q, which says %q", c.args, said)
	}
}

// A model writes a mark back with other brackets, as an entity or an escape: the secret is put back. A mark that is
// written wrongly is refused, and nothing is changed.
func TestWhatIsNearlyAMarkIsPutBack(t *testing.T) {
	token := drawnToken(rand.New(rand.NewPCG(49, 1)))
	note := "---\napi: " + token + "\n---\n# A\nkey " + token + " end\n"
	board := `{"nodes":[{"id":"a","type":"text","text":"card\n` + token + `","x":0,"y":0,"width":10,"height":10}],"edges":[]}`
	w := newTwins(t, map[string]string{"A.md": note, "B.md": "none\n", "Board.canvas": board})
	mark := string(w.marker.Redact([]byte(token)))
	digits := mark[len(mark)-len("000000›") : len(mark)-len("›")]
	for _, form := range []string{
		"‹secret:github-pat:%s›", "<secret:github-pat:%s>", "secret:github-pat:%s", "«secret:github-pat:%s»",
		"&lsaquo;secret:github-pat:%s&rsaquo;", `\\u2039secret:github-pat:%s\\u203a`, "‹Secret: github-pat: %s›",
		"&lt;secret:github-pat:%s&gt;",
	} {
		near := fmt.Sprintf(form, digits)
		for _, c := range []struct {
			path string
			args []string
			left string
		}{
			{"A.md", []string{"create", "path=A.md", "overwrite",
				`content=---\napi: ` + near + `\n---\n# A\nnew key ` + near + ` end\n`},
				strings.Replace(note, "key", "new key", 1)},
			{"A.md", []string{"append", "path=A.md", "content=again " + near}, note + "again " + token + "\n"},
			{"A.md", []string{"note:replace", "path=A.md", "old=key " + mark + " end", "new=key " + near + ", it ends"},
				strings.Replace(note, " end", ", it ends", 1)},
			{"A.md", []string{"property:set", "path=A.md", "name=api", "value=" + near + " x"}, strings.Replace(note, "api: "+token, "api: "+token+" x", 1)},
			{"Board.canvas", []string{"canvas:set", "path=Board.canvas", "id=a", "text=new " + near}, ""},
			{"B.md", []string{"append", "path=B.md", "content=" + near}, "none\n"},
		} {
			w.secret.Put("A.md", note)
			w.secret.Put("B.md", "none\n")
			w.secret.Put("Board.canvas", board)
			_, said, _ := w.secret.Run(c.args...)
			left := w.secret.Get(c.path)
			if c.left == "" {
				assert.Contains(t, left, "new "+token, "%q: %s", c.args, said)
				continue
			}
			assert.Equal(t, strings.ReplaceAll(strings.TrimSuffix(left, "\n"), `"`, ""), strings.TrimSuffix(c.left, "\n"), "%q: %s", c.args, said)
		}
	}
	for _, wrong := range []string{"<secret:github-pat:000000>", "‹secret:github-pat›", "‹github-pat:" + digits + "›", "secret:github-pat:" + digits[:5]} {
		w.secret.Put("A.md", note)
		_, said, _ := w.secret.Run("note:replace", "path=A.md", "old=key "+mark+" end", "new=key "+wrong)
		assert.Contains(t, said, "secret", "%q", wrong)
		assert.Equal(t, w.secret.Get("A.md"), note, "%q: %s", wrong, said)
	}
}

// TestALargeFileWithASecretIsCopied: a file that is too large to be in memory is copied from the disk as it is.
func TestALargeFileWithASecretIsCopied(t *testing.T) {
	token := drawnToken(rand.New(rand.NewPCG(46, 1)))
	text := strings.Repeat("a line of text\n", 100_000) + "token " + token + "\n"
	w := newTwins(t, map[string]string{"big.txt": text})
	w.secret.Does("copy", "path=big.txt", "to=copy.txt")
	assert.That(t, w.secret.Get("copy.txt") == text, "the copy is another text")
}

// TestSettingsOfTheAppAreShownWithoutSecrets has secrets in bookmarks, which are no notes.
func TestSettingsOfTheAppAreShownWithoutSecrets(t *testing.T) {
	token := "ghp_" + "R8dk2Lx0PqW3mZt7YbN5cVj1HsA9fGe4UabC"
	v := embedded.New(t, map[string]string{
		"A.md": "# A\n",
		".obsidian/bookmarks.json": `{"items":[{"type":"group","title":"of \u0067` + token[1:] +
			`","items":[{"type":"file","path":"A.md","subpath":"#` + token + `","title":"a\n` + token +
			`"},{"type":"search","query":"` + token + `"},{"type":"url","url":"https:\/\/bob:Zk7pQ2mVx4@harbour.test\/"}]}]}`,
	})
	v.Env[guard.Variable] = guard.NewMarker([]byte("key of the test"), false).String()
	for _, words := range [][]string{{"bookmarks"}, {"bookmarks", "verbose"}, {"bookmarks", "format=json"}, {"bookmarks", "format=csv"}} {
		_, out, told := v.Run(words...)
		assert.That(t, strings.Contains(out, "‹secret:"), "%q: no mark in %q", words, out)
		assert.NotContains(t, out+told, token[4:20], "%q shows %q", words, out)
		assert.NotContains(t, out+told, "Zk7pQ2", "%q shows %q", words, out)
		assert.Contains(t, out, "A.md")
	}
}
