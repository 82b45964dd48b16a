package guard

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// left are the rules of the file that are not taken, with the reason.
var left = map[string]string{
	"generic-api-key":        "any common word with a long value: one page of documentation in twenty has one",
	"curl-auth-header":       "the scanner has a rule for headers of its own",
	"curl-auth-user":         "covered by the rule for user:password in addresses and by the rules of tokens",
	"facebook-access-token":  "its keyword is not part of the match",
	"kubernetes-secret-yaml": "spans any number of lines",
	"private-key":            "written by hand, because a key can be cut off",
	"nuget-config-password":  "for a file that no vault has", "freemius-secret-key": "for a file that no vault has", "pkcs12-file": "no pattern",
	"dropbox-api-token": "15 letters after a common word", "confluent-access-token": "16 letters after a word", "airtable-api-key": "17 letters after a word",
	"sidekiq-secret": "covered by user:password", "sidekiq-sensitive-url": "covered by user:password",
	"twilio-api-key": "two letters and a hash", "sourcegraph-access-token": "any 40 hex digits in a note with the name",
	"jwt-base64": "base64 is decoded before it is searched",
}

// otherKeywords replace those of rules whose keyword is not where the match begins, or of another case.
var otherKeywords = map[string][]string{
	"airtable-personnal-access-token": {"pat"}, "openai-api-key": {"sk-"}, "azure-ad-client-secret": {"Q~"},
}

type source struct {
	ID, Regex   string
	Entropy     float64
	Keywords    []string
	SecretGroup int `toml:"secretGroup"`
	Allowlists  []struct{ Regexes []string }
}

// convert makes a row of the scanner from a rule of the file, "" with the reason if the
// rule cannot be one.
func convert(s source) (row string, err error) {
	pattern := s.Regex
	contextual := strings.Contains(pattern, `(?:[ \t\w.-]{0,20})`) // a value assigned to the name of a service
	pattern = strings.ReplaceAll(pattern, `[\w.-]{0,50}?`, "")
	// In Markdown a value also ends before ), ], |, *, a point or a comma, and follows
	// its name in a table, in quotes and in code.
	pattern = strings.ReplaceAll(pattern, "(?:[\\x60'\"\\s;]|\\\\[nr]|$)", `(?:[^\w-]|$)`)
	pattern = strings.ReplaceAll(pattern, "(?:[\\x60'\"\\s;]|\\\\[nr]|$|\\b)", `(?:[^\w-]|$)`)
	pattern = strings.ReplaceAll(pattern, `(?:[ \t\w.-]{0,20})[\s'"]{0,3}`, "(?:[ \\t\\w.-]{0,20})[\\s'\"\\x60*_\\\\]{0,5}")
	pattern = strings.ReplaceAll(pattern, `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}`, "(?:=|>|:{1,3}=|\\|{1,2}|:{1,2}|=>|\\?=|,)[\\x60'\"\\s=*_\\\\]{0,6}")
	pattern = strings.ReplaceAll(pattern, "(?:^|[\\\\'\"\\x60\\s>=:(,)])", `(?:^|[^\w~.-])`)
	pattern = strings.ReplaceAll(pattern, "(?:$|[\\\\'\"\\x60\\s<),])", `(?:$|[^\w~.-])`)
	kw := s.Keywords
	if own := otherKeywords[s.ID]; own != nil {
		kw = own
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", err
	}
	before, boundary := 0, false
	if !startsWith(parsed, kw) {
		before = 64
	} else {
		for _, start := range []string{`(?i)\b`, `\b`} {
			if rest, found := strings.CutPrefix(pattern, start); found {
				boundary, pattern = true, strings.TrimSuffix(start, `\b`)+rest
			}
		}
	}
	entropy := s.Entropy
	if contextual {
		entropy = max(entropy, 3)
	}
	least := 0
	if !contextual && before == 0 {
		least = shortest(parsed)
	}
	most := longestOf(parsed)
	var allow []string
	for _, a := range s.Allowlists {
		for _, re := range a.Regexes {
			allow = append(allow, "^(?:"+re+")") // not in the middle of a secret
		}
	}
	if _, err := syntax.Parse(strings.Join(allow, "|"), syntax.Perl); err != nil {
		return "", err
	}
	row = fmt.Sprintf("{kind: %q, keywords: %#v, pattern: %s, group: %d, boundary: %v, contextual: %v, before: %d, least: %d, most: %d, entropy: %v, allow: %s},\n",
		s.ID, kw, literal("^(?:"+pattern+")"), s.SecretGroup, boundary, contextual, before, least, most, entropy, literal(strings.Join(allow, "|")))
	if before > 0 {
		row = strings.Replace(row, literal("^(?:"+pattern+")"), literal(pattern), 1)
	}
	for _, empty := range []string{", group: 0", ", boundary: false", ", contextual: false", ", before: 0", ", least: 0", ", most: 0", ", entropy: 0", ", allow: ``"} {
		row = strings.Replace(row, empty, "", 1)
	}
	return row, nil
}

func literal(s string) string {
	if strings.Contains(s, "`") {
		return fmt.Sprintf("%q", s)
	}
	return "`" + s + "`"
}

// startsWith reports whether each match of re begins with one of the words.
func startsWith(re *syntax.Regexp, words []string) bool {
	starts, _ := prefixes(re)
	return len(starts) > 0 && !slices.ContainsFunc(starts, func(start string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(start, word) })
	})
}

// prefixes returns the texts with which a match can begin, and whether they are all of it.
func prefixes(re *syntax.Regexp) (starts []string, whole bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}, true
	case syntax.OpCapture:
		return prefixes(re.Sub[0])
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}, true
	case syntax.OpCharClass:
		var letters []string
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if len(letters) > 4 {
					return []string{""}, false
				}
				letters = append(letters, strings.ToLower(string(r)))
			}
		}
		return letters, true
	case syntax.OpQuest:
		starts, whole = prefixes(re.Sub[0])
		return append(starts, ""), whole
	case syntax.OpAlternate:
		whole = true
		for _, sub := range re.Sub {
			more, all := prefixes(sub)
			starts, whole = append(starts, more...), whole && all
		}
		return starts, whole
	case syntax.OpConcat:
		starts = []string{""}
		for _, sub := range re.Sub {
			next, all := prefixes(sub)
			var product []string
			for _, start := range starts {
				for _, end := range next {
					product = append(product, start+end)
				}
			}
			starts = product
			if !all || len(starts) > 64 {
				return starts, false
			}
		}
		return starts, true
	}
	return []string{""}, false
}

// shortest returns the length of the shortest match if a match has bytes of tokens alone,
// else 0.
func shortest(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if r > 127 || !isToken[byte(r)] {
				return 0
			}
		}
		return len(re.Rune)
	case syntax.OpCharClass:
		return 1
	case syntax.OpCapture, syntax.OpPlus:
		return shortest(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min * shortest(re.Sub[0])
	case syntax.OpConcat:
		sum := 0
		for i, sub := range re.Sub {
			if i == len(re.Sub)-1 && sub.Op == syntax.OpAlternate {
				break // the end of the token
			}
			sum += shortest(sub)
		}
		return sum
	case syntax.OpAlternate:
		least := 1 << 20
		for _, sub := range re.Sub {
			least = min(least, shortest(sub))
		}
		return least
	}
	return 0
}

// longestOf returns the length of the longest match in bytes, 0 where it has no limit.
func longestOf(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		return len(string(re.Rune))
	case syntax.OpCharClass:
		if len(re.Rune) > 0 && re.Rune[len(re.Rune)-1] < 128 {
			return 1
		}
		return 4
	case syntax.OpAnyCharNotNL:
		return 4
	case syntax.OpCapture, syntax.OpQuest:
		return longestOf(re.Sub[0])
	case syntax.OpRepeat:
		return max(0, re.Max) * longestOf(re.Sub[0])
	case syntax.OpConcat, syntax.OpAlternate:
		most := 0
		for _, sub := range re.Sub {
			n := longestOf(sub)
			if n == 0 && !isEmpty(sub) {
				return 0
			}
			if re.Op == syntax.OpAlternate {
				most = max(most, n)
			} else {
				most += n
			}
		}
		return most
	}
	return 0
}

func isEmpty(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return false
}

func TestTheTableIsFresh(t *testing.T) {
	text := require.Value(os.ReadFile("testdata/gitleaks.toml"))(t)
	var file struct{ Rules []source }
	require.NoError(t, toml.Unmarshal(text, &file))
	var out bytes.Buffer
	out.WriteString("// Code generated from testdata/gitleaks.toml by go test -update; DO NOT EDIT.\n//\n// The patterns are those of gitleaks (MIT License, Copyright (c) 2019 Zachary Rice).\n\npackage guard\n\nvar table = []rule{\n")
	taken := 0
	for _, s := range file.Rules {
		isID := strings.HasSuffix(s.ID, "-id") || strings.Contains(s.ID, "-pub-") || strings.Contains(s.ID, "public-key") || s.ID == "hashicorp-tf-password"
		if _, skipped := left[s.ID]; skipped || isID {
			delete(left, s.ID)
			continue
		}
		row, err := convert(s)
		assert.That(t, err == nil, "%s: %v", s.ID, err)
		out.WriteString(row)
		taken++
	}
	out.WriteString("}\n")
	for id := range left {
		t.Errorf("%s is no rule of the file", id)
	}
	want := require.Value(format.Source(out.Bytes()))(t)
	testenv.GoldenFile(t, "table.go", string(want))
	t.Logf("%d of %d rules", taken, len(file.Rules))
}
