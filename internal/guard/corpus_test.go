package guard

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// line returns a line with the secret.
func (d drawn) line() string {
	d.secret = strings.TrimLeft(d.secret, "(=:,>")
	if d.before != "" {
		return d.before + "_key: " + d.secret
	}
	return d.secret
}

// TestWhatIsDecodedIsSearched puts secrets of all kinds into all places, in all spellings: what a decoder makes of
// the redacted text has none, the text is still one of the decoder, and is restored to the byte.
func TestWhatIsDecodedIsSearched(t *testing.T) {
	all := drawnFrom(t, testenv.Count(1, 4))
	m := NewMarker([]byte("key"), false)
	// A rule that has quotes, blanks or ends of lines in what is around its match is not for every place.
	total, missed := 0, map[string][]string{}
	for where, p := range fake.Places() {
		for _, d := range all {
			if strings.ContainsAny(d.secret, "\\\" \n%") { // other spellings of the same
				continue
			}
			total++
			raw := p.Put(d.line())
			shown := m.Redact([]byte(raw))
			assert.Equal(t, bytes.Count(shown, []byte("\n")), strings.Count(raw, "\n"), "%s: lines of %q", where, shown)
			text, err := string(shown), error(nil)
			if p.Decode != nil {
				text, err = p.Decode(text)
			}
			require.That(t, err == nil, "%s, %s: %q became %q: %v", where, d.kind, raw, shown, err)
			isShown := strings.Contains(text, d.secret[1:len(d.secret)-4])
			if where == "base64" {
				isShown = !HasMark(shown)
			}
			if isShown {
				missed[where] = append(missed[where], d.kind+" "+raw)
			}
			back, err := m.Restore(nil, []byte(raw))(shown)
			require.Equal(t, err, nil, "%s: %q became %q and %q", where, raw, shown, back)
			require.Equal(t, string(back), raw, "%s: %q became %q and %q", where, raw, shown, back)
		}
	}
	for where, kinds := range missed {
		t.Errorf("%s: %d are shown, such as %q", where, len(kinds), kinds[:min(len(kinds), 3)])
	}
	t.Logf("%d texts", total)
}

// TestAMarkIsTheSameInEverySpelling: the mark of a secret does not tell how it was written.
func TestAMarkIsTheSameInEverySpelling(t *testing.T) {
	m := NewMarker([]byte("key"), false)
	token := drawnToken(rand.New(rand.NewPCG(49, 1)))
	want := string(m.Redact([]byte(token)))
	for where, p := range fake.Places() {
		if p.Splits && where != "comment" && where != "NULs between" && !strings.HasPrefix(where, "UTF-16") {
			continue
		}
		raw := p.Put(token)
		shown := string(m.Redact([]byte(raw)))
		assert.Contains(t, shown, want, "%s: %q", where, raw)
	}
}

// drawnToken returns a token of the form of GitHub's.
func drawnToken(r *rand.Rand) string {
	var out strings.Builder
	for range 36 {
		out.WriteByte(letters[r.IntN(len(letters)-1)])
	}
	return "ghp_" + out.String()
}

// TestALongLineIsSearchedAcrossItsPieces has a token and a password at every place around the end of a piece of a
// long line, in JSON and as it is.
func TestALongLineIsSearchedAcrossItsPieces(t *testing.T) {
	m := NewMarker([]byte("key"), false)
	token := drawnToken(rand.New(rand.NewPCG(49, 2)))
	password := "Zk7" + "pQ2mVx9"
	step := 7
	if testenv.Count(0, 1) > 0 {
		step = 1
	}
	for _, secret := range []string{" " + token + " ", ` password: \"` + password + `\" `, `\n` + token + `\n`,
		` \u0067` + token[1:] + " ", " &#103;" + token[1:] + " ", " the password is " + password + " "} {
		for before := chunkSize - len(secret) - 3; before < chunkSize+3; before += step {
			for _, fill := range []string{"x ", "words/without\\n"} {
				line := strings.Repeat(fill, before/len(fill)+1)[:before] + secret + strings.Repeat("y ", lookAhead)
				shown := m.Redact([]byte(line))
				isShown := bytes.Contains(shown, []byte(token[8:20])) || bytes.Contains(shown, []byte(password))
				require.That(t, !isShown, "%q at %d", secret, before)
				read, err := io.ReadAll(m.Reader(iotest.HalfReader(strings.NewReader(line)), nil))
				require.Equal(t, err, nil, "%q at %d: a reader has other bytes", secret, before)
				require.That(t, bytes.Equal(read, shown), "%q at %d: a reader has other bytes", secret, before)
				back, err := m.Restore(nil, []byte(line))(shown)
				require.Equal(t, err, nil, "%q at %d: not restored", secret, before)
				require.Equal(t, string(back), line, "%q at %d: not restored", secret, before)
			}
		}
	}
}

// TestAPropertyIsASecretAsAWhole has the value of a property in each form of YAML.
func TestAPropertyIsASecretAsAWhole(t *testing.T) {
	m := NewMarker([]byte("key"), false)
	for _, name := range []string{"password", "Passwort", "passphrase", "db_password", "dbPassword", "wifi-password",
		"\"password\"", "'password'", "password (old)"} {
		for _, value := range []string{
			" correct horse battery staple", " \"correct horse battery staple\"", " 'correct horse battery staple'",
			" [correct, horse, \"battery staple\"]", " [correct,\n  horse battery,\n  staple]",
			" |\n  correct horse\n  battery staple", " >-\n  correct horse\n  battery\n\n  staple",
			" |2+\n   correct horse\n  battery staple\n", "\n  correct horse battery staple",
			"\n  - correct\n  - horse\n  - battery staple", "\n- correct\n- horse battery staple",
			" &a correct horse battery staple", " !!str correct horse battery staple",
			" !secret &x \"correct horse\n  battery staple\"", " correct horse\n  battery staple",
			" \"correct \\\n  horse battery staple\"", " \"correct\\thorse \\\"battery\\\" staple\"",
			" 'correct ''horse'' battery staple'", " {user: correct horse, more: [battery, staple]}",
			"\n  user: correct horse\n  more:\n    - battery staple",
			" correct horse battery staple # of the cellar", "\r\n  correct horse battery staple",
			" '!correct horse battery staple'", " \"@correct #horse: battery staple\"",
		} {
			for _, close := range []string{"\n", "\r\n"} {
				text := "---" + close + "title: a horse" + close + name + ":" + value + close + "tags: [stapled]" + close + "---" + close + "The text.\n"
				shown := string(m.Redact([]byte(text)))
				for _, word := range []string{"correct", "horse'", "horse ", "horse,", "battery", "staple\"", "staple'", "staple\r", "staple\n"} {
					_, after, _ := strings.Cut(shown, "title: a horse")
					assert.That(t, !strings.Contains(after, word), "%q is shown as %q", text, shown)
				}
				require.Contains(t, shown, "title: a horse", "%q is shown as %q", text, shown)
				require.Contains(t, shown, "tags: [stapled]", "%q is shown as %q", text, shown)
				require.Contains(t, shown, "The text.", "%q is shown as %q", text, shown)
				back, err := m.Restore(nil, []byte(text))([]byte(shown))
				require.Equal(t, err, nil, "%q became %q", text, back)
				require.Equal(t, string(back), text, "%q became %q", text, back)
				assert.Equal(t, string(m.Redact([]byte(shown))), shown)
			}
		}
	}
	assert.That(t, !strings.Contains(string(m.Redact([]byte("---\nshared: &p correct horse battery\npassword: *p\n---\n"))), "horse"), "an alias")
	assert.That(t, !strings.Contains(string(m.Redact([]byte("---\n{user: bob, password: correct horse, age: 7}\n---\n"))), "horse"), "in braces")
	assert.That(t, !strings.Contains(string(m.Redact([]byte("---\napi_key: |\n  8f3kD92mQx7LpZ4tVbN1\n---\n"))), "8f3kD"), "a key in a block")
	for _, text := range []string{
		"---\npassword: \"{{password}}\"\n---\n", "---\npassword:\n---\n", "---\npassword: required\n---\n",
		"---\ntitle: \"password: correct horse\"\n---\n", "---\npasswords are kept: elsewhere\nx: y\n---\n",
		"---\ntitle: x # password: correct horse\n---\n",
		"---\npassword: $DB_PASSWORD\n---\n", "---\npassword: \"[[The safe]]\"\n---\n", "---\ntoken: correct horse battery staple\n---\n",
	} {
		assert.Equal(t, string(m.Redact([]byte(text))), text)
	}
}

// TestAColumnOfSecrets has a table whose heading is the name of a secret.
func TestAColumnOfSecrets(t *testing.T) {
	m := NewMarker([]byte("key"), false)
	token := "8f3kD92mQx" + "7LpZ4tVbN1"
	for _, heading := range []string{"password", "**Password**", "Passwort", "Wifi password", "passphrase"} {
		text := "| who | " + heading +
			" | what |\n|---|:--:|---|\n| bob | correct horse | a door |\n| amy | `plain` | a gate |\n| joe | | none |\n\n| bob | correct |\n"
		shown := string(m.Redact([]byte(text)))
		assert.NotContains(t, shown, "correct horse")
		assert.NotContains(t, shown, "plain")
		assert.Contains(t, shown, "a door |\n| amy |", "%s", shown)
		assert.Contains(t, shown, "| joe | | none |\n\n| bob | correct |\n", "%s", shown)
		back, err := m.Restore(nil, []byte(text))([]byte(shown))
		require.NoError(t, err)
		assert.Equal(t, string(back), text)
	}
	shown := string(m.Redact([]byte("service | API key\n--- | ---\nmaps | " + token + "\nmail | none\n")))
	assert.NotContains(t, shown, token)
	assert.Contains(t, shown, "mail | none")
	for _, text := range []string{
		"| password | Password policy |\n|---|---|\n",
		"| Password policy | what |\n|---|---|\n| length | 12 letters |\n",
		"a password | is a word\nand | no table\n", "| token | meaning |\n|---|---|\n| word | a part of a text |\n",
	} {
		assert.Equal(t, string(m.Redact([]byte(text))), text)
	}
}

// TestAColumnEndsWithItsTable has two tables behind each other, of which the second begins where the first is over.
func TestAColumnEndsWithItsTable(t *testing.T) {
	m := NewMarker([]byte("key"), false)
	for _, text := range []string{
		"who,password\nbob,one horse\nwho,password,where\nbob,correct horse,pier\n",
		"| who | password |\n|---|---|\n| bob | one horse |\n\n| who | password |\n|---|---|\n| bob | correct horse |\n",
		"<table><tr><th>password</th></tr><tr><td>one horse</td></tr></table><table><tr><th>password</th></tr><tr><td>correct horse</td></tr></table>",
	} {
		shown := m.Redact([]byte(text))
		assert.Equal(t, len(Marks(shown)), 2, "marks in %s", shown)
		assert.Equal(t, bytes.Count(shown, []byte("horse")), 0, "horses in %s", shown)
	}
}

// pem returns the lines of a key that is drawn.
func pem(r *rand.Rand) (lines []string) {
	raw := make([]byte, 300+r.IntN(300))
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	text := base64.StdEncoding.EncodeToString(raw)
	for len(text) > 64 {
		lines = append(lines, text[:64])
		text = text[64:]
	}
	return append(lines, text)
}

// TestAPrivateKeyInAnyLayout has a key in code, in lists, in tables, in one line, with headers, without an end.
func TestAPrivateKeyInAnyLayout(t *testing.T) {
	r := rand.New(rand.NewPCG(49, 3))
	m := NewMarker([]byte("key"), false)
	each := func(lines []string, form string) string {
		var out strings.Builder
		for i, line := range lines {
			out.WriteString(strings.NewReplacer("%n", fmt.Sprint(i+1), "%s", line).Replace(form))
		}
		return out.String()
	}
	layouts := map[string]func(begin, end string, key []string) string{
		"block":       func(b, e string, k []string) string { return b + "\n" + each(k, "%s\n") + e + "\n" },
		"block, CRLF": func(b, e string, k []string) string { return b + "\r\n" + each(k, "%s\r\n") + e + "\r\n" },
		"indented": func(b, e string, k []string) string {
			return "key: |\n  " + b + "\n" + each(k, "  %s\n") + "  " + e + "\n"
		},
		"quote": func(b, e string, k []string) string { return "> " + b + "\n" + each(k, "> %s\n") + "> " + e + "\n" },
		"code, joined": func(b, e string, k []string) string {
			return `k := "` + b + `\n" +` + "\n" + each(k, "\t\"%s\\n\" +\n") + "\t\"" + e + "\"\n"
		},
		"code, list": func(b, e string, k []string) string {
			return "[\"" + b + "\",\n" + each(k, " '%s',\n") + " \"" + e + "\"]\n"
		},
		"list":     func(b, e string, k []string) string { return "- " + b + "\n" + each(k, "- %s\n") + "- " + e + "\n" },
		"numbered": func(b, e string, k []string) string { return "1. " + b + "\n" + each(k, "%n. %s\n") + "9. " + e + "\n" },
		"lines of a file": func(b, e string, k []string) string {
			return "  1\t" + b + "\n" + each(k, "  %n\t%s\n") + " 99\t" + e + "\n"
		},
		"table": func(b, e string, k []string) string {
			return "| key |\n|---|\n| " + b + "<br>" + each(k, "%s<br>") + e + " |\n"
		},
		"rows of a table": func(b, e string, k []string) string {
			return "| key |\n|---|\n| " + b + " |\n" + each(k, "| %s |\n") + "| " + e + " |\n"
		},
		"one line":         func(b, e string, k []string) string { return b + " " + each(k, "%s ") + e + "\n" },
		"one line, joined": func(b, e string, k []string) string { return "KEY=\"" + b + strings.Join(k, "") + e + "\"\n" },
		"JSON":             func(b, e string, k []string) string { return fake.QuotedJSON(b+"\n"+each(k, "%s\n")+e+"\n") + "\n" },
		"JSON twice": func(b, e string, k []string) string {
			return fake.QuotedJSON(fake.QuotedJSON(b + "\n" + each(k, "%s\n") + e + "\n"))
		},
		"escapes": func(b, e string, k []string) string {
			return "KEY=" + b + `\n` + strings.Join(k, `\n`) + `\n` + e + "\n"
		},
		"with a version": func(b, e string, k []string) string {
			return b + "\nVersion: GnuPG v2\nComment: of the boat\n\n" + each(k, "%s\n") + e + "\n"
		},
		"encrypted": func(b, e string, k []string) string {
			return b + "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011223344556677\n\n" + each(k, "%s\n") + e + "\n"
		},
		"encrypted, list": func(b, e string, k []string) string {
			return "- " + b + "\n- Proc-Type: 4,ENCRYPTED\n" + each(k, "- %s\n") + "- " + e + "\n"
		},
		"encrypted, line": func(b, e string, k []string) string {
			return b + " Proc-Type: 4,ENCRYPTED " + each(k, "%s ") + e + "\n"
		},
		"no end": func(b, e string, k []string) string { return b + "\n" + each(k, "%s\n") + "\nThe text goes on here.\n" },
		"no end, list": func(b, e string, k []string) string {
			return "- " + b + "\n" + each(k, "- %s\n") + "- The text goes on here.\n"
		},
		"no end, code": func(b, e string, k []string) string {
			return "\"" + b + "\\n\"\n" + each(k, "\"%s\\n\"\n") + "The text goes on here.\n"
		},
		"no end, one line": func(b, e string, k []string) string { return b + " " + each(k, "%s ") + "\nThe text goes on here.\n" },
		"no end, header": func(b, e string, k []string) string {
			return b + "\nVersion: 1\n\n" + each(k, "%s\n") + "The text goes on here.\n"
		},
	}
	for where, lay := range layouts {
		for _, kind := range []string{"RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK",
			"EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY"} {
			key := pem(r)
			text := lay("-----BEGIN "+kind+"-----", "-----END "+kind+"-----", key)
			requireKeyHidden(t, m, where, text, key)
		}
	}
	key := pem(r)
	for where, text := range map[string]string{
		"PuTTY": "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: boat\nPublic-Lines: 1\nAAAAC3NzaC1lZDI1NTE5\nPrivate-Lines: " +
			fmt.Sprint(len(key)) + "\n" + strings.Join(key, "\n") + "\nPrivate-MAC: 0011\n",
		"PuTTY list": "- Private-Lines: 3\n- " + strings.Join(key, "\n- ") + "\n- Private-MAC: 0011\n",
		"PuTTY, JSON": fake.QuotedJSON("Private-Lines: 3\r\n" + strings.Join(key,
			"\r\n") + "\r\nPrivate-MAC: 00\r\n"),
		"SSH2": "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: \"boat\"\n" + strings.Join(key, "\n") + "\n---- END SSH2 ENCRYPTED PRIVATE KEY ----\n",
	} {
		requireKeyHidden(t, m, where, text, key)
	}
	for _, text := range []string{
		"A key begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----, with lines between.\n",
		"-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n",
		"Look for `-----BEGIN RSA PRIVATE KEY-----` in the file.\nIt is the first line of a key.\n",
		"-----BEGIN CERTIFICATE-----\n" + strings.Join(key, "\n") + "\n-----END CERTIFICATE-----\n",
	} {
		assert.Equal(t, string(m.Redact([]byte(text))), text)
	}
}

func requireKeyHidden(t *testing.T, m *Marker, where, text string, key []string) {
	t.Helper()
	shown := string(m.Redact([]byte(text)))
	for _, line := range key {
		assert.That(t, len(line) < 4 || !strings.Contains(shown, line[:4]), "%s: %q is shown: %s", where, line, shown)
	}
	if strings.Contains(text, "The text") {
		assert.Contains(t, shown, "The text goes on here.", where)
	}
	assert.Equal(t, json.Valid([]byte(shown)), json.Valid([]byte(text)), "%s: JSON", where)
	back, err := m.Restore(nil, []byte(text))([]byte(shown))
	require.Equal(t, err, nil, "%s: %q became %q", where, text, back)
	require.Equal(t, string(back), text, "%s: %q became %q", where, text, back)
}

// TestASecretKeepsTheSpellingOfItsPlace: what is not changed is restored to the byte.
func TestASecretKeepsTheSpellingOfItsPlace(t *testing.T) {
	m := NewMarker([]byte("key"), false)
	token := drawnToken(rand.New(rand.NewPCG(49, 4)))
	escaped := `\u0067` + token[1:]
	text := []byte("a " + token + "\n\"" + escaped + "\"\n" + token + "\n")
	shown := m.Redact(text)
	back, err := m.Restore(nil, text)(append([]byte("first\n"), shown...))
	require.NoError(t, err)
	assert.Equal(t, string(back), "first\n"+string(text))
	lines := bytes.SplitAfter(shown, []byte("\n"))
	back, err = m.Restore(nil, text)(bytes.Join(slices.Insert(lines, 1, lines[1]), nil)) // it is there once more
	require.Equal(t, err, nil, "%q", back)
	assert.That(t,
		bytes.Equal(m.Redact(back), bytes.Join(slices.Insert(bytes.SplitAfter(shown, []byte("\n")), 1, lines[1]), nil)),
		"%q", back)
}

// nearForms are how models write a mark of a kind and some digits: all of them are put back.
var nearForms = []string{
	"‹secret:%k:%d›", "<secret:%k:%d>", "secret:%k:%d", "«secret:%k:%d»", "&lsaquo;secret:%k:%d&rsaquo;",
	`\u2039secret:%k:%d\u203a`, `\\u2039secret:%k:%d\\u203A`, "&lt;secret:%k:%d&gt;", `\<secret:%k:%d\>`,
	`\u003csecret:%k:%d\u003e`,
	"‹ secret:%k:%d ›", "‹Secret:%k:%d›", "<SECRET:%k:%d>", "‹secret: %k: %d›", `‹secret\:%k\:%d›`,
	"&#8249;secret:%k:%d&#8250;", "&#x2039;secret:%k:%d&#x203A;", "%E2%80%B9secret:%k:%d%E2%80%BA",
	"⟨secret:%k:%d⟩", "＜secret:%k:%d＞",
	"‹secret:%k:%d", "secret:%k:%d›", "&laquo;secret:%k:%d&raquo;", "‹secret:%k:%D›", "‹secret：%k：%d›", "<secret%3A%k%3A%d>",
}

// wrongForms are marks of which a part is missing or wrong: they are refused where the mark is gone.
var wrongForms = []string{"‹secret:%k:%c›", "<secret:%k:%c>", "secret:%k:%c", "‹secret:%k›", "‹secret›", "‹%k:%d›",
	"‹secret:%k:%d0›", "secret %d", "<secret>", "‹secret:%d›"}

func spellMark(form, mark string) string {
	digits := mark[len(mark)-digitsOfMark-len("›") : len(mark)-len("›")]
	kind := mark[len(markPrefix) : len(mark)-digitsOfMark-len(":›")]
	other := "0"
	if digits[0] == '0' {
		other = "1"
	}
	return strings.NewReplacer("%k", kind, "%d", digits, "%D", strings.ToUpper(digits), "%c", other+digits[1:]).Replace(form)
}

// TestNoSecretIsLost draws edits of texts with marks, with what is nearly a mark, and with what is wrong: a secret is
// put back, or the change is refused. What has no mark in it stays as it is.
func TestNoSecretIsLost(t *testing.T) {
	r := rand.New(rand.NewPCG(49, 5))
	m := NewMarker([]byte("key"), false)
	for n := range testenv.Count(400, 4000) {
		token, other := drawnToken(r), drawnToken(r)
		kinds := fake.Places()
		names := slices.Sorted(maps.Keys(kinds))
		where := names[r.IntN(len(names))]
		if kinds[where].Splits { // the mark is no text there, or several
			where = "item"
		}
		raw := []byte(kinds[where].Put(token) + "\nthe other: " + other + "\n")
		shown := m.Redact(raw)
		mark := string(m.Redact([]byte(token)))
		require.That(t, bytes.Contains(shown, []byte(mark)), "%s: %q", where, shown)
		forms, isNear := nearForms, r.IntN(3) > 0
		if !isNear {
			forms = wrongForms
		}
		form := forms[r.IntN(len(forms))]
		edited := bytes.Replace(shown, []byte(mark), []byte(spellMark(form, mark)), 1)
		secrets := m.Restorer(nil, raw)
		marked, err := secrets.Marked(edited)
		if err == nil && Cuts(shown, marked) {
			err = ErrExposed
		}
		if err == nil {
			marked, err = secrets.Restored(marked)
		}
		back := marked
		switch {
		case isNear:
			require.Equal(t, err, nil, "%d, %s, %q: %q became %q", n, where, form, edited, back)
			require.That(t, bytes.Equal(back, raw), "%d, %s, %q: %q became %q", n, where, form, edited, back)
		default:
			require.That(t, err != nil, "%d, %s, %q: %q became %q", n, where, form, edited, back)
		}
	}
	secrets := m.Restorer(nil, []byte("key "+drawnToken(r)))
	for _, text := range []string{"the secret: it is a deed", "a secret:sauce:recipe", "secret: the: face",
		"client_secret:github-pat:aaaaaa", "<secret>x</secret>"} {
		marked, err := secrets.Marked([]byte(text))
		require.Equal(t, err, nil, "%q became %q", text, marked)
		assert.Equal(t, string(marked), text, "%q became %q", text, marked)
	}
}
