package allowlist

import (
	"fmt"
	"slices"
	"strings"

	"vaultwicket/allowlist/quote"
)

// otherParams are names of parameters in other tools, with ours that can be meant: the first
// that the command has. It is a function because a variable that calls one makes the program
// copy the rows at its start (shared.go).
func otherParams() map[string][]string {
	return map[string][]string{
		"note": {"path", "file", "name", "content"}, "filename": {"path", "file", "name"}, "filepath": {"path", "folder"}, "notepath": {"path"}, "notename": {"file", "name"},
		"title": {"name", "file", "path", "heading"}, "name": {"file", "name", "path"}, "uri": {"path", "url"}, "source": {"path", "from"}, "target": {"path", "to"}, "id": {"ref", "path", "file"},
		"path": {"folder", "ref", "file", "name"}, "file": {"path", "ref", "name"}, "folder": {"folder", "path"}, "dir": {"folder", "path"}, "directory": {"folder", "path"}, "folderpath": {"folder", "path"},
		"in": {"folder", "path"}, "parent": {"folder", "path"}, "scope": {"folder", "path"}, "root": {"folder", "path"},
		"q": {"query", "name"}, "text": {"content", "query", "value", "new"}, "term": {"query"}, "search": {"query", "old"}, "keyword": {"query"}, "keywords": {"query"}, "pattern": {"query"}, "searchterm": {"query"},
		"body": {"content", "new"}, "data": {"content", "value"}, "message": {"content"}, "markdown": {"content"}, "append": {"content"}, "contents": {"content"}, "line": {"content", "lines", "line"},
		"entry": {"content"}, "item": {"content"}, "task": {"content", "ref"}, "string": {"content", "query"}, "value": {"value", "content"},
		"key": {"name"}, "property": {"name"}, "field": {"name"}, "prop": {"name"}, "tag": {"name", "tag"}, "tags": {"name", "tag"}, "template": {"name", "template"}, "templatename": {"template", "name"},
		"days": {"since", "min-age", "from", "offset"}, "after": {"since", "from", "due-after"}, "before": {"to", "due-before"}, "start": {"from", "since"}, "startdate": {"from"}, "end": {"to"}, "enddate": {"to"}, "until": {"to"},
		"newer": {"since"}, "modified": {"since"}, "older": {"min-age"}, "minage": {"min-age"}, "age": {"min-age"}, "olderthan": {"min-age"}, "day": {"date", "since"}, "date": {"date", "since", "from", "due"}, "when": {"date", "since"},
		"from": {"from", "path", "old", "since"}, "to": {"to", "name", "new"}, "destination": {"to"}, "dest": {"to"}, "newpath": {"to"}, "newname": {"name", "to"}, "newfolder": {"to"}, "into": {"to"},
		"max": {"limit", "count"}, "n": {"count", "limit"}, "number": {"count", "limit"}, "num": {"count", "limit"}, "top": {"limit", "count"}, "size": {"limit", "count"}, "maxresults": {"limit", "count"}, "count": {"count", "limit", "total"},
		"limit": {"limit", "count"}, "results": {"limit"}, "casesensitive": {"case"}, "matchcase": {"case"}, "section": {"heading"}, "header": {"heading"}, "under": {"heading"}, "headline": {"heading"}, "blockid": {"block"},
		"linenumber": {"line", "lines"}, "range": {"lines"}, "oldtext": {"old"}, "oldstring": {"old"}, "oldstr": {"old"}, "find": {"old", "query"}, "newtext": {"new", "content"}, "newstring": {"new"}, "newstr": {"new"},
		"replace": {"new", "overwrite"}, "replacement": {"new"}, "with": {"new"}, "force": {"overwrite"}, "extension": {"ext"}, "type": {"ext", "type", "format"}, "filetype": {"ext"}, "completed": {"done"}, "complete": {"done"},
		"finished": {"done"}, "open": {"todo"}, "pending": {"todo"}, "incomplete": {"todo"}, "today": {"daily", "date"}, "state": {"status"}, "mark": {"status"}, "status": {"status"}, "sortby": {"sort"}, "order": {"sort"}, "orderby": {"sort"},
		"groupby": {"group"}, "output": {"format"}, "outputformat": {"format"}, "json": {"format"}, "position": {"position"}, "where": {"where", "query"}, "filter": {"where", "query"}, "fields": {"select"}, "columns": {"select"}, "change": {"id"}, "changeid": {"id"},
	}
}

// unknownParam says which parameter was meant.
func (c *Call) unknownParam(key string, bare bool) *ParseError {
	err := c.refuse(CodeUnknownParam, key, unknown)
	word := strings.TrimLeft(key, "-")
	switch meant := c.row.meantParam(word); {
	case word == "vault":
		err.Reason = "the vault is chosen by the gateway, not by a parameter"
		err.hint = "leave it out"
	case word == "copy":
		err.Reason = "not allowed: it would overwrite the clipboard of the user"
	case find(c.row.name+":"+word) != nil: // as in "daily read"
		err.hint = fmt.Sprintf("did you mean the command %q?", c.row.name+":"+word)
	case word == "" || word == "=":
		err.hint = "write a parameter as name=value, without blanks around ="
	case meant != "":
		err.hint = fmt.Sprintf("did you mean %q?", meant)
		folder := slices.Contains(otherParams()[strings.Join(wordsOf(word), "")], "folder")
		if p := c.row.param(meant); p != nil && p.kind == kindPath && folder {
			err.hint += " It names one note; \"files\" lists a folder"
		}
	case len(c.row.params) == 0:
		err.hint = "the command takes no parameters"
	case bare && c.row.firstText() != "":
		err.hint = fmt.Sprintf("did you mean %s=%s?", c.row.firstText(), quote.Short(word))
	default:
		err.hint = "valid parameters: " + strings.Join(c.row.paramNames(), ", ")
	}
	return err
}

// firstText is the parameter that a command cannot do without, if that is a text.
func (r *row) firstText() string {
	for _, p := range r.params {
		if p.required && p.kind != kindFlag {
			return p.name
		}
	}
	return ""
}

// meantParam returns the parameter that a name was most likely meant to be.
func (r *row) meantParam(word string) string {
	names := r.paramNames()
	joined := strings.Join(wordsOf(word), "")
	for _, name := range names {
		if strings.ReplaceAll(name, "-", "") == joined {
			return name
		}
	}
	for _, other := range otherParams()[joined] {
		if slices.Contains(names, other) {
			return other
		}
	}
	return quote.Nearest(strings.ToLower(word), names)
}

// mend is the hint for an invalid value: the value or the parameter that was most likely meant.
func (r *row) mend(p *param, v Value) string {
	text := strings.TrimSpace(v.text)
	switch p.kind {
	case kindChar:
		for flag, words := range map[string][]string{"todo": openWords, "done": doneWords} { // words for a status
			if slices.Contains(words, strings.ToLower(text)) && r.param(flag) != nil {
				return "use " + flag + "=true"
			}
		}
		return "status is the one character between the brackets of a task, such as x"
	case kindPath, kindNewPath, kindLink, kindBase, kindFolder:
		mended := strings.ReplaceAll(strings.Trim(text, "\"'`"), `\`, "/")
		mended = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(mended, "!"), "[["), "]]")
		for strings.Contains(mended, "//") {
			mended = strings.ReplaceAll(mended, "//", "/")
		}
		mended = strings.Trim(strings.TrimPrefix(mended, "./"), "/ ")
		if strings.HasPrefix(text, "..") || mended == text || mended == "" {
			return ""
		}
		if _, reason := p.check(Text(mended)); reason != "" {
			return ""
		}
		return fmt.Sprintf("did you mean %q?", quote.Short(mended))
	case kindFlag:
		return "send true, or leave it out"
	case kindNumber:
		digits := strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ #+=") // of "20 rows"
		if digits != text && p.checkNumber(digits) == "" {
			return fmt.Sprintf("did you mean %q?", digits)
		}
	}
	return ""
}

// openWords and doneWords are what statuses of tasks are called.
var (
	openWords = []string{"todo", "open", "incomplete", "pending", "not done", "undone", "unchecked", "active", "false", "[ ]"}
	doneWords = []string{"done", "complete", "completed", "finished", "closed", "checked", "true", "[x]"}
)
