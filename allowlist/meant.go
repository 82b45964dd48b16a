package allowlist

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// Meant returns the command that a name was most likely meant to be: one with a similar name,
// or the one that other tools call so. It is "" when none is close. It never has a worse effect than
// the name asks for.
func Meant(name string) string {
	if len(name) > excerpt.Limit {
		return ""
	}
	if find(name) != nil {
		return name
	}
	words := wordsOf(name)
	if same := spelledOtherwise(words); same != "" {
		return same
	}
	sorted := slices.Clone(words)
	slices.Sort(sorted)
	if meant := otherName(strings.Join(sorted, " ")); meant != "" && isNoWorse(meant, words) {
		return meant
	}
	if near := nearest(name, words); near != "" {
		return near
	}
	rest := without(sorted, fillers)
	for _, left := range [][]string{rest, without(rest, subjects)} {
		if meant := otherName(strings.Join(left, " ")); meant != "" && isNoWorse(meant, words) {
			return meant
		}
		if len(left) == 1 && find(left[0]) != nil && isNoWorse(left[0], words) {
			return left[0]
		}
	}
	return nearest(strings.Join(words, ":"), words)
}

// spelledOtherwise returns the command that has these words, with other signs between them, or two of
// them in the other order; "" if none has.
func spelledOtherwise(words []string) string {
	joined := strings.Join(words, "")
	swapped := ""
	if len(words) == 2 {
		swapped = words[1] + ":" + words[0]
	}
	for _, name := range Names() {
		if strings.Map(letters, name) == joined && joined != "" || name == swapped {
			return name
		}
	}
	return ""
}

// letters drops the signs of a name.
func letters(r rune) rune {
	if unicode.IsLetter(r) || unicode.IsDigit(r) {
		return r
	}
	return -1
}

// wordsOf splits a name at signs and at capital letters: read_note, note:read and readNote have the same words.
func wordsOf(name string) []string {
	var spaced strings.Builder
	lower := false
	for _, r := range name {
		if lower && unicode.IsUpper(r) {
			spaced.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		spaced.WriteRune(unicode.ToLower(r))
	}
	return strings.FieldsFunc(spaced.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// fillers are words in the names of tools that do not distinguish them.
var fillers = []string{
	"obsidian",
	"vault",
	"vaultwicket",
	"cli",
	"tool",
	"command",
	"the",
	"a",
	"my",
	"all",
	"md",
	"markdown",
	"content",
	"contents",
	"by",
	"in",
	"for",
	"of",
	"local",
	"mcp",
	"simple",
	"help",
}

// subjects are what most commands are about.
var subjects = []string{"note", "notes", "file", "files", "page", "pages"}

func without(words, others []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool { return slices.Contains(others, word) })
}

// unknownCommand is the error for a name that is no command, with the command that was most
// likely meant, also of a whole command line.
func unknownCommand(name string) *ParseError {
	err := &ParseError{code: CodeUnknownCommand, Command: name, Reason: unknown}
	if len(name) > maxLine {
		return err
	}
	hint, isLine := hintForLine(name)
	same := spelledOtherwise(wordsOf(name))
	switch meant := Meant(name); {
	case isLine:
		err.hint = hint
	case same != "":
		err.hint = fmt.Sprintf("did you mean %q?", same)
	case adviceOf(wordsOf(name)) != "":
		err.hint = adviceOf(wordsOf(name))
	case meant != "":
		err.hint = fmt.Sprintf("did you mean %q?", meant)
	}
	return err
}

// hintForLine is the hint for a command line in place of a name: its call as JSON. It is "" where
// the line begins with a command that cannot be enabled, or where what it asks for is not clear; isLine
// is false for anything that is no command line.
func hintForLine(line string) (hint string, isLine bool) {
	words := splitLine(line)
	for len(words) > 1 && slices.Contains([]string{"obsidian", "vaultwicket", "run"}, words[0]) {
		words = words[1:]
	}
	if len(words) == 0 {
		return "", false
	}
	r, rest := commandOf(words)
	if r == nil || r.name == line {
		return "", false
	}
	if r.tier == tiers.Restricted {
		return "", true
	}
	if len(rest) == 0 {
		return fmt.Sprintf("did you mean %q?", r.name), true
	}
	params := map[string]any{}
	var bare []string
	for _, word := range rest {
		key, value, found := strings.Cut(strings.TrimLeft(word, "-"), "=")
		switch p := r.param(key); {
		case found:
			params[key] = strings.Trim(value, `"'`)
		case p != nil && p.kind == kindFlag:
			params[key] = true
		default:
			bare = append(bare, strings.Trim(word, `"'`))
		}
	}
	if len(bare) > 0 {
		key := r.bareParam(params)
		if key == "" || asksForMore(r, bare[0]) {
			return adviceForLine(r, words), true
		}
		params[key] = strings.Join(bare, " ")
	}
	text, _ := excerpt.JSON(map[string]any{"command": r.name, "params": params}) // strings and booleans always marshal
	return "put the parameters into params: " + text, true
}

// commandOf returns the command that a line begins with, of one word or of two with a blank in place
// of the colon, in any order, and the words behind it.
func commandOf(words []string) (r *row, rest []string) {
	for i, word := range words[:min(len(words), 2)] {
		words[i] = strings.TrimSuffix(word, "()")
	}
	if len(words) > 1 {
		if r := find(words[0] + ":" + words[1]); r != nil {
			return r, words[2:]
		}
		if r := find(words[1] + ":" + words[0]); r != nil {
			return r, words[2:]
		}
	}
	return find(words[0]), words[1:]
}

// asksForMore reports whether the word behind a command is itself one of what is to be done, or
// what it is to be done to: "tag add" is no look-up of the tag "add", and "delete tag x" deletes no note.
func asksForMore(r *row, word string) bool {
	word = strings.ToLower(word)
	changes := r.effect.WorseThan(tiers.Shows)
	return intentOf([]string{word}).WorseThan(r.effect) || changes && isWord(word) && r.param("content") == nil
}

// bareParam returns the parameter that a text without a name is meant for: the first required one
// that is not given, otherwise the place of a note. A command that changes something gets one only
// if it has a single parameter that it can be.
func (r *row) bareParam(given map[string]any) string {
	var free []string
	for _, p := range r.params {
		if p.required && given[p.name] == nil {
			free = append(free, p.name)
		}
	}
	isTargeted := false
	for _, name := range []string{"path", "folder", "query", "name"} {
		if p := r.param(name); p != nil && !p.required && given[name] == nil {
			isTargeted = isTargeted || name == "path"
			free = append(free, name)
		}
	}
	if len(free) == 0 {
		return ""
	}
	isGuess := len(free) > 1 && (len(r.requiredParams()) > 0 || !isTargeted)
	if isGuess && r.effect.WorseThan(tiers.Shows) {
		return ""
	}
	return free[0]
}

func (r *row) requiredParams() (names []string) {
	for _, p := range r.params {
		if p.required {
			names = append(names, p.name)
		}
	}
	return names
}

// adviceForLine is the hint for a line of which the bare words are no value: what another command
// does with them, otherwise the parameters of the command.
func adviceForLine(r *row, words []string) string {
	for n := min(len(words), 3); n > 1; n-- {
		var lower []string
		for _, word := range words[:n] {
			lower = append(lower, wordsOf(word)...)
		}
		if advice := adviceOf(lower); advice != "" {
			return advice
		}
		slices.Sort(lower)
		if meant := otherName(strings.Join(lower, " ")); meant != "" && isNoWorse(meant, lower) {
			return fmt.Sprintf("did you mean %q?", meant)
		}
	}
	names := make([]string, len(r.params))
	for i, p := range r.params {
		names[i] = p.name
	}
	asked := without(wordsOf(strings.Join(words[:min(len(words), 3)], " ")), []string{r.name})
	asksForOther := slices.ContainsFunc(asked, isVerb)
	if len(names) == 0 || asksForOther && !isNoWorse(r.name, asked) {
		return ""
	}
	return fmt.Sprintf("the parameters of %q have names: %s", r.name, strings.Join(names, ", "))
}

// maxLine is the longest command line for which the call is written out.
const maxLine = 400

// splitLine splits a line at blanks outside of quotation marks.
func splitLine(line string) (words []string) {
	var word strings.Builder
	var open rune
	for _, r := range line {
		switch {
		case open == 0 && unicode.IsSpace(r):
			if word.Len() > 0 {
				words = append(words, word.String())
				word.Reset()
			}
			continue
		case open == 0 && (r == '"' || r == '\''):
			open = r
		case r == open:
			open = 0
		}
		word.WriteRune(r)
	}
	if word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}

// otherName returns the command that other tools, shells and agents call by some words,
// which are in the order of the alphabet.
func otherName(words string) string {
	for _, row := range otherNamesOf {
		if slices.Contains(strings.Split(row.others, "; "), words) {
			return row.command
		}
	}
	return ""
}

// otherNamesOf lists the other names by command.
var otherNamesOf = [...]struct{ command, others string }{
	{
		"read",
		"cat; cat note; content file get; content get note; content note; fetch; fetch note; file get; file read; file read text; get; get note; " +
			"get page; load; load note; note open read; note print; note read; note show; note view; page read; print; show; view",
	},
	{
		"files",
		"all files; all list; all notes; browse; dir; dir files in; dir files in list; dir list; directory list; directory tree; enumerate notes; " +
			"file list; files find; files get; files in list vault; files list; files search; files show; folder list; get notes; glob; index; list; " +
			"list note; list notes; list vault; ls; notes; tree",
	},
	{"folders", "directories; directories list; dirs; dirs list; folders list"},
	{
		"create",
		"add note; apply template; content put; create file; create from template; create note; create template; file write; " +
			"insert note; make note; new; new note; note put; note save; note upsert; note write; put; save; template use; touch; write",
	},
	{
		"append",
		"add; add content; add note text; add note to; add text; append content; append file; append file to; append note; append note to; " +
			"append text; append update; concat",
	},
	{"prepend", "add top; content prepend; insert top; note prepend"},
	{
		"note:replace",
		"and find replace; and replace search; apply patch; change note; content patch; edit; edit file; edit note; editor replace str; " +
			"file in replace; file patch; find replace; in note replace; modify; modify note; note patch; note update; patch; replace; replace search; " +
			"replace str; replace text; sed; update",
	},
	{"note:insert", "after insert; at insert; before insert; content insert; insert; insert text"},
	{
		"note:set-section",
		"edit section; heading patch; heading update; patch section; replace section; section set; section update",
	},
	{
		"note:section",
		"block; block get; block read; get heading; get section; head; heading; heading note; heading read; lines; lines note; lines read; " +
			"read section; section; tail",
	},
	{"delete", "del; delete file; delete note; file remove; note remove; remove; rm; trash"},
	{"move", "file move; move note; move to; mv; relocate"},
	{"rename", "file rename; note rename; rename to"},
	{
		"search",
		"all search; complex search; content files search; content search; find; find note; find notes; find text; full search text; grep; locate; " +
			"lookup; md search; note search; notes search; query search; rg; search semantic; search simple; search text; search vault",
	},
	{
		"search:context",
		"context search; context search with; grep lines; lines search; matches; matches search; search snippets",
	},
	{
		"daily:read",
		"daily get; daily get note; daily note; daily note open; daily note read; daily open; daily read; daily show; daily today; daily view; " +
			"diary; get note periodic; get today; journal; journal read; note today; read today; show today; today",
	},
	{
		"daily:append",
		"add daily; add daily note; add daily to; add inbox; add journal; add quick; append daily; append daily note; append daily to; " +
			"append journal; append log; capture; capture quick; daily insert; daily log; daily update; daily write; journal write",
	},
	{
		"daily:range",
		"all daily; daily list; daily notes; daily range; daily week; journal list; journal range; notes week; week",
	},
	{
		"random:read",
		"get note random; get random; note random; note random read; notes random; pick random; random read; shuffle; surprise",
	},
	{
		"properties",
		"front matter; frontmatter; frontmatter get; frontmatter note; frontmatter read; get metadata; get properties; info properties; " +
			"list properties; list property; metadata; metadata note; note properties; properties read; yaml",
	},
	{"property:read", "field get; frontmatter property; get property; property read; property show; property value"},
	{
		"property:set",
		"add property; create property; edit frontmatter; field set; frontmatter manage; frontmatter set; frontmatter update; " +
			"metadata set; metadata update; properties set; properties update; property set; property update; property write; set status",
	},
	{"property:remove", "delete property; frontmatter remove; property remove; property unset"},
	{"tags", "all list tags; all tag; all tags; cloud tag; get tags; list tag; list tags; show tags"},
	{
		"tag",
		"by files tag; by get notes tag; by list notes tag; by notes tag; by search tag; by tag; files tag; find tag; notes tag; notes tag with; " +
			"search tag",
	},
	{
		"tasks",
		"all task; checklist; find task; find tasks; get tasks; list task; list tasks; list todo; list todos; open tasks; query tasks; search task; " +
			"search tasks; tasks todo; todo; todos",
	},
	{
		"task",
		"check task; close task; complete task; done; done mark; done task; finish task; mark task; set task; task toggle; task update; todo toggle",
	},
	{
		"links",
		"forward links; get links; link list; links list; links note; links out; links outgoing; outgoing; outlinks",
	},
	{
		"backlinks",
		"back links; backlink; backlinks get; backlinks list; backlinks note; incoming; incoming links; inlinks; linked mentions; linked notes; " +
			"links to; mentions; references",
	},
	{
		"recent",
		"changed; changed recently; changes get recent; changes recent; files recent; get recent; last modified; latest; list notes recent; " +
			"list recent; modified; modified recently; notes recent; notes recents; recently updated; updated",
	},
	{
		"outline",
		"contents of table; contents table; document get map; document map; get headings; get outline; heading list; headings; headings list; " +
			"headings note; note outline; note structure; structure; structure summary; toc",
	},
	{"templates", "all template; get templates; list template; list templates"},
	{"template:read", "get template; read template; show template"},
	{"template:insert", "add template; insert template"},
	{"wordcount", "count; count word; count words; note stats; stats; wc; words"},
	{
		"file",
		"details; exists; exists file; exists note; file get info; file info; file metadata; file stat; info; info note; note stat; stat",
	},
	{"folder", "folder info; folder size; folder stat"},
	{"vault", "about; info vault; stats vault; status vault"},
	{"vaults", "all list vault; available list vaults; available vaults; get vaults; list vaults"},
	{"undo", "back roll; change revert; change undo; changes undo; history undo; last undo; revert; rollback"},
	{"undo:list", "change list; changes history; changes journal; changes list; list undo"},
	{"history:read", "get version; read version; show version"},
	{"unresolved", "broken links; check links; dead links; links missing; links unresolved"},
	{
		"orphans",
		"files orphan; find orphans; links notes without; list orphans; notes orphan; notes orphaned; notes unlinked; orphan",
	},
	{"bookmarks", "bookmark list; bookmarks list; favorites; favourites; starred"},
	{
		"query",
		"base; by find property; by property search; database; dataview; dataview query; dql; filter; frontmatter search; notes query; " +
			"property search; sql; table",
	},
	{"bases", "base list; bases list"},
	{"base:query", "base get; base query; base read; base run"},
	{"base:add-view", "add base view; add view; base create view; create view"},
	{"base:set-view", "base set view; base update; base update view; set view; update view"},
	{"base:set-formula", "add formula; formula set; edit formula; formula update"},
	{"related", "find related; find similar; notes related; notes similar; similar"},
	{"attachments", "attachment list; attachments list; images; images list; media"},
	{
		"attachment:write",
		"add attachment; add image; attachment create; attachment save; attachment upload; image save; image upload; upload",
	},
	{"attachment:text", "extract text; pdf; pdf read; pdf text"},
	{"canvas:read", "canvas; canvas get; canvas read"},
	{"canvas:create", "canvas create; canvas new; add canvas file"},
	{"canvas:add", "add canvas; add canvas card; add canvas node; add card; add node; card create; card new"},
	{"canvas:connect", "add edge; canvas connect; connect; connect nodes; create edge; draw edge"},
	{"vault:replace", "all in notes replace; all replace; bulk replace; mass replace; replace search vault"},
	{"tag:rename", "rename tag; rename tags"},
	{"property:rename", "properties rename; property rename"},
	{
		"help",
		"available commands; can do what you; capabilities; commands help; commands list; get help; list tools; man; tools; usage",
	},
	{"unique", "create zettel; new zettel; create note unique; new note unique; create unique"},
	{"aliases", "alias; alias list; aliases get; aliases list"},
	{"open", "app in open; file open; file show; in obsidian open; note open"},
	{"daily:ensure", "create daily; create daily note; daily make note; daily new; daily new note; day start"},
	{
		"periodic:read",
		"get note weekly; month note; monthly; monthly note; note quarterly; note week; note weekly; note yearly; weekly",
	},
	{"task:add", "add task; add todo; create task; create todo; new task; new todo"},
}

// otherParams are names of parameters in other tools, with ours that can be meant: the first
// that the command has. It is a function because a variable that calls one makes the program
// copy the rows at its start (shared.go).
func otherParams() map[string][]string {
	return map[string][]string{
		"note": {
			"path",
			"file",
			"name",
			"content",
		}, "filename": {"path", "file", "name"}, "filepath": {"path", "folder"}, "notepath": {"path"}, "notename": {"file", "name"},
		"title": {
			"name",
			"file",
			"path",
			"heading",
		}, "name": {"file", "name", "path"}, "uri": {"path", "url"}, "source": {"path", "from"}, "target": {"path", "to"}, "id": {"ref", "path", "file"},
		"path": {
			"folder",
			"ref",
			"file",
			"name",
		}, "file": {"path", "ref", "name"}, "folder": {"folder", "path"}, "dir": {"folder", "path"}, "directory": {"folder", "path"}, "folderpath": {"folder", "path"},
		"in": {"folder", "path"}, "parent": {"folder", "path"}, "scope": {"folder", "path"}, "root": {"folder", "path"},
		"q": {
			"query",
			"name",
		}, "text": {"content", "query", "value", "new"}, "term": {"query"}, "search": {"query", "old"}, "keyword": {"query"}, "keywords": {"query"}, "pattern": {"query"}, "searchterm": {"query"},
		"body": {
			"content",
			"new",
		}, "data": {"content", "value"}, "message": {"content"}, "markdown": {"content"}, "append": {"content"}, "contents": {"content"}, "line": {"content", "lines", "line"},
		"entry": {
			"content",
		}, "item": {"content"}, "task": {"content", "ref"}, "string": {"content", "query"}, "value": {"value", "content"},
		"key": {
			"name",
		}, "property": {"name"}, "field": {"name"}, "prop": {"name"}, "tag": {"name", "tag"}, "tags": {"name", "tag"}, "template": {"name", "template"}, "templatename": {"template", "name"},
		"days": {
			"since",
			"min-age",
			"from",
			"offset",
		}, "after": {"since", "from", "due-after"}, "before": {"to", "due-before"}, "start": {"from", "since"}, "startdate": {"from"}, "end": {"to"}, "enddate": {"to"}, "until": {"to"},
		"newer": {
			"since",
		}, "modified": {"since"}, "older": {"min-age"}, "minage": {"min-age"}, "age": {"min-age"}, "olderthan": {"min-age"}, "day": {"date", "since"}, "date": {"date", "since", "from", "due"}, "when": {"date", "since"},
		"from": {
			"from",
			"path",
			"old",
			"since",
		}, "to": {"to", "name", "new"}, "destination": {"to"}, "dest": {"to"}, "newpath": {"to"}, "newname": {"name", "to"}, "newfolder": {"to"}, "into": {"to"},
		"max": {
			"limit",
			"count",
		}, "n": {"count", "limit"}, "number": {"count", "limit"}, "num": {"count", "limit"}, "top": {"limit", "count"}, "size": {"limit", "count"}, "maxresults": {"limit", "count"}, "count": {"count", "limit", "total"},
		"limit": {
			"limit",
			"count",
		}, "results": {"limit"}, "casesensitive": {"case"}, "matchcase": {"case"}, "section": {"heading"}, "header": {"heading"}, "under": {"heading"}, "headline": {"heading"}, "blockid": {"block"},
		"linenumber": {
			"line",
			"lines",
		}, "range": {"lines"}, "oldtext": {"old"}, "oldstring": {"old"}, "oldstr": {"old"}, "find": {"old", "query"}, "newtext": {"new", "content"}, "newstring": {"new"}, "newstr": {"new"},
		"replace": {
			"new",
			"overwrite",
		}, "replacement": {"new"}, "with": {"new"}, "force": {"overwrite"}, "extension": {"ext"}, "type": {"ext", "type", "format"}, "filetype": {"ext"}, "completed": {"done"}, "complete": {"done"},
		"finished": {
			"done",
		}, "open": {"todo"}, "pending": {"todo"}, "incomplete": {"todo"}, "today": {"daily", "date"}, "state": {"status"}, "mark": {"status"}, "status": {"status"}, "sortby": {"sort"}, "order": {"sort"}, "orderby": {"sort"},
		"groupby": {
			"group",
		}, "output": {"format"}, "outputformat": {"format"}, "json": {"format"}, "position": {"position"}, "where": {"where", "query"}, "filter": {"where", "query"}, "fields": {"select"}, "columns": {"select"}, "change": {"id"}, "changeid": {"id"},
	}
}

// unknownParam says which parameter was meant.
func (c *Call) unknownParam(key string, v Value) *ParseError {
	bare := v.form == flagOn
	err := c.refuse(CodeUnknownParam, key, unknown)
	word := strings.TrimLeft(key, "-")
	names := make([]string, len(c.row.params))
	first := "" // the parameter that a command cannot do without, if that is a text
	for i, p := range c.row.params {
		if names[i] = p.name; first == "" && p.required && p.kind != kindFlag {
			first = p.name
		}
	}
	joined := strings.Join(wordsOf(word), "")
	meant := ""
	others := otherParams()[joined]
	if i := slices.IndexFunc(names, func(name string) bool { return strings.ReplaceAll(name, "-", "") == joined }); i >= 0 {
		meant = names[i]
	} else if i := slices.IndexFunc(others, func(other string) bool { return slices.Contains(names, other) }); i >= 0 {
		meant = others[i]
	} else {
		meant = excerpt.Nearest(strings.ToLower(word), names)
	}
	switch {
	case word == "vault":
		err.Reason = "the vault is chosen by the gateway, not by a parameter"
		err.hint = `"vault" is an argument next to "params", not one of them; on a command line it is the flag --vault`
	case word == "copy" && find(c.row.name+":copy") == nil:
		err.Reason = "not allowed: it would overwrite the clipboard of the user"
	case bare && find(c.row.name+":"+word) != nil: // as in "daily read"
		err.hint = fmt.Sprintf("did you mean the command %q?", c.row.name+":"+word)
	case paramAdvice(c.row.name, joined, v) != "":
		err.hint = paramAdvice(c.row.name, joined, v)
	case find(c.row.name+":"+word) != nil:
		err.hint = fmt.Sprintf("did you mean the command %q?", c.row.name+":"+word)
	case word == "" || word == "=":
		err.hint = "write a parameter as name=value, without blanks around ="
	case meant != "":
		err.meant = meant
		err.hint = fmt.Sprintf("did you mean %q?", meant)
		if p := c.row.param(meant); p != nil && p.kind == kindPath && slices.Contains(others, "folder") {
			err.hint += " It names one note; \"files\" lists a folder"
		}
	case len(c.row.params) == 0:
		err.hint = "the command takes no parameters"
	case bare && first != "":
		err.meant = first
		err.hint = fmt.Sprintf("did you mean %s=%s?", first, excerpt.Short(word))
	default:
		err.hint = validParams + strings.Join(names, ", ")
	}
	return err
}

// paramAdvice says what does what an unknown parameter asks for, where no parameter of the command
// does; "" for all others. name is without signs, as [otherParams] has it.
func paramAdvice(command, name string, v Value) string {
	text := excerpt.Short(strings.Trim(v.text, `"`))
	isNote := strings.HasSuffix(strings.ToLower(text), ".md")
	isPlace := slices.Contains([]string{"path", "file", "note", "filepath", "filename", "name", "notepath"}, name)
	switch {
	case command == "attachments" && isPlace && (isNote || name == "note"):
		return fmt.Sprintf("did you mean \"note\"? note=%q lists what that note uses", text)
	case command == "attachments" && isPlace && text != "":
		return fmt.Sprintf("folder=%q lists those in a folder, note= those that a note uses", text)
	case command == "undo" && (isPlace || name == "folder"):
		return "\"history\" with path= lists the changes of a note with their ids; undo takes them with id="
	case command == "undo" && slices.Contains([]string{"count", "n", "steps", "times", "all", "limit", "number", "last"}, name):
		return "undo takes back one change; \"undo:list\" has the ids for id=, and session= takes back all of a session"
	case strings.HasPrefix(command, "daily:") && isPlace && (command == "daily:append" || command == "daily:prepend"):
		return fmt.Sprintf("%q writes to a note by its path", strings.TrimPrefix(command, "daily:"))
	case strings.HasPrefix(command, "daily") && isPlace:
		return "a daily note has its place from the settings of the vault; \"read\" takes a path="
	case command == "note:replace" && slices.Contains([]string{"all", "replaceall", "every", "global", "count", "occurrences"}, name):
		return "the old text has to occur once: give more of the text around it, and call once for each place"
	case command == "note:replace" && slices.Contains([]string{"regex", "pattern", "ignorecase"}, name):
		return "the old text is taken as it is; read the note, and give the exact text"
	case strings.HasSuffix(command, "delete") && slices.Contains([]string{"permanent", "permanently", "force", "hard", "purge"}, name):
		return "a folder goes where the vault keeps deleted files; nothing deletes a folder for good"
	case slices.Contains([]string{"append", "prepend", "note:insert", "property:set"}, command) && slices.Contains([]string{"create", "createifmissing", "createifnotexists"}, name):
		return "\"create\" makes a note"
	}
	return ""
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
		return fmt.Sprintf("did you mean %q?", excerpt.Short(mended))
	case kindTitle:
		if name := strings.Trim(text, "/"); strings.Contains(name, "/") && r.name == "rename" {
			return fmt.Sprintf("rename keeps the folder; \"move\" with to=%q moves it", excerpt.Short(withEnding(name)))
		}
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

// withEnding returns a path of a note with its ending.
func withEnding(path string) string {
	if strings.Contains(path[strings.LastIndexByte(path, '/')+1:], ".") {
		return path
	}
	return path + ".md"
}

// openWords and doneWords are what statuses of tasks are called.
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
