package search

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dlclark/regexp2/v2"
	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestRegexesMeanWhatTheyDoInJavaScript(t *testing.T) {
	for _, c := range []struct {
		regex, text string
		want        bool
	}{
		{`/a.c/`, "abc", true}, {`/a.c/`, "a\nc", false}, {`/a.c/`, "a\rc", false}, {`/a.c/`, "a\u2028c", false}, {`/a.c/s`, "a\nc", true},
		{`/^b$/`, "a\nb\nc", true}, {`/^b$/`, "a\r\nb\r\nc", true}, {`/^b$/`, "a\u2029b\u2028", true}, {`/^b$/`, "ab", false}, {`/a\nb/`, "a\nb", true},
		{`/\d{2}/`, "12", true}, {`/\d/`, "٣", false}, {`/\D/`, "٣", true}, {`/\w/`, "é", false}, {`/[\w]/`, "_", true}, {`/\W/`, "é", true},
		{`/a\sb/`, "a\u00a0b", true}, {`/a\sb/`, "a\ufeffb", true}, {`/a\Sb/`, "a\u00a0b", false}, {`/a[\s,]b/`, "a\u3000b", true}, {`/a[\S]b/`, "axb", true},
		{`/\bart\b/`, "the art.", true}, {`/\bart\b/`, "party", false}, {`/\Bart/`, "party", true}, {`/\bé/`, "é", false},
		{`/k/`, "\u212a", false}, {`/[a-z]/`, "\u212a", false}, {`/k/u`, "\u212a", true}, {`/s/`, "ſ", false}, {`/K/`, "k", true}, {`/[K]/`, "k", true},
		{`/[a-f]+x/`, "ABX", true}, {`/[^a]/`, "A", false}, {`/[+-Z]+/`, "q", true}, {`/é/`, "É", true},
		{`/Ж/`, "ж", true}, {`/σ/`, "ς", true}, {`/ß/`, "ẞ", false}, {`/[é]/`, "É", true},
		{`/[а-я]/`, "Ж", true}, {`/日+/`, "日日", true}, {`/ÿ/`, "Ÿ", true}, {`/ı/`, "I", false}, {`/µ/`, "Μ", true},
		{`/(?=b)b/`, "b", true}, {`/a(?!b)/`, "ab", false}, {`/(?<=a)b/`, "ab", true}, {`/(?<!a)b/`, "ab", false},
		{`/(.)\1/`, "aa", true}, {`/(.)\1/`, "ab", false}, {`/(?<x>.)\k<x>/`, "aa", true}, {`/(?<x>a)b/`, "ab", true},
		{`/(?:a|b)c/`, "bc", true}, {`/(?i:A)b/`, "ab", true},
		{`/a{2}/`, "aa", true}, {`/^a{2,}$/`, "aaa", true}, {`/^a{1,2}$/`, "aaa", false}, {`/a{,3}/`, "a{,3}", true},
		{`/{/`, "{", true}, {`/a{/`, "a{", true}, {`/a{1/`, "a{1", true}, {`/}]/`, "}]", true},
		{`/^a{1001}$/`, strings.Repeat("a", 1001), true}, {`/\//`, "/", true}, {`/\./`, "a", false},
		{`/[.]/`, "a", false}, {`/[\]\\]/`, "]", true}, {`/[\b]/`, "\b", true},
		{`/\x41\u0042/`, "ab", true}, {`/\u{61}/u`, "a", true}, {`/\x4/`, "x4", true}, {`/\u00zz/`, "u00zz", true},
		{`/\ud83d/`, "x", false}, {`/\p{Lu}/u`, "É", true}, {`/\cA/`, "\x01", true}, {`/\q/`, "q", true},
		{`/\t\v\f\r/`, "\t\v\f\r", true},
		{`/[]/`, "a", false}, {`/[^]/`, "\n", true}, {`/[[:alpha:]]/`, "a]", true}, {`/[a-]/`, "-", true},
		{`/[\w-x]/`, "-", true}, {`/[a-\d]/`, "-", true}, {`/[\d]/`, "5", true}, {`/[^\d]/`, "5", false},
		{`/[\B]/`, "B", true},
		{`/a+?b*?c??/`, "a", true}, {`/a|/`, "zzz", true}, {`/x{2}y{0}z/`, "xxz", true}, {`/ab?c/`, "ac", true},
		{`/a\+b/`, "a+b", true}, {`/foo(bar)?baz/`, "foobaz", true},
		{`/^.$/`, "😀", true}, {`/\u2028/`, "\u2028", true}, {`/[\x00-\x1f]/`, "\n", true}, {`/[ -~]/`, "~", true},
		{`/a/`, "\xff\xfea", true}, {`/(?=.)a.\Wb/`, "ax-b", true}, {`/(?=.)a.\Sb/s`, "a\nxb", true},
		{`/(?=.)\D\S/`, "5 ", false},
	} {
		q, err := ParseQuery("content:"+c.regex, QueryOptions{})
		if err != nil {
			t.Error(err)
			continue
		}
		assert.Equal(t, q.Match(&fakeNote{path: "n.md", text: []byte(c.text)}), c.want, "%s in %q", c.regex, c.text)
		spellingsAgree(t, q, c.text)
	}
}

// spellingsAgree checks a text with the regex as it is written, too.
func spellingsAgree(t *testing.T, q *Query, text string) {
	t.Helper()
	re := q.root.(*operator).node.(*term).pattern.(*regexTerm)
	options := regexp2.ECMAScript | regexp2.Multiline | regexp2.IgnoreCase
	if strings.Contains(re.flags, "u") {
		options |= regexp2.Unicode
	}
	if strings.Contains(re.flags, "s") {
		options |= regexp2.Singleline
	}
	want, _ := regexp2.MustCompile(re.body, options).MatchString(text)
	got, err := re.full().MatchString(text)
	assert.NoError(t, err, "%s in %q: spelt cheaply %v, as written %v (%v)", re.body, text, got, want, err)
	assert.Equal(t, got, want, "%s in %q: spelt cheaply %v, as written %v (%v)", re.body, text, got, want, err)
}

func TestTextThatARegexRequires(t *testing.T) {
	for source, want := range map[string]string{
		"abc": "abc", "abc+d": "abc", "abc?d": "ab", "abc*": "ab", "ab|cd": "", "(ab)cde": "cde", "(?!ab)cde": "cde", "a{10,20}bc": "bc", "ab{2}": "",
		`ab\.c`: "ab.c", `a\dbc`: "bc", `a\u0041bc`: "", `\x41bc`: "", "[abc]de": "de", "a": "", `a\(b`: "a(b", "^ab$": "ab", "abé": "ab", "a{b": "",
	} {
		got := ""
		if n := requiredText(source, matchCase); n != nil {
			got = string(n.text)
		}
		assert.Equal(t, got, want, "%s requires", source)
	}
}

// A regex that takes too long ends the search, whichever engine has it.
func TestSlowRegexEndsTheSearch(t *testing.T) {
	for _, regex := range []string{`(?=a)(a+)+!$`, `(?:[a-z ]{1,90}){9}Q1`} {
		b := budget.New(budget.Limits{Match: time.Millisecond})
		q := mustParse(t, "-/"+regex+"/", QueryOptions{Budget: b})
		n := &fakeNote{path: "n.md", text: []byte(strings.Repeat("a", 100_000) + "!Q1")}
		for range 3 {
			if q.Match(n) || len(q.Lines(n)) > 0 || q.Match(&fakeNote{path: "a"}) {
				t.Fatalf("%s matches after it was stopped: %v", regex, q.Err())
			}
		}
		var over *budget.Overrun
		if !errors.As(q.Err(), &over) || over.Code() != "timeout" || over.Hint() == "" || !strings.Contains(over.Error(), regex) {
			t.Errorf("error %v", q.Err())
		}
	}
}

// A long text is matched in windows, with the places that it has as a whole.
func TestPlacesInALongText(t *testing.T) {
	line := strings.Repeat("é", 100) + " word 17\n"
	text := strings.Repeat(line, 3*maxWindow/len(line)) + strings.Repeat("ab", maxWindow) + "\nend"
	uses := budget.New(budget.Limits{Match: time.Hour})
	for _, source := range []string{`\w+ 17$`, `^`, `(?<=word )\d+`, `\n\S+ w`, `(?:ab){7}`, `a$`, `^b`, `\Bab$`, `d\b|x+`, `end$`, `nothing`} {
		re := require.Value(newRegex(source, "", matchCase))(t)
		want := require.Value(regexp2.MustCompile(source, regexp2.ECMAScript|regexp2.Multiline).FindAllStringIndex(text, -1))(t)
		for _, many := range []bool{false, true} {
			var found [][]int
			re.find(uses, []byte(text), extent(many), func(start, end int) verdict {
				found = append(found, []int{start, end})
				return take
			})
			want := want[:min(len(want), map[bool]int{false: 1, true: maxLines}[many])]
			require.That(t, slices.EqualFunc(found, want, slices.Equal), "%s: %d places, want %d", source, len(found), len(want))
		}
	}
}

func TestRandomRegexes(t *testing.T) {
	pieces := []string{
		"a", "b", "K", "é", "ß", "ſ", "İ", "日", ".", `\w`, `\W`, `\s`, `\S`, `\d`, `\D`, `\b`, `\B`, "[a-k]", "[^a]",
		`[^\s]`, `[\W_]`, "[é-]", "(", "(?:", "(?<n>", ")", "|",
		"*", "+", "?", "+?", "{2}", "{1,2}", "{", "}", "]", "^", "$", `\n`, `\.`, `\x61`, `\u212a`, "ab", "-", " ",
	}
	rapid.Check(t, func(t *rapid.T) {
		source := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 7).Draw(t, "regex"), "")
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "A", "b", "k", "\u212a", "é", "É", "ß", "ẞ",
			"s", "ſ", "i", "İ", "日", "1", "_", ".", "-", " ", "\u00a0", "\n", "\r", "\u2028", "{", "}", "]"}), 0,
			12).Draw(t, "text"), "")
		exact, flags := rapid.Bool().Draw(t, "exact"), rapid.SampledFrom([]string{"", "s", "i"}).Draw(t, "flags")
		re, err := newRegex(source, flags, letterCase(exact))
		if err != nil {
			return
		}
		options := regexp2.ECMAScript | regexp2.Multiline
		if !exact || flags == "i" {
			options |= regexp2.IgnoreCase
		}
		if flags == "s" {
			options |= regexp2.Singleline
		}
		want := require.Value(regexp2.MustCompile(source, options).FindAllStringIndex(text, -1))(t)
		var found [][]int
		re.each(budget.New(budget.Limits{}), []byte(text), func(start, end int) verdict {
			found = append(found, []int{start, end})
			return take
		})
		// At an empty place the engines differ in what they try next.
		empty := slices.ContainsFunc(append(want, found...), func(p []int) bool { return p[0] == p[1] })
		if (len(found) > 0) != (len(want) > 0) || !empty && !reflect.DeepEqual(found, want) {
			t.Fatalf("%q in %q: %v, want %v", source, text, found, want)
		}
	})
}
