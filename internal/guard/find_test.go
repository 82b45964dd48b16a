package guard

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/pelletier/go-toml/v2"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// sample draws a text that matches re, letters and digits before other bytes.
func sample(re *syntax.Regexp, r *rand.Rand, b *strings.Builder) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		var plain, all []rune
		for i := 0; i < len(re.Rune); i += 2 {
			for c := re.Rune[i]; c <= re.Rune[i+1] && c < 127; c++ {
				if c > ' ' {
					all = append(all, c)
				}
				if c < 128 && isWord(byte(c)) && c != '_' {
					plain = append(plain, c)
				}
			}
		}
		if len(plain) == 0 {
			plain = all
		}
		if len(plain) > 0 {
			b.WriteRune(plain[r.IntN(len(plain))])
		}
	case syntax.OpAnyCharNotNL:
		b.WriteByte('.')
	case syntax.OpCapture:
		sample(re.Sub[0], r, b)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			sample(sub, r, b)
		}
	case syntax.OpAlternate:
		sample(re.Sub[r.IntN(len(re.Sub))], r, b)
	case syntax.OpRepeat:
		for range re.Min + r.IntN(max(1, min(re.Max, re.Min+20)-re.Min+1)) {
			sample(re.Sub[0], r, b)
		}
	case syntax.OpPlus:
		for range 20 {
			sample(re.Sub[0], r, b)
		}
	}
}

// drawn is a secret of a kind, with the name of its service where its rule wants one.
type drawn struct{ kind, before, secret string }

// drawnFrom draws secrets of each rule of the file: by its own pattern, not by the one of
// the table.
func drawnFrom(t *testing.T, each int) (all []drawn) {
	t.Helper()
	text := require.Value(os.ReadFile("testdata/gitleaks.toml"))(t)
	var file struct{ Rules []source }
	require.NoError(t, toml.Unmarshal(text, &file))
	taken := map[string]bool{}
	for i := range table {
		taken[table[i].kind] = true
	}
	r := rand.New(rand.NewPCG(29, 1))
	for _, rule := range file.Rules {
		if !taken[rule.ID] {
			continue
		}
		pattern := strings.NewReplacer(`[\w.-]{0,50}?`, "", "(?:[\\x60'\"\\s;]|\\\\[nr]|$)", "", `(?:[ \t\w.-]{0,20})`,
			"", `[\s'"]{0,3}`, "", `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)`, "=", "[\\x60'\"\\s=]{0,5}",
			"").Replace(rule.Regex)
		parsed, err := syntax.Parse(pattern, syntax.Perl)
		require.That(t, err == nil, "%s: %v", rule.ID, err)
		whole := regexp.MustCompile(rule.Regex)
		for n := 0; n < each; {
			var b strings.Builder
			sample(parsed, r, &b)
			d := drawn{kind: rule.ID, secret: strings.TrimRight(b.String(), " ;,)'\"`<")}
			if strings.Contains(rule.Regex, `(?:[ \t\w.-]{0,20})`) {
				name, value, found := strings.Cut(d.secret, "=")
				if found {
					d.before, d.secret = name, value
				}
			}
			if !whole.MatchString(" "+d.before+d.equals()+d.secret+" ") ||
				entropyOf([]byte(d.secret)) < max(rule.Entropy, 3) || d.before != "" && !isMixed([]byte(d.secret)) {
				if r.IntN(400) == 0 {
					t.Logf("%s: %q%q is not matched by its own rule", rule.ID, d.before, d.secret)
					n++
				}
				continue
			}
			all = append(all, d)
			n++
		}
	}
	return all
}

func (d drawn) equals() string {
	if d.before == "" {
		return ""
	}
	return " = "
}

// contexts put a secret into a note. The name of a service is in front of the value.
var contexts = map[string]func(d drawn) string{
	"sentence": func(d drawn) string {
		return "The new one, see above " + d.before + d.equals() + d.secret + ". It works.\n"
	},
	"property":  func(d drawn) string { return "---\ntitle: x\n" + name(d) + ": " + d.secret + "\n---\ntext\n" },
	"quoted":    func(d drawn) string { return "- " + name(d) + ": \"" + d.secret + "\",\n" },
	"code":      func(d drawn) string { return "```sh\nexport " + name(d) + "=" + d.secret + "\n```\n" },
	"code span": func(d drawn) string { return "**" + name(d) + "**: `" + d.secret + "`\n" },
	"table":     func(d drawn) string { return "| what | value |\n|---|---|\n| " + name(d) + " | " + d.secret + " |\n" },
	"end":       func(d drawn) string { return name(d) + "=" + d.secret },
	"address":   func(d drawn) string { return "<https://example.org/a?x=1&" + name(d) + "=" + d.secret + "&y=2>\n" },
	"JSON":      func(d drawn) string { return `{"a":1,"` + name(d) + `":"` + d.secret + `","b":[2]}` },
	"base64": func(d drawn) string {
		return "data " + base64.StdEncoding.EncodeToString([]byte(name(d)+"="+d.secret+"\n")) + " end\n"
	},
	"continued": func(d drawn) string {
		n := len(d.secret) - 6
		return name(d) + "=" + d.secret[:n] + "\\\n" + d.secret[n:] + "\nmore\n"
	},
	"parentheses": func(d drawn) string { return "(" + name(d) + ": " + d.secret + ")\n" },
}

func name(d drawn) string {
	if d.before != "" {
		return d.before + "_key"
	}
	return "value"
}

// atLeast is how much of what is drawn is found, by context. A token that a line end divides
// is not found if its keyword is not at its beginning.
var atLeast = map[string]float64{"continued": 0.96, "address": 0.99}

func TestRecall(t *testing.T) {
	all := drawnFrom(t, 4)
	kinds := map[string]bool{}
	m := NewMarker([]byte("key"), false)
	for where, put := range contexts {
		missed := 0
		for _, d := range all {
			kinds[d.kind] = true
			note, hidden := put(d), d.secret
			switch where {
			case "continued":
				hidden = d.secret[:len(d.secret)-6]
			case "base64":
				hidden = base64.StdEncoding.EncodeToString([]byte(name(d) + "=" + d.secret + "\n"))[:24]
			}
			out := m.Redact([]byte(note))
			if strings.Contains(string(out), hidden) {
				missed++
				assert.That(t, atLeast[where] != 0, "%s: %s is not found in %q", where, d.kind, note)
			}
			assert.That(t, strings.Count(string(out), "\n") == strings.Count(note, "\n"), "%s: %q became %q: other lines", where, note, out)
			back, err := m.Restore(nil, []byte(note))(out)
			require.Equal(t, err, nil, "%s: %q became %q and %q", where, note, out, back)
			require.Equal(t, string(back), note, "%s: %q became %q and %q", where, note, out, back)
		}
		if found := 1 - float64(missed)/float64(len(all)); found < atLeast[where] {
			t.Errorf("%s: %.3f is found, want %.2f", where, found, atLeast[where])
		}
	}
	assert.That(t, len(all) >= 700, "%d secrets of %d kinds", len(all), len(kinds))
	assert.That(t, len(kinds) >= 180, "%d secrets of %d kinds", len(all), len(kinds))
}

func TestOwnRules(t *testing.T) {
	const pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAx3Fq7\nZk1l2m3n4o5p6q7r8s9t\n-----END RSA PRIVATE KEY-----\n"
	for text, want := range map[string]string{
		pem:      "private-key private-key",
		pem[:60]: "private-key private-key", // cut off
		"> " + strings.ReplaceAll(pem, "\n", "\n> "):                                        "private-key private-key",
		`{"private_key": "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n"}`: "private-key",
		"postgres://app:Zk7pQ2mV@db.local/x":                                                "password-in-url",
		"see https://user:password@example.org":                                             "", "ssh://git@host:22/x": "", "a://b:$PASS@host": "",
		"---\npassword: sunflower\nother: x\n---\n": "password", "password: sunflower": "password",
		"Password: `s7nflower!`": "password", "**Password:** s7nflower!": "password",
		"__Password:__ `s7nflower!`": "password", "**Password:** required": "",
		"| Password | s7nflower! |": "password",
		"password: required":        "", "password: \"{{password}}\"": "", "the password is in the safe": "",
		"Authorization: Bearer abcDEF123ghiJKL456mnoPQR": "authorization",
		"Authorization: Basic dXNlcjpwYXNzd29yZDE=":      "authorization", "Basic knowledge of biology12345": "",
		"client_secret = 8f3kD92mQx7LpZ4tVbN1": "secret", "API key: 8f3kD92mQx7LpZ4tVbN1": "secret",
		"api key: see-the-wiki-page-about-it-2": "", "token: https://example.org/a1b2c3d4e5f6": "",
		"TOKEN=$TOKEN_FROM_ENV_12": "",
	} {
		var kinds []string
		for _, f := range Find([]byte(text), Secrets) {
			kinds = append(kinds, f.Kind)
		}
		assert.Equal(t, strings.Join(kinds, " "), want, "%q", text)
	}
}

func TestNumbersOfCardsAndAccounts(t *testing.T) {
	const text = "card 4111 1111 1111 1111, IBAN DE89 3704 0044 0532 0130 00; not 4111 1111 1111 1112, DE88 3704 0044 0532 0130 00, 2026-11-25 1234567890123"
	got := string(NewMarker([]byte("key"), true).Redact([]byte(text)))
	if strings.Count(got, "‹secret:card-number:") != 1 || strings.Count(got, "‹secret:iban:") != 1 ||
		strings.Contains(got, "4111 1111 1111 1111") || strings.Contains(got, "DE89") {
		t.Error(got)
	}
	assert.Equal(t, string(NewMarker([]byte("key"), false).Redact([]byte(text))), text)
}

// The number of an account ends where its country has it end, whatever is written behind it.
func TestANumberOfAnAccountEndsByItsCountry(t *testing.T) {
	m := NewMarker([]byte("key"), true)
	for text, want := range map[string]string{
		"BE68 5390 0754 7034 BIC GEBABEBB":                    "‹› BIC GEBABEBB",
		"IBAN BE68539007547034 END":                           "IBAN ‹› END",
		"AT61 1904 3002 3457 3201 AND MORE":                   "‹› AND MORE",
		"ES91 2100 0418 4502 0005 1332 BANK OF ALL":           "‹› BANK OF ALL",
		"DE89 3704 0044 0532 0130 00, DE89370400440532013000": "‹›, ‹›",
		"BE68 5390 0754 7035 BIC":                             "BE68 5390 0754 7035 BIC", // another check digit
		"BE68 5390 0754 70":                                   "BE68 5390 0754 70",
		"BE685390075470341":                                   "BE685390075470341",
		"SA12 KEYS OPEN DOOR WIDE NOW":                        "SA12 KEYS OPEN DOOR WIDE NOW",
	} {
		got := regexp.MustCompile(`‹secret:iban:[0-9a-f]+›`).ReplaceAllString(string(m.Redact([]byte(text))), "‹›")
		assert.Equal(t, got, want, "%q", text)
	}
}

func TestInnocentTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 2))
	hex := func(n int) string { return fmt.Sprintf("%0*x", n, r.Uint64())[:n] }
	words := strings.Fields("lorem ipsum token key secret password dolor github stripe sentry cloudflare commit release twitter linear sit amet consectetur adipiscing elit")
	word := func() string { return words[r.IntN(len(words))] }
	forms := []func() string{
		func() string { return "commit " + hex(16) + hex(16) + hex(8) + " " + word() },
		func() string { return "id " + hex(8) + "-" + hex(4) + "-" + hex(4) + "-" + hex(4) + "-" + hex(12) },
		func() string { return "sha256:" + hex(16) + hex(16) + hex(16) + hex(16) },
		func() string {
			return "The " + word() + " " + word() + ": " + word() + ", " + word() + " and " + word() + "."
		},
		func() string {
			return "- [ ] rotate the " + word() + " " + word() + " by 2026-11-" + fmt.Sprint(10+r.IntN(20))
		},
		func() string {
			return "![](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA" + strings.ToUpper(hex(16)) + hex(16) + "==)"
		},
		func() string { return "export " + strings.ToUpper(word()) + "_TOKEN=<your-token-here>" },
		func() string { return word() + "_key: ${{ secrets." + strings.ToUpper(word()) + " }}" },
		func() string { return "https://" + word() + ".example.org/" + word() + "/" + hex(12) + "?page=2" },
		func() string { return "| " + word() + " | " + fmt.Sprint(r.IntN(1e9)) + " | " + word() + " |" },
	}
	found := 0
	for i := range 2000 {
		note := forms[i%len(forms)]()
		if spans := Find([]byte(note), SecretsAndNumbers); len(spans) > 0 {
			found++
			t.Logf("%s in %q", spans[0].Kind, note)
		}
	}
	assert.That(t, found <= 2, "%d of 2,000 innocent texts have secrets", found)
}

func TestMarks(t *testing.T) {
	m := NewMarker([]byte("key"), false)
	const secret = "ghp_R8dk2Lx0PqW3mZt7YbN5cVj1HsA9fGe4UoT6"
	note := []byte("a " + secret + " b ‹secret:github-pat:000000› " + secret)
	shown := m.Redact(note)
	n := len(Kinds(string(shown)))
	require.Equal(t, n, 1, "%s has %d kinds", shown, n)
	require.That(t, !bytes.Contains(shown, []byte(secret)), "%s has %d kinds", shown, n)
	again := m.Redact(shown)
	assert.That(t, bytes.Equal(again, shown), "redacted twice: %s", again)
	// What is written is the text as it was shown, changed around the marks.
	changed := bytes.ToUpper([]byte("x")) // no mark
	got, err := m.Restore(nil, note)(append(changed, shown...))
	require.NoError(t, err)
	assert.Equal(t, string(got), "X"+string(note))
	var unknown *UnknownMark
	_, err = m.Restore(nil, note)([]byte("‹secret:github-pat:111111›"))
	require.That(t, errors.As(err, &unknown), "%v", err)
	assert.Equal(t, unknown.Mark, "‹secret:github-pat:111111›", "%v", err)
	_, err = m.Restore(nil, []byte("another note"))(shown)
	assert.That(t, errors.As(err, &unknown), "%v", err)
	other, err := ParseMarker(m.String())
	require.Equal(t, err, nil, "read again")
	assert.That(t, bytes.Equal(other.Redact(note), shown), "read again")
	for _, text := range []string{"redact", "redact:", "redact:zz", "allow:00", ":00"} {
		_, err := ParseMarker(text)
		assert.That(t, err != nil, "%q was read", text)
	}
	withNUL := append([]byte{0}, note...)
	assert.Equal(t, string(m.Redact(withNUL)), "\x00"+string(shown))
	var none *Marker
	assert.Equal(t, &none.Redact(note)[0], &note[0], "the nil marker changes texts")
	assert.Equal(t, none.String(), "", "the nil marker changes texts")
}

func TestALargeTextIsReadAsItIsRedacted(t *testing.T) {
	m := NewMarker([]byte("key"), false)
	const secret = "ghp_R8dk2Lx0PqW3mZt7YbN5cVj1HsA9fGe4UoT6"
	pem := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEAx3Fq7Zk1l2m3n4o5p6q7\n", 40) + "-----END PRIVATE KEY-----\n"
	for _, fill := range []int{0, chunkSize - 700, chunkSize - 20, chunkSize + 1} {
		note := "---\npassword: sunflower\n---\n" + strings.Repeat("x",
			fill%80) + "\n" + strings.Repeat("a line of text, "+strings.Repeat("y", 63)+"\n",
			fill/80) + secret + "\n" + pem + strings.Repeat("z "+secret+"\n", 7000)
		shown := m.Redact([]byte(note))
		read, err := io.ReadAll(m.Reader(iotest.HalfReader(strings.NewReader(note)), nil))
		require.Equal(t, err, nil, "%d: a reader has %d bytes, want %d", fill, len(read), len(shown))
		require.That(t, bytes.Equal(read, shown), "%d: a reader has %d bytes, want %d", fill, len(read), len(shown))
		if bytes.Contains(shown, []byte(secret)) || bytes.Contains(shown, []byte("MIIEpAIB")) || bytes.Contains(shown, []byte("sunflower")) {
			t.Errorf("%d: a secret is shown", fill)
		}
		back, err := m.Restore(nil, []byte(note))(shown)
		require.Equal(t, err, nil, "%d: not restored", fill)
		assert.Equal(t, string(back), note, "%d: not restored", fill)
	}
	withNUL := append(bytes.Repeat([]byte{0}, 10), bytes.Repeat([]byte(secret+"\n"), 20000)...)
	read, err := io.ReadAll(m.Reader(bytes.NewReader(withNUL), nil))
	require.Equal(t, err, nil, "a NUL byte turns redaction off")
	assert.That(t, !bytes.Contains(read, []byte(secret)), "a NUL byte turns redaction off")
	read, err = io.ReadAll(m.Reader(iotest.ErrReader(io.ErrUnexpectedEOF), nil))
	assert.That(t, err == io.ErrUnexpectedEOF, "an error: %q, %v", read, err)
	assert.Equal(t, len(read), 0, "an error: %q, %v", read, err)
}

func TestKeywordsAreFound(t *testing.T) {
	words := []string{"\x00", "é", "\n", "x", "_", "  "}
	for _, r := range allRules() {
		words = append(words, r.keywords...)
	}
	for rules := signRules(); len(rules) > 0; rules = rules[1:] {
		words = append(words, rules[0].keywords...)
	}
	r := rand.New(rand.NewPCG(29, 4))
	for _, k := range []*keywords{secretWords(), signWords()} {
		for range testenv.Count(100, 400) {
			var text []byte
			for range r.IntN(12) {
				word := words[r.IntN(len(words))]
				if word = word[:1+r.IntN(len(word))]; r.IntN(2) == 0 {
					word = strings.ToUpper(word)
				}
				text = append(text, word...)
			}
			var got, want []string
			k.each(text, func(r *rule, at, end int) bool {
				got = append(got, fmt.Sprint(at, end, r.kind))
				return true
			})
			for at := range text {
				for _, word := range slices.Concat(k.short, k.words) {
					end := at + len(word.text)
					if end > len(text) || len(word.text) < 3 && string(text[at:end]) != word.text ||
						strings.Map(lowerASCII, string(text[at:end])) != strings.Map(lowerASCII, word.text) ||
						k.onlyAtWordStart && at > 0 && isWord(text[at]) && isWord(text[at-1]) {
						continue
					}
					isInWord := len(word.text) < 3 && word.isWhole && at > 0 && isWord(text[at-1])
					if isInWord { // no rule of it matches there
						continue
					}
					for _, r := range word.rules {
						want = append(want, fmt.Sprint(at, end, r.kind))
					}
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			require.That(t, slices.Equal(got, want), "%q: %q, want %q", text, got, want)
		}
	}
}

func lowerASCII(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		r |= 0x20
	}
	return r
}

// BenchmarkFind searches text in which every second word may begin a secret, and one in which
// none does.
func BenchmarkFind(b *testing.B) {
	for name, line := range map[string]string{"prose": "The boat was painted in the spring and sold before the summer.\n",
		"keywords": "password: xy1 token| cloudflare key sk- AKIA ://a:b ey-\n"} {
		text := bytes.Repeat([]byte(line), 1<<20/len(line))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Find(text, Secrets)
			}
		})
	}
}

func TestASearchIsCharged(t *testing.T) {
	m := NewMarker([]byte("key"), true)
	for name, line := range map[string]string{
		"keywords": "password: xy1 token| cloudflare key sk- AKIA ://a:b ey-\n",
		"services": "cloudflare=twitter=sonar=", "tokens": "ghp_", "continued": "ghp_R8dk2Lx0PqW3\\\n",
		"keys": "-----BEGIN PRIVATE KEY-----\n", "base64": "Z2hwX1I4ZGsyTHgwUHFXM21adDdZYk41Y1ZqMUhzQTlmR2U0VW9UNg ",
	} {
		text := bytes.Repeat([]byte(line), 128<<10/len(line))
		steps, most := int64(0), int64(len(text))/50
		spend := func(n int64) error {
			if steps += n; steps > most {
				return io.ErrShortBuffer
			}
			return nil
		}
		shown, err := m.RedactWithin(text, spend)
		assert.That(t, err == io.ErrShortBuffer, "%s: %d steps, %d bytes, %v", name, steps, len(shown), err)
		assert.That(t, shown == nil, "%s: %d steps, %d bytes, %v", name, steps, len(shown), err)
		assert.That(t, steps <= most+longestToken, "%s: %d steps, %d bytes, %v", name, steps, len(shown), err)
		steps = 0
		shown, err = io.ReadAll(m.Reader(bytes.NewReader(text), spend))
		assert.That(t, err == io.ErrShortBuffer, "%s, read: %d steps, %d bytes, %v", name, steps, len(shown), err)
		assert.That(t, int64(len(shown)) <= int64(len(text)),
			"%s, read: %d steps, %d bytes, %v", name, steps, len(shown), err)
		steps = 0
		back, err := m.Restore(spend, text)([]byte("‹secret:github-pat:000000›"))
		assert.That(t, err == io.ErrShortBuffer, "%s, restored: %d steps, %d bytes, %v", name, steps, len(back), err)
		assert.That(t, back == nil, "%s, restored: %d steps, %d bytes, %v", name, steps, len(back), err)
	}
	prose, steps := bytes.Repeat([]byte("The boat was painted in the spring and sold before the summer.\n"), 1<<14), int64(0)
	_, err := m.RedactWithin(prose, func(n int64) error { steps += n; return nil })
	require.Equal(t, err, nil, "prose: %d steps", steps)
	assert.That(t, steps <= int64(len(prose))/500, "prose: %d steps", steps)
}

func FuzzMarks(f *testing.F) {
	f.Add([]byte("a ghp_R8dk2Lx0PqW3mZt7YbN5cVj1HsA9fGe4UoT6\\\nb password: x1y2z3a4\n"))
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\r\nMIIE\r\n"))
	m := NewMarker([]byte("key"), true)
	f.Fuzz(func(t *testing.T, note []byte) {
		shown := m.Redact(note)
		require.That(t, bytes.Count(shown, []byte("\n")) == bytes.Count(note, []byte("\n")), "%q became %q", note, shown)
		back, err := m.Restore(nil, note)(shown)
		require.Equal(t, err, nil, "%q became %q and %q", note, shown, back)
		require.That(t, bytes.Equal(back, note), "%q became %q and %q", note, shown, back)
	})
}
