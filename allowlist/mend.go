package allowlist

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

// valueHint returns the hint for an invalid value: the value or the parameter that was most likely meant, "" if that is
// not known. given are the parameters of the call.
func (r *row) valueHint(p *param, v Value, given Params) string {
	text := strings.TrimSpace(v.text)
	if items := v.items(); len(items) == 1 && p.kind != kindFlag {
		return didYouMean(items[0])
	}
	switch p.kind {
	case kindChar:
		word := strings.TrimSpace(strings.TrimPrefix(strings.ToLower(text), "- "))
		for flag, words := range map[string][]string{"todo": openWords, "done": doneWords} {
			if slices.Contains(words, word) && r.param(flag) != nil {
				return "use " + flag + "=true"
			}
		}
		return "status is the one character between the brackets of a task, such as x"
	case kindPath, kindNewPath, kindLink, kindBase, kindFolder, kindDestination:
		return r.pathHint(p, text)
	case kindTitle:
		return r.titleHint(text, given)
	case kindRef:
		if found := lineOfNote().FindStringSubmatch(text); found != nil {
			return didYouMean(found[1] + ":" + found[2])
		}
	case kindChoice:
		return didYouMean(choiceMeant(text, p.choices))
	case kindFlag:
		return "send true, or leave it out"
	case kindNumber:
		if i := slices.Index(numberWords, strings.ToLower(text)); i > 0 {
			text = strconv.Itoa(i)
		}
		whole := strings.TrimSuffix(text, ".0")
		digits := strings.Trim(whole, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ #+=") // of "20 rows"
		if digits != v.text && p.checkNumber(digits) == "" {
			return didYouMean(digits)
		}
	}
	return ""
}

// didYouMean returns the hint that suggests value, "" for no value.
func didYouMean(value string) string {
	if value == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", excerpt.Short(value))
}

// items returns the items of a list, or of a text that is a list in JSON; nil for other values.
func (v Value) items() (items []string) {
	isList := v.form == listForm || strings.HasPrefix(strings.TrimSpace(v.text), "[\"")
	if !isList || json.Unmarshal([]byte(v.text), &items) != nil {
		return nil
	}
	return items
}

var numberWords = []string{
	"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
}

// lineOfNote matches the path of a note with a line number in one of several notations: "Plan.md line 12".
var lineOfNote func() *regexp.Regexp

func init() {
	lineOfNote = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(.+?\.md)(?:#L?|:L?|,?\s+line\s+|,\s*|\s+)(\d+)$`)
	})
}

// pathHint is [row.valueHint] for the path or the name of a file or a folder.
func (r *row) pathHint(p *param, text string) string {
	if found := lineOfNote().FindStringSubmatch(text); found != nil && r.name == "read" {
		return fmt.Sprintf("\"note:section\" with path=%q lines=%q prints that line", excerpt.Short(found[1]), found[2])
	}
	mended := strings.ReplaceAll(strings.Trim(pathOfAddress(text), "\"'`"), `\`, "/")
	mended = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(mended, "!"), "[["), "]]")
	for strings.Contains(mended, "//") {
		mended = strings.ReplaceAll(mended, "//", "/")
	}
	isFolder := strings.HasSuffix(mended, "/") && p.kind == kindDestination
	mended = strings.Trim(strings.TrimPrefix(mended, "./"), "/ ")
	if text == "." && p.kind == kindFolder {
		return didYouMean("/")
	}
	isBare := p.kind == kindDestination && !strings.Contains(mended[strings.LastIndexByte(mended, '/')+1:], ".")
	if isFolder || isBare {
		mended += "/"
	}
	if strings.HasPrefix(text, "..") || mended == text || strings.Trim(mended, "/") == "" {
		return ""
	}
	if _, reason := p.check(Text(mended)); reason != "" {
		return ""
	}
	return didYouMean(mended)
}

// pathOfAddress returns the path in a file: or obsidian: URL. Any other text is returned unchanged.
func pathOfAddress(text string) string {
	address, err := url.Parse(text)
	if err != nil {
		return text
	}
	switch address.Scheme {
	case "obsidian":
		for _, key := range []string{"file", "path"} {
			if path := address.Query().Get(key); path != "" {
				return withEnding(path)
			}
		}
	case "file":
		return address.Path
	}
	return text
}

// titleHint is [row.valueHint] for a new name of a note.
func (r *row) titleHint(text string, given Params) string {
	name := strings.Trim(text, "/")
	at := strings.LastIndexByte(name, '/')
	if at < 0 || r.name != "rename" {
		return ""
	}
	path := given["path"].text
	isSameFolder := strings.HasPrefix(path, name[:at+1]) && strings.LastIndexByte(path, '/') == at
	if isSameFolder {
		return didYouMean(strings.TrimSuffix(name[at+1:], ".md"))
	}
	return fmt.Sprintf("rename keeps the folder; \"move\" with to=%q moves it", excerpt.Short(withEnding(name)))
}

// choiceMeant returns the choice that text stands for, in another spelling or in the words of other tools; "" if there
// is none.
func choiceMeant(text string, choices []string) string {
	word := strings.ToLower(strings.TrimSpace(text))
	for _, form := range []string{word, strings.TrimSuffix(word, "s"), word + "s"} {
		if slices.Contains(choices, form) {
			return form
		}
	}
	for _, row := range otherChoices {
		if slices.Contains(strings.Fields(row.others), word) && slices.Contains(choices, row.choice) {
			return row.choice
		}
	}
	return ""
}

// otherChoices lists words of other tools for our choices.
var otherChoices = [...]struct{ choice, others string }{
	{"number", "int integer float double decimal num numeric"},
	{"checkbox", "bool boolean check toggle"},
	{"text", "string str txt plain plaintext raw"},
	{"list", "array multitext multi tags set tuple"},
	{"datetime", "timestamp date-time time"},
	{"in", "incoming inbound inward backlinks inlinks to"},
	{"out", "outgoing outbound outward outlinks forward from"},
	{"both", "all any bidirectional"},
	{"after", "below under behind following"},
	{"before", "above over preceding"},
	{"md", "markdown"},
	{"image", "png jpg jpeg gif webp svg bmp avif picture photo img"},
	{"audio", "mp3 wav ogg flac m4a sound"},
	{"video", "mp4 mov mkv webm movie"},
	{"attachment", "pdf image images media file binary"},
	{"note", "md markdown document page"},
	{"day", "daily d"},
	{"week", "weekly w"},
	{"month", "monthly m"},
	{"quarter", "quarterly q"},
	{"year", "yearly annual y"},
	{"highest", "urgent critical top p0"},
	{"high", "important p1"},
	{"medium", "med middle p2"},
	{"normal", "none default p3"},
	{"low", "minor p4"},
}

// withEnding adds .md to the path of a note if it has no extension.
func withEnding(path string) string {
	if strings.Contains(path[strings.LastIndexByte(path, '/')+1:], ".") {
		return path
	}
	return path + ".md"
}

// openWords and doneWords are words for the status of a task.
var (
	openWords = []string{
		"todo",
		"open",
		"incomplete",
		"pending",
		"not done",
		"undone",
		"unchecked",
		"active",
		"false",
		"[ ]",
	}
	doneWords = []string{"done", "complete", "completed", "finished", "closed", "checked", "true", "[x]"}
)
