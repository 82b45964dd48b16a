package app

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// reference is a vault as a slow reader sees it. It shares no line with the
// program: the rules are written down a second time, with regular expressions
// over whole texts, and it understands what fake.WriteVault writes, not all of
// Markdown.
type reference struct {
	files    []string // in the order of listings
	folded   []string // their paths in the form in which they are compared
	pages    map[string]refPage
	out      map[string]map[string]int // by source, by target
	lost     map[string]map[string]int // by source, by the key of what is not there
	excluded func(path string) bool
}

// refPage is what one file contains.
type refPage struct {
	text     string
	links    []string // targets without heading or block
	tags     []string
	tasks    []refTask
	headings []refHeading
}

type refTask struct {
	mark, text string
	line       int
}

type refHeading struct {
	level int
	text  string
	line  int
}

func readReference(t testing.TB, folder string, excluded func(string) bool) *reference {
	t.Helper()
	ref := &reference{pages: map[string]refPage{}, out: map[string]map[string]int{}, lost: map[string]map[string]int{}, excluded: excluded}
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || name == folder:
			return err
		case entry.Name()[0] == '.' && entry.IsDir():
			return filepath.SkipDir
		case entry.Name()[0] == '.' || entry.IsDir():
			return nil
		}
		rel, _ := filepath.Rel(folder, name)
		rel = filepath.ToSlash(rel)
		ref.files = append(ref.files, rel)
		text, err := os.ReadFile(name)
		switch path.Ext(rel) {
		case ".md":
			page := readPage(string(text))
			page.text = string(text)
			ref.pages[rel] = page
		case ".canvas":
			ref.pages[rel] = readBoard(string(text))
		}
		return err
	})
	require.NoError(t, err)
	listed(ref.files)
	for _, file := range ref.files {
		ref.folded = append(ref.folded, refFold(file))
	}
	ref.link()
	return ref
}

// listed sorts names as the app lists them: case and accents aside, numbers by
// their value.
func listed(names []string) { slices.SortFunc(names, compareListed) }

func compareListed(a, b string) int {
	return cmp.Or(bytes.Compare(listKey(a), listKey(b)), strings.Compare(a, b))
}

var (
	collator = collate.New(language.Und, collate.Loose)
	listKeys = map[string][]byte{}
	digits   = regexp.MustCompile(`[0-9]+`)
)

// listKey is the place of a name among others. Numbers are made equally long,
// for the collator's own way with them takes 0 for more than 13.
func listKey(name string) []byte {
	key, known := listKeys[name]
	if !known {
		padded := digits.ReplaceAllStringFunc(name, func(run string) string { return strings.Repeat("0", max(0, 20-len(run))) + run })
		key = bytes.Clone(collator.KeyFromString(new(collate.Buffer), padded))
		listKeys[name] = key
	}
	return key
}

// The marks of a note.
var (
	refBlock     = regexp.MustCompile(`^---\n(?s:(.*?\n)??)---(\n|$)`)
	refFence     = regexp.MustCompile("^[ \t]*(```+|~~~+)[^`]*$")
	refHTML      = regexp.MustCompile(`(?s)<!--.*?-->`)
	refComment   = regexp.MustCompile(`(?ms)^%%$.*?^%%$`)
	refIndented  = regexp.MustCompile(`^( {4}|\t)`)
	refItem      = regexp.MustCompile(`^[ \t>]*([-*+]|\d+[.)])[ \t]`)
	refCode      = regexp.MustCompile("`[^`\n]*`")
	refEscape    = regexp.MustCompile(`\\[\[\]#]`)
	refInline    = regexp.MustCompile(`\[[^\[\]\n]*\]\((?:<([^<>\n]*)>|([^()\s]*))(?:[ \t]+"[^"\n]*")?\)`)
	refScheme    = regexp.MustCompile(`^[A-Za-z][-+.A-Za-z0-9]*:`)
	refTag       = regexp.MustCompile("(?m)(?:^|\\s)#([^\\s!\"#$%&'()*+,.:;<=>?@\\[\\\\\\]^{|}~`\u2000-\u206f\u2e00-\u2e7f]+)")
	refNumber    = regexp.MustCompile(`^[0-9]*$`)
	refTaskLine  = regexp.MustCompile(`^[ \t>]*((?:[-*+]|\d+[.)])[ \t]+\[(.)\]\s.*)$`)
	refATX       = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*$`)
	refUnderline = regexp.MustCompile(`^(=+|-+)[ \t]*$`)
	refPercent   = regexp.MustCompile(`(?:%[0-9A-Fa-f]{2})+`)
	refReserved  = regexp.MustCompile(`%(?:3[bBfFaAdD]|2[fF6bBcC346]|40)`)
)

func readPage(text string) refPage {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	whole := text
	var p refPage
	block := refBlock.FindString(text)
	if block != "" {
		p.readProperties(block)
		text = blank(block) + text[len(block):]
	}
	text = blankCode(text)
	text = refHTML.ReplaceAllStringFunc(text, blank)
	p.readBlocks(refComment.ReplaceAllStringFunc(text, blank), strings.Split(whole, "\n"))
	text = refCode.ReplaceAllStringFunc(text, blank)
	text = refEscape.ReplaceAllStringFunc(text, blank)
	text = p.readWikilinks(text)
	for _, found := range refInline.FindAllStringSubmatch(text, -1) {
		p.addInline(found[1] + found[2])
	}
	text = refInline.ReplaceAllStringFunc(text, blank)
	for _, found := range refTag.FindAllStringSubmatch(text, -1) {
		p.addTag(found[1])
	}
	return p
}

// blank keeps the line breaks of what it hides.
func blank(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return 'x' // a blank would make the beginning of a tag of what follows
	}, text)
}

// blankCode hides fenced and indented code.
func blankCode(text string) string {
	lines := strings.Split(text, "\n")
	fence, before := "", ""
	for i, line := range lines {
		found := refFence.FindStringSubmatch(line)
		switch {
		case fence != "":
			lines[i] = ""
			if found != nil && strings.HasPrefix(found[1], fence) && strings.TrimSpace(line) == found[1] {
				fence = ""
			}
		case found != nil:
			fence, lines[i] = found[1], ""
		case refIndented.MatchString(line) && i > 0 && lines[i-1] == "" && !refItem.MatchString(before) && !refIndented.MatchString(before):
			lines[i] = ""
		}
		if strings.TrimSpace(lines[i]) != "" {
			before = lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

// readBlocks finds tasks and headings, which are lines, in the text that shows
// them; what they say is in the whole one.
func (p *refPage) readBlocks(text string, whole []string) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if found := refTaskLine.FindStringSubmatch(line); found != nil {
			p.tasks = append(p.tasks, refTask{found[2], refTaskLine.FindStringSubmatch(whole[i])[1], i + 1})
		}
		if found := refATX.FindStringSubmatch(line); found != nil {
			p.headings = append(p.headings, refHeading{len(found[1]), found[2], i + 1})
		}
		if found := refUnderline.FindStringSubmatch(line); found != nil && i > 0 && lines[i-1] != "" {
			level := 1 + strings.Count(found[1][:1], "-")
			p.headings = append(p.headings, refHeading{level, strings.TrimSpace(lines[i-1]), i})
		}
	}
}

// readWikilinks finds the innermost pairs of double brackets and hides them.
func (p *refPage) readWikilinks(text string) string {
	for from := 0; ; {
		start := strings.Index(text[from:], "[[")
		if start < 0 {
			return text
		}
		start += from
		inner, _, _ := strings.Cut(text[start+2:], "\n")
		size := strings.Index(inner, "]]")
		if size < 0 || strings.Contains(inner[:size], "[[") {
			from = start + 2
			continue
		}
		p.addWikilink(inner[:size])
		text = text[:start] + blank(text[start:start+2+size+2]) + text[start+2+size+2:]
		from = start
	}
}

func (p *refPage) addWikilink(inner string) {
	if inner == "" {
		return
	}
	if bar := strings.Index(inner[1:], "|"); bar >= 0 {
		inner = strings.TrimSuffix(inner[:1+bar], `\`)
	}
	target, _, _ := strings.Cut(strings.TrimSpace(inner), "#")
	p.links = append(p.links, target)
}

func (p *refPage) addInline(target string) {
	if target == "" || refScheme.MatchString(target) {
		return
	}
	target, _, _ = strings.Cut(target, "#")
	p.links = append(p.links, decodeURI(target))
}

// decodeURI is the function of that name in JavaScript. What it would throw at
// is left as it is.
func decodeURI(text string) string {
	broken := false
	decoded := refPercent.ReplaceAllStringFunc(text, func(run string) string {
		kept := refReserved.ReplaceAllStringFunc(run, func(octet string) string { return "%25" + octet[1:] })
		out, err := url.PathUnescape(kept)
		broken = broken || err != nil || !utf8.ValidString(out)
		return out
	})
	if broken {
		return text
	}
	return decoded
}

func (p *refPage) addTag(name string) {
	name = strings.TrimRight(name, "/")
	if !refNumber.MatchString(name) {
		p.tags = append(p.tags, "#"+name)
	}
}

// The lines of a block of properties, as fake.WriteVault writes them.
var (
	refTagsLine = regexp.MustCompile(`(?i)^tags:\s*(.*)$`)
	refElement  = regexp.MustCompile(`^\s+- (.*)$`)
	refQuoted   = regexp.MustCompile(`^(?:[A-Za-z]+:|\s+-) "(.*)"$`)
	refWhole    = regexp.MustCompile(`^\[\[([^\[\]]+)\]\]$`)
	refWholeMD  = regexp.MustCompile(`^\[[^\[\]]*\]\(([^()\s]+)\)$`)
)

func (p *refPage) readProperties(block string) {
	inTags := false
	for line := range strings.Lines(block) {
		line = strings.TrimSuffix(line, "\n")
		if found := refElement.FindStringSubmatch(line); found != nil && inTags {
			p.addTagValue(found[1])
		} else if found := refTagsLine.FindStringSubmatch(line); found != nil {
			inTags = found[1] == ""
			list, flow := strings.CutPrefix(found[1], "[")
			if flow {
				for value := range strings.SplitSeq(strings.TrimSuffix(list, "]"), ",") {
					p.addTagValue(strings.TrimSpace(value))
				}
			} else if !strings.Contains(found[1], ",") {
				p.addTagValue(found[1])
			}
		} else {
			inTags = false
		}
		if found := refQuoted.FindStringSubmatch(line); found != nil {
			if whole := refWhole.FindStringSubmatch(found[1]); whole != nil {
				p.addWikilink(whole[1])
			} else if whole := refWholeMD.FindStringSubmatch(found[1]); whole != nil {
				p.addInline(whole[1])
			}
		}
	}
}

func (p *refPage) addTagValue(value string) {
	if name := strings.TrimPrefix(strings.Trim(value, `"`), "#"); name != "" {
		p.addTag(name)
	}
}

// readBoard reads a canvas: its file nodes name a path of the vault.
func readBoard(text string) refPage {
	var board struct {
		Nodes []struct{ Type, File, Text string }
	}
	var p refPage
	if json.Unmarshal([]byte(text), &board) != nil {
		return p
	}
	for _, node := range board.Nodes {
		if node.Type == "file" {
			p.links = append(p.links, node.File)
		} else {
			p.links = append(p.links, readPage(node.Text).links...)
		}
	}
	return p
}

// link resolves the links of every file.
func (ref *reference) link() {
	for source, page := range ref.pages {
		for _, target := range page.links {
			into, key := ref.lost, strings.TrimSuffix(target, ".md")
			if found, ok := ref.resolve(target, source); ok {
				into, key = ref.out, found
			}
			if into[source] == nil {
				into[source] = map[string]int{}
			}
			into[source][key]++
		}
	}
}

func refFold(name string) string { return norm.NFC.String(strings.ToLower(name)) }

// resolve is rule by rule what the app was seen to do.
func (ref *reference) resolve(target, source string) (string, bool) {
	if target == "" {
		return source, true
	}
	folder := path.Dir(source)
	names := []string{target + ".md"}
	if strings.Contains(path.Base(target), ".") && !strings.HasSuffix(target, "/") {
		names = []string{target, target + ".md"}
	}
	for _, name := range names {
		anchored := true
		switch {
		case strings.HasPrefix(name, "/"):
			name = name[1:]
		case strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../"):
			name = path.Join(folder, name)
		default:
			anchored = false
		}
		if found, ok := ref.best(name, folder, anchored); ok {
			return found, true
		}
	}
	return "", false
}

func (ref *reference) best(name, folder string, anchored bool) (string, bool) {
	var exact, near, far []string
	want, beside := refFold(name), refFold(path.Join(folder, name))
	for i, file := range ref.files {
		is := ref.folded[i]
		switch {
		case is == want:
			exact = append(exact, file)
		case anchored:
		case is == beside:
			near = append(near, file)
		case strings.HasSuffix(is, "/"+want):
			far = append(far, file)
		}
	}
	for _, found := range [][]string{exact, near, far} {
		if len(found) > 0 {
			// The shortest; of several the first in the order of listings.
			return slices.MinFunc(found, func(a, b string) int {
				return cmp.Compare(len(utf16.Encode([]rune(a))), len(utf16.Encode([]rune(b))))
			}), true
		}
	}
	return "", false
}
