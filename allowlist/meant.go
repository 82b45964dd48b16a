package allowlist

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// Meant returns the command that the caller most likely meant by name: one with a similar name,
// or the one that other tools call that. It returns "" if none is close. The command never has a
// worse effect than the words of name ask for.
func Meant(name string) string {
	if len(name) > excerpt.Limit {
		return ""
	}
	if find(name) != nil {
		return name
	}
	words := wordsOf(name)
	if command := commandSpelledLike(words); command != "" {
		return command
	}
	if meant := commandKnownAs(words); meant != "" {
		return meant
	}
	sorted := slices.Clone(words)
	slices.Sort(sorted)
	if near := nearestCommand(name, words); near != "" {
		return near
	}
	rest := without(sorted, fillers)
	for _, left := range [][]string{rest, without(rest, subjects)} {
		if meant := commandByOtherName(strings.Join(left, " ")); meant != "" && isWithinIntent(meant, words) {
			return meant
		}
		if len(left) == 1 && find(left[0]) != nil && isWithinIntent(left[0], words) {
			return left[0]
		}
	}
	if command := commandBySynonyms(without(words, fillers)); command != "" && isWithinIntent(command, words) {
		return command
	}
	return nearestCommand(strings.Join(words, ":"), words)
}

// commandKnownAs returns the command that other tools call by exactly these words. It returns "" if there is none, or if the
// command has a worse effect than the words ask for.
func commandKnownAs(words []string) string {
	sorted := slices.Clone(words)
	slices.Sort(sorted)
	if meant := commandByOtherName(strings.Join(sorted, " ")); meant != "" && isWithinIntent(meant, words) {
		return meant
	}
	return ""
}

// synonyms lists groups of verbs with the same meaning. [canonicalWord] replaces each of them by the first of its group.
var synonyms = [...]string{
	"read get fetch show view display load print list enumerate look see inspect retrieve output",
	"add append insert put push write log",
	"set update change edit modify patch",
	"create new make generate init",
	"remove delete del rm erase drop",
	"search query lookup locate",
	"move mv relocate",
	"rename retitle",
	"finish complete done",
}

// canonicalWord returns the singular of word, or the first verb of its group in synonyms.
func canonicalWord(word string) string {
	for _, verbs := range synonyms {
		all := strings.Fields(verbs)
		if slices.Contains(all, word) {
			return all[0]
		}
	}
	switch {
	case strings.HasSuffix(word, "ies"):
		return strings.TrimSuffix(word, "ies") + "y"
	case strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && len(word) > len("gas"):
		return strings.TrimSuffix(word, "s")
	}
	return word
}

// canonicalWords applies [canonicalWord] to words and joins the distinct results in alphabetical order.
func canonicalWords(words []string) string {
	plain := make([]string, len(words))
	for i, word := range words {
		plain[i] = canonicalWord(word)
	}
	slices.Sort(plain)
	return strings.Join(slices.Compact(plain), " ")
}

// commandsByWords maps the plain words of every name of a command to the command, or to "" if they fit several.
var commandsByWords func() map[string]string

func init() { commandsByWords = sync.OnceValue(indexCommandWords) }

func indexCommandWords() map[string]string {
	commands := map[string]string{}
	add := func(command string, words []string) {
		key := canonicalWords(words)
		if other, taken := commands[key]; taken && other != command {
			command = ""
		}
		commands[key] = command
	}
	for _, name := range Names() {
		add(name, wordsOf(name))
	}
	for _, row := range otherNamesOf {
		for others := range strings.SplitSeq(row.others, "; ") {
			add(row.command, strings.Fields(others))
		}
	}
	return commands
}

// commandBySynonyms returns the command that has a name with these words or their synonyms, "" if none or several have.
func commandBySynonyms(words []string) string {
	meant := commandsByWords()[canonicalWords(words)]
	if meant == "" && len(words) > 0 {
		meant = commandsByWords()[canonicalWords(without(words, subjects))]
	}
	return meant
}

// commandSpelledLike returns the command whose name has these words with other punctuation, or the two words in
// reverse order. It returns "" if there is none.
func commandSpelledLike(words []string) string {
	joined := strings.Join(words, "")
	swapped := ""
	if len(words) == 2 {
		swapped = words[1] + ":" + words[0]
	}
	for _, name := range Names() {
		hasSameLetters := joined != "" && strings.Map(letters, name) == joined
		if hasSameLetters || name == swapped {
			return name
		}
	}
	return ""
}

// letters is a mapping for [strings.Map] that keeps letters and digits.
func letters(r rune) rune {
	if unicode.IsLetter(r) || unicode.IsDigit(r) {
		return r
	}
	return -1
}

// wordsOf splits a name at punctuation and before capital letters: read_note and readNote have the same words.
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

// fillers are words that do not distinguish the names of tools.
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

// subjects are words for notes and files, which most commands work on.
var subjects = []string{"note", "notes", "file", "files", "page", "pages"}

func without(words, others []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool { return slices.Contains(others, word) })
}

// unknownCommand returns the error for a name that is not a command. Its hint suggests the command that was most
// likely meant; name may also be a whole command line.
func unknownCommand(name string) *ParseError {
	err := &ParseError{code: CodeUnknownCommand, Command: name, Reason: unknown}
	if len(name) > maxLine {
		return err
	}
	hint, isLine := hintForLine(name)
	command := commandSpelledLike(wordsOf(name))
	switch meant := Meant(name); {
	case isLine:
		err.hint = hint
	case command != "":
		err.hint = fmt.Sprintf("did you mean %q?", command)
	case commandKnownAs(wordsOf(name)) != "":
		err.hint = fmt.Sprintf("did you mean %q?", commandKnownAs(wordsOf(name)))
	case adviceFor(wordsOf(name)) != "":
		err.hint = adviceFor(wordsOf(name))
	case meant != "":
		err.hint = fmt.Sprintf("did you mean %q?", meant)
	}
	return err
}

// hintForLine returns the hint for a command line that was sent as a command name: the same call as JSON. The hint
// is "" if the line begins with a command that cannot be enabled, or if its intent is unclear. isLine is false if
// line is not a command line.
func hintForLine(line string) (hint string, isLine bool) {
	words := splitLine(callAsLine(line))
	for len(words) > 1 && slices.Contains([]string{"obsidian", "vaultwicket", "run"}, words[0]) {
		words = words[1:]
	}
	isText := len(words) > 1 && !strings.ContainsAny(line, "=-")
	if len(words) == 0 || isText && isName(words) {
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
	option := "" // the last word, if it was --name and still lacks its value
	for _, word := range rest {
		key, value, found := strings.Cut(strings.TrimLeft(word, "-"), "=")
		isOption := strings.HasPrefix(word, "-") && r.param(key) != nil
		switch p := r.param(key); {
		case found:
			params[key] = strings.Trim(value, `"'`)
		case p != nil && p.kind == kindFlag:
			params[key] = true
		case isOption:
			option = key
		case option != "":
			params[option] = strings.Trim(word, `"'`)
			option = ""
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

// isName reports whether the words of a line are another name of a command, as in "files list".
func isName(words []string) bool {
	all := wordsOf(strings.Join(words, " "))
	last := all[len(all)-1:]
	return commandKnownAs(all) != "" && isSpelledRight(all) && !intentOf(last).WorseThan(tiers.Reads)
}

// callAsLine rewrites a function call such as read("A.md") as a command line; any other line is returned unchanged.
func callAsLine(line string) string {
	name, arguments, found := strings.Cut(line, "(")
	inside, isCall := strings.CutSuffix(arguments, ")")
	if !found || !isCall || find(name) == nil {
		return line
	}
	return name + " " + strings.ReplaceAll(inside, ",", " ")
}

// commandOf returns the row of the command that the words begin with, and the words after it. A command with a
// colon may be written as two words, in either order.
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

// asksForMore reports whether the word after a command is itself a verb or the object of the command, and not a
// value: "tag add" does not look up the tag "add", and "delete tag x" does not delete a note.
func asksForMore(r *row, word string) bool {
	word = strings.ToLower(word)
	if intentOf([]string{word}).WorseThan(r.effect) {
		return true
	}
	changes := r.effect.WorseThan(tiers.Shows)
	return changes && isWord(word) && r.param("content") == nil
}

// bareParam returns the parameter that a value without a name is meant for: the first required one that is not
// given, otherwise the one that names a note. It returns "" if there is none, and for a command that changes
// something also if several parameters are possible.
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
	if i := slices.IndexFunc(r.params, func(p param) bool { return p.kind == kindWord }); i >= 0 {
		return r.params[i].name
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

// adviceForLine returns the hint for a line whose bare words are not a value: another command that they name,
// otherwise the parameters of r.
func adviceForLine(r *row, words []string) string {
	for n := min(len(words), 3); n > 1; n-- {
		var lower []string
		for _, word := range words[:n] {
			lower = append(lower, wordsOf(word)...)
		}
		if advice := adviceFor(lower); advice != "" {
			return advice
		}
		slices.Sort(lower)
		if meant := commandByOtherName(strings.Join(lower, " ")); meant != "" && isWithinIntent(meant, lower) {
			return fmt.Sprintf("did you mean %q?", meant)
		}
	}
	names := make([]string, len(r.params))
	for i, p := range r.params {
		names[i] = p.name
	}
	asked := without(wordsOf(strings.Join(words[:min(len(words), 3)], " ")), []string{r.name})
	asksForOther := slices.ContainsFunc(asked, isVerb)
	if len(names) == 0 || asksForOther && !isWithinIntent(r.name, asked) {
		return ""
	}
	return fmt.Sprintf("the parameters of %q have names: %s", r.name, strings.Join(names, ", "))
}

// maxLine is the length in bytes of the longest command line for which a hint spells out the call.
const maxLine = 400

// splitLine splits line at blanks outside of quotation marks. The quotation marks stay in the words.
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

// commandByOtherName returns the command that other tools, shells and agents call by words, which must be in alphabetical
// order; "" if there is none.
func commandByOtherName(words string) string {
	for _, row := range otherNamesOf {
		if slices.Contains(strings.Split(row.others, "; "), words) {
			return row.command
		}
	}
	return ""
}

// otherNamesOf lists names of commands in other tools, their words in alphabetical order.
var otherNamesOf = [...]struct{ command, others string }{
	{"find", "search semantic; search vector; search smart; rank; notes rank; ask; search similarity; notes search semantic; meaning search; fuzzy search; best match"},
	{"attachment:read", "attachment get; attachment view; attachment show"},
	{"briefing", "briefing morning; briefing daily; day overview; day of summary"},
	{"base:views", "list views; views; get views; base of views"},
	{"task:reschedule", "reschedule; reschedule task; postpone; postpone task; date due set; change date due task; snooze task"},
	{"property:remove-item", "item property remove; item list property remove; from list property remove"},
	{"property:add", "append property; append item property; add item property; append list property; add list property to"},
	{"periodic:append", "add periodic; add note weekly; append note to weekly; append weekly; append monthly"},
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
			"lookup; md search; note search; notes search; query search; rg; search simple; search text; search vault",
	},
	{
		"search:context",
		"context search; context search with; grep lines; lines search; matches; matches search; search snippets",
	},
	{
		"daily:read",
		"note read today; get note todays; note todays; journal read; journal read today; journal today; daily get; daily get note; daily note; daily note open; daily note read; daily open; daily read; daily show; daily today; daily view; " +
			"diary; get today; journal; note today; read today; show today; today",
	},
	{
		"daily:append",
		"add journal to; add journal; append journal to; add to today; add daily note to; append journal; journal write; log; add daily; add daily note; add daily to; add inbox; add quick; append daily; append daily note; append daily to; " +
			"append log; capture; capture quick; daily insert; daily log; daily update; daily write",
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
		"summarise; note summarise; contents of table; contents table; document get map; document map; get headings; get outline; heading list; headings; headings list; " +
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
	{"vault", "info list vault; get info vault; details vault; about; info vault; stats vault; status vault"},
	{"vaults", "all list vault; available list vaults; available vaults; get vaults; list vaults"},
	{"undo", "back roll; change revert; change undo; changes undo; history undo; last undo; revert; rollback"},
	{"undo:list", "change list; changes history; changes journal; changes list; list undo"},
	{"history:read", "get version; read version; show version"},
	{"unresolved", "dangling links; dead links list; links unresolved; broken find links; broken links; check links; dead links; links missing"},
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
	{"attachment:text", "ocr; file ocr; ocr pdf; extract text; pdf; pdf read; pdf text"},
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
		"note periodic; get note periodic; read weekly; monthly read; note read weekly; read yearly; quarterly read; get note weekly; month note; monthly; monthly note; note quarterly; note week; note weekly; note yearly; weekly",
	},
	{"task:add", "reminder set; add tasks; add do to; create reminder; new reminder; add reminder; add task; add todo; create task; create todo; new task; new todo"},
}

// otherParamsOf lists parameter names of other tools, without punctuation, with our parameters that they may mean.
// The first of ours that the command has is suggested.
var otherParamsOf = [...]struct{ names, ours string }{
	{"after", "since from due-after"},
	{"age minage older olderthan", "min-age"},
	{"anchor header heading headline section subpath under", "heading"},
	{"append contents description entry insert markdown message newcontent", "content"},
	{"base canvas link", "path file"},
	{"before", "to due-before"},
	{"block blockid", "block"},
	{"body", "content new"},
	{"caseinsensitive ignorecase", "ignore-case"},
	{"casesensitive matchcase", "case"},
	{"change changeid", "id"},
	{"columns", "select order"},
	{"complete completed finished", "done"},
	{"condition", "where"},
	{"content", "content text"},
	{"count", "count limit total"},
	{"data", "content value"},
	{"date", "date since from due"},
	{"day when", "date since"},
	{"days", "since min-age from offset"},
	{"deadline due duedate", "due"},
	{"desc direction order orderby sortby sortorder", "sort"},
	{"dest destination dst end enddate into newfolder newpath tonode until", "to"},
	{"dir directory folder folderpath in parent root scope", "folder path"},
	{"distance hops", "depth"},
	{"every recurrence recurring repeat", "recurs"},
	{"expression", "expr where"},
	{"extension filetype", "ext"},
	{"field key oldname prop property propertyname", "name"},
	{"fields props select", "select"},
	{"file", "path ref name"},
	{"filename", "path file name"},
	{"filepath", "path folder"},
	{"filter where", "where query"},
	{"find", "old query"},
	{"force", "overwrite"},
	{"formula", "expr"},
	{"from", "from path old name since heading"},
	{"fromnode startdate", "from"},
	{"groupby", "group"},
	{"id", "ref id version path file"},
	{"incomplete open pending", "todo"},
	{"item", "value content ref"},
	{"items newvalue propertyvalue values", "value"},
	{"json output outputformat", "format"},
	{"k limit max maxresults size top topk", "limit count"},
	{"keyword keywords pattern prompt question searchterm term", "query"},
	{"kind", "type"},
	{"levels", "depth level"},
	{"line", "content lines line"},
	{"linenumber", "line lines"},
	{"mark state status", "status"},
	{"maxage modified newer window", "since"},
	{"maxrows pagesize results take", "limit"},
	{"n num number", "count limit"},
	{"name", "file name path"},
	{"new", "new to name"},
	{"newname", "name to"},
	{"newstr newstring replacement with", "new"},
	{"newtext", "new content"},
	{"note", "path file name content"},
	{"notename", "file name"},
	{"notepath src", "path"},
	{"old", "old name heading"},
	{"oldstr oldstring oldtext", "old"},
	{"page pages", "pages"},
	{"path", "folder ref file name"},
	{"period", "period since"},
	{"position", "position"},
	{"q", "query name"},
	{"query", "query where name expr text"},
	{"range", "lines"},
	{"replace", "new overwrite"},
	{"revision versionid", "version"},
	{"search", "query old"},
	{"since", "since from"},
	{"source", "path from"},
	{"start", "from since start"},
	{"string", "content query"},
	{"tag tags", "name tag"},
	{"target", "to path"},
	{"task", "content ref"},
	{"template", "name template"},
	{"templatename", "template name"},
	{"text", "content query value new text"},
	{"title", "name file path heading"},
	{"to", "to name new"},
	{"today", "daily date"},
	{"type", "ext type format period"},
	{"uri", "path url"},
	{"url", "url path"},
	{"value", "value content"},
}

// otherParams returns our parameters that a parameter name of another tool may mean.
func otherParams(name string) []string {
	for _, row := range otherParamsOf {
		if slices.Contains(strings.Fields(row.names), name) {
			return strings.Fields(row.ours)
		}
	}
	return nil
}

// unknownParam returns the error for a parameter that the command does not have. Its hint suggests the parameter or
// the command that was most likely meant.
func (c *Call) unknownParam(key string, v Value, given Params) *ParseError {
	bare := v.form == flagOn
	err := c.refuse(CodeUnknownParam, key, unknown)
	word := strings.TrimLeft(key, "-")
	names := make([]string, len(c.row.params))
	first := "" // the first required parameter that is not a flag
	for i, p := range c.row.params {
		names[i] = p.name
		if first == "" && p.required && p.kind != kindFlag {
			first = p.name
		}
	}
	joined := strings.Join(wordsOf(word), "")
	others := otherParams(joined)
	meant := c.row.paramMeant(word, v, given)
	_, isGiven := given[first]
	switch {
	case word == "vault":
		err.Reason = "the vault is chosen by the gateway, not by a parameter"
		err.hint = `"vault" is an argument next to "params", not one of them`
	case slices.Contains(besideParams, joined) && c.row.param(word) == nil && joined != "limit":
		err.Reason = "is not a parameter of a command"
		err.hint = fmt.Sprintf("%q is an argument next to \"params\", not one of them", word)
	case word == "copy" && find(c.row.name+":copy") == nil:
		err.Reason = "not allowed: it would overwrite the clipboard of the user"
	case bare && find(c.row.name+":"+word) != nil: // as in "daily read"
		err.hint = fmt.Sprintf("did you mean the command %q?", c.row.name+":"+word)
	case adviceForParam(c.row.name, joined, v) != "":
		err.hint = adviceForParam(c.row.name, joined, v)
	case find(c.row.name+":"+word) != nil:
		err.hint = fmt.Sprintf("did you mean the command %q?", c.row.name+":"+word)
	case word == "" || word == "=":
		err.hint = "write a parameter as name=value, without blanks around ="
	case meant == "since" && joined == "days" && isCount(v.text):
		err.meant = meant
		err.hint = fmt.Sprintf("did you mean \"since\"? since=\"-%sd\" is that many days ago", excerpt.Short(v.text))
	case meant != "":
		err.meant = meant
		err.hint = fmt.Sprintf("did you mean %q?", meant)
		if p := c.row.param(meant); p != nil && p.kind == kindPath && slices.Contains(others, "folder") {
			err.hint += " It names one note; \"files\" lists a folder"
		}
	case len(c.row.params) == 0:
		err.hint = "the command takes no parameters"
	case bare && first != "" && !isGiven:
		err.meant = first
		err.hint = fmt.Sprintf("did you mean %s=%s?", first, excerpt.Short(word))
	default:
		err.hint = validParams + strings.Join(names, ", ")
	}
	return err
}

// paramMeant returns the parameter of the row that was most likely meant by an unknown one, "" if there is none: one with
// the same letters, one that other tools call so, one with a similar name, or one whose name is a part of word.
func (r *row) paramMeant(word string, v Value, given Params) string {
	joined := strings.Join(wordsOf(word), "")
	names := make([]string, len(r.params))
	for i, p := range r.params {
		if strings.ReplaceAll(p.name, "-", "") == joined {
			return p.name
		}
		names[i] = p.name
	}
	if meant := r.otherParam(otherParams(joined), v, given); meant != "" {
		return meant
	}
	if meant := excerpt.Nearest(strings.ToLower(word), names); meant != "" {
		return meant
	}
	return r.partOfName(word, given)
}

// besideParams are the arguments of the tools, without punctuation, that belong next to "params" and not into it.
var besideParams = []string{"dryrun", "cursor", "expecthash", "idempotencykey"}

// otherParam returns the first of others that the row has and that is not given yet; a required one takes precedence.
// It returns "" if there is none, and prefers file to path for a value that looks like the name of a note.
func (r *row) otherParam(others []string, v Value, given Params) (meant string) {
	for _, name := range others {
		p := r.param(name)
		_, taken := given[name]
		if p == nil || taken {
			continue
		}
		if p.required {
			return name
		}
		if meant == "" {
			meant = name
		}
	}
	_, hasFile := given["file"]
	isName := v.text != "" && !strings.ContainsAny(v.text, "./")
	mayBeFile := slices.Contains(others, "file") && r.param("file") != nil && !hasFile
	if meant == "path" && isName && mayBeFile {
		return "file"
	}
	return meant
}

// partOfName returns the only parameter whose name is among the words of word, as in "include_frontmatter"; "" if
// there is none, or more than one.
func (r *row) partOfName(word string, given Params) (meant string) {
	for _, part := range wordsOf(word) {
		if _, taken := given[part]; taken || r.param(part) == nil {
			continue
		}
		if meant != "" {
			return ""
		}
		meant = part
	}
	return meant
}

// isCount reports whether text is a number without a sign.
func isCount(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// adviceForParam returns the hint for an unknown parameter that no other parameter of the command can replace: what to
// call instead. It returns "" for all others. name has no punctuation, as in otherParams.
func adviceForParam(command, name string, v Value) string {
	text := excerpt.Short(strings.Trim(v.text, `"`))
	isNote := strings.HasSuffix(strings.ToLower(text), ".md")
	isMany := slices.Contains([]string{"files", "paths", "notes", "filepaths"}, name)
	isPlace := slices.Contains([]string{"path", "file", "note", "filepath", "filename", "name", "notepath"}, name)
	meansNote := isPlace && (isNote || name == "note")
	namesFolder := slices.Contains([]string{"folder", "dir", "directory"}, name) && text != ""
	switch {
	case command == "attachments" && meansNote:
		return fmt.Sprintf("did you mean \"note\"? note=%q lists what that note uses", text)
	case command == "attachments" && isPlace && text != "":
		return fmt.Sprintf("folder=%q lists those in a folder, note= those that a note uses", text)
	case command == "read" && slices.Contains([]string{"heading", "section", "subpath", "header", "anchor"}, name):
		return fmt.Sprintf("\"note:section\" with heading=%q prints one section", text)
	case command == "read" && (name == "block" || name == "blockid"):
		return fmt.Sprintf("\"note:section\" with block=%q prints one block", text)
	case command == "read" && slices.Contains([]string{"lines", "line", "offset", "limit", "start", "end", "startline", "endline", "from", "to"}, name):
		return "\"note:section\" with lines=1-20 prints some lines"
	case slices.Contains([]string{"move", "rename", "copy"}, command) && slices.Contains([]string{"overwrite", "force", "replace"}, name):
		return "nothing is overwritten by it: move or delete what has that name, or choose another"
	case slices.Contains([]string{"move", "copy"}, command) && namesFolder:
		return fmt.Sprintf("to=%q is the folder into which it goes", strings.TrimRight(text, "/")+"/")
	case command == "property:rename" && isPlace && isNote:
		return "a property gets its new name in all notes, or in those of folder=; property:set and property:remove change one note"
	case isMany && rowNamed(command).param("path") != nil && rowNamed(command).param("files") == nil:
		return "path= is one note: send a call for each, or all of them as one batch"
	case command == "undo" && (isPlace || name == "folder"):
		return "\"history\" with path= lists the changes of a note with their ids; undo takes them with id="
	case command == "undo" && slices.Contains([]string{"count", "n", "steps", "times", "all", "limit", "number", "last"}, name):
		return "undo takes back one change; \"undo:list\" has the ids for id=, and session= takes back all of a session"
	case slices.Contains([]string{"daily:append", "daily:prepend"}, command) && isPlace:
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
