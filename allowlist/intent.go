package allowlist

import (
	"slices"
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// intents lists the verbs in made-up names of commands by the worst effect that they ask for. A hint
// never suggests a command with a worse effect.
var intents = map[tiers.Effect]string{
	tiers.Reads: "analyze browse check compare contains count describe diff dump enumerate examine exists all explain export fetch filter find get glob grep head info inspect list " +
		"load locate look lookup ls map peek preview print query read recent scan search see show stat stats status summarize summary tail tree validate view watch where",
	tiers.Shows: "activate display focus go goto jump launch navigate open reveal switch",
	tiers.Writes: "add annotate append apply archive assign attach bookmark build capture change close complete concat connect convert copy create " +
		"do done draw duplicate edit embed extract finish fix format generate import inbox init insert instantiate link log make manage mark mkdir modify " +
		"move mv new patch pin post postpone prepend put quick record redo refactor relocate rename reorder replace reschedule restore revert roll rollback " +
		"save schedule sed set setup snooze split start store submit tag tick toggle touch unarchive undo uncheck unpin update upload upsert write",
	tiers.Destroys: "bulk clean clear combine del delete destroy discard drop empty erase join mass merge overwrite prune purge remove rm rmdir shred trash truncate unlink unset wipe",
}

// nouns are the objects of commands. A name that consists of known verbs and nouns has no typing error.
const nouns = "agenda alias aliases attachment attachments backlink backlinks base bases batch block blocks bookmark bookmarks board calendar callout canvas canvases card cards changelog changes " +
	"comment comments content contents daily database day diary dir directories directory document documents edge edges embed embeds favorite favorites favourites field " +
	"file files folder folders footnote footnotes formula formulas frontmatter graph group heading headings history id image images index item items journal " +
	"kanban key keys label labels line lines link links media metadata month monthly name names node nodes note notes orphan orphans outline outlinks page pages pane panes " +
	"path paths pdf periodic plugin plugins project projects properties property quarterly recents reminder reminders row rows section sections session settings snippet snippets table tables tab tabs tag " +
	"tags task tasks template templates text theme title titles todo todos today tomorrow toc undo value vault vaults version versions view views week weekly word words workspace workspaces " +
	"yaml year yearly yesterday"

// vocabulary maps the known words of names to the effect that they ask for; nouns and fillers ask to read.
var vocabulary func() map[string]tiers.Effect

func init() { vocabulary = sync.OnceValue(readVocabulary) }

func readVocabulary() map[string]tiers.Effect {
	words := map[string]tiers.Effect{}
	for _, filler := range fillers {
		words[filler] = tiers.Reads
	}
	for noun := range strings.FieldsSeq(nouns) {
		words[noun] = tiers.Reads
	}
	for effect, verbs := range intents {
		for verb := range strings.FieldsSeq(verbs) {
			words[verb] = effect
		}
	}
	return words
}

// intentOf returns the worst effect that the words of a name ask for. A name without a known word asks to read.
func intentOf(words []string) tiers.Effect {
	worst := tiers.Reads
	hasVerb := slices.Contains(words, "all") || slices.ContainsFunc(words, isVerb)
	for _, word := range words {
		isObject := hasVerb && isNoun(word) // "bookmark" asks to create one, but "list bookmark" does not
		effect, known := vocabulary()[word]
		if known && !isObject && effect.WorseThan(worst) {
			worst = effect
		}
	}
	return worst
}

// isSpelledRight reports whether every word of a name is known, so that the name has no typing error.
func isSpelledRight(words []string) bool {
	return len(words) > 0 && !slices.ContainsFunc(words, func(word string) bool { return !isWord(word) })
}

func isNoun(word string) bool { return slices.Contains(strings.Fields(nouns), word) }

// isVerb reports whether word is a known verb that is not a noun, too.
func isVerb(word string) bool {
	return isWord(word) && !isNoun(word) && !slices.Contains(fillers, word)
}

func isWord(word string) bool {
	_, known := vocabulary()[word]
	return known
}

// isWithinIntent reports whether a hint for a name with these words may suggest command: its effect is not worse than
// the one that the words ask for.
func isWithinIntent(command string, words []string) bool {
	r := find(command)
	return r != nil && !r.effect.WorseThan(intentOf(words))
}

// nearestCommand returns the command that is spelled almost like name, "" if there is none. A command whose effect is
// worse than what the known words ask for is only returned if its name has the same words and the unknown ones are
// typing errors.
func nearestCommand(name string, words []string) string {
	near := excerpt.Nearest(strings.ToLower(name), Names())
	switch {
	case near == "" || isSpelledRight(words):
		return ""
	case isWithinIntent(near, words) || isMisspelt(words, wordsOf(near)):
		return near
	}
	return ""
}

// isMisspelt reports whether words are the words of right with typing errors.
func isMisspelt(words, right []string) bool {
	if len(words) != len(right) {
		return false
	}
	for i, word := range words {
		limit := max(1, len(word)/4) // errors in a word
		isSame := word == right[i]
		isTypo := !isWord(word) && excerpt.Mistakes([]rune(word), []rune(right[i]), limit) <= limit
		if !isSame && !isTypo {
			return false
		}
	}
	return true
}

// adviceFor returns advice for a name that asks for something that no single command does, "" if there is none.
func adviceFor(words []string) string {
	sorted := slices.Clone(words)
	slices.Sort(sorted)
	bare := without(without(sorted, fillers), subjects)
	if slices.Contains(sorted, "all") { // "all" asks for a list
		bare = nil
	}
	for _, left := range [][]string{sorted, bare} {
		joined := strings.Join(left, " ")
		for _, row := range advices {
			if joined != "" && slices.Contains(strings.Split(row.names, "; "), joined) {
				return row.advice
			}
		}
	}
	return ""
}

// advices lists made-up names, their words in alphabetical order, with the call that does the same, or with the answer
// that nothing does.
var advices = [...]struct{ names, advice string }{
	{
		"search regex; regex; regexp search; regex find",
		`"search" takes a regular expression between slashes, as in query="/colou?r/"`,
	},
	{
		"redo; change redo; redo undo",
		`an undo is a change too: "undo:list" has its id, and "undo" with that id takes it back`,
	},
	{
		"archive; archive file; archive note; archive page; archive folder",
		`nothing is archived by itself: "move" with to="Archive/" puts a note into a folder`,
	},
	{
		"unarchive; note unarchive; restore; note restore; file restore; recover; note recover; trash untrash; untrash; undelete",
		`"undo:list" lists what can be taken back, and "undo" with an id takes back that change; "history" lists the versions of a note`,
	},
	{
		"canvas list; canvases; canvases list; all canvases; canvases get; boards; board list",
		`"files" with ext=canvas lists them`,
	},
	{"list pdf; list pdfs; pdfs; all pdfs", `"attachments" with type=pdf lists them`},
	{
		"add tag; add tags; add note tag; tag; assign tag; create tag; apply tag; append tag; manage tags; insert tag; new tag; set tag; set tags; tag write; tag update; tags update",
		`"property:add" with name=tags value=TAG adds one to the properties of a note`,
	},
	{"remove tag; remove tags; delete tag; delete tags; drop tag; tag unset; clear tags; untag; tag untag",
		`"property:remove-item" with name=tags value=TAG takes one out of the properties of a note; with query="tag:#TAG" out of those of many`},
	{
		"mkdir; mkdirs; folder mkdir; create dir; create directory; directory make; folder make; folder new; add folder; folder put; dir make; directory new",
		`"folder:create" with path= makes a folder`,
	},
	{
		"rmdir; delete directory; directory remove; dir remove; delete dir; folder remove; folder rm",
		`"folder:delete" with path= deletes a folder with all that is in it`,
	},
	{
		"image; image read; get image; image view; image show; display image; picture; picture read; image open",
		`"attachment:read" with path= shows an image; "attachments" with type=image lists them`,
	},
	{
		"image insert; add embed; embed; embed file; embed note; embed image; embed insert; create embed",
		`nothing embeds by itself: "append" with content="![[FILE]]" does`,
	},
	{
		"add link; create link; insert link; link make; link; link note; link notes; link new",
		`nothing links by itself: "append" with content="[[NOTE]]" does`,
	},
	{
		"batch; bulk; multi; batch call; batch run; batch calls; transaction; sequence; chain; pipeline",
		`several calls at once are a batch, which has a tool and a subcommand of its own, and is not a command`,
	},
	{
		"graph; graph view; get graph; graph read; graph show; knowledge map; map; map mind; network; connections; links map",
		`"links" with depth=2 path=NOTE lists what a note leads to; "related" finds notes on the same subject`,
	},
	{
		"delete heading; delete section; heading remove; remove section; block delete; block remove; delete line; delete lines; line remove; lines remove; remove text; delete text; delete task; remove task; task trash",
		`"note:replace" with old= and new= changes text; "note:set-section" replaces a part by other text`,
	},
	{
		"add heading; create heading; heading insert; heading new; add section; create section; new section; insert section",
		`"append" with heading= and create-heading=true makes a heading and adds text below it`,
	},
	{
		"edit task; rename task; change task; modify task",
		`"note:replace" with old= and new= changes the text of a task; "task" its status, "task:reschedule" its dates`,
	},
	{
		"add row; base create; base new; base make; add base; create database; database new",
		`"create" with path="NAME.base" makes a base; "base:create" makes a note in one`,
	},
	{"base delete; base remove; canvas delete; delete template; remove template", `"delete" with path= deletes a file`},
	{"create template; new template", `a template is a note in the folder of templates: "create" with path= makes it`},
	{
		"add alias; alias create; alias new; alias set; aliases set",
		`"property:add" with name=aliases value=NAME adds one`,
	},
	{"alias remove; alias delete; aliases remove", `"property:remove-item" with name=aliases value=NAME takes one out`},
	{
		"duplicate; clone; clone note; duplicate note; duplicate file; cp; copy file; copy note",
		`"copy" with to= copies a file`,
	},
	{
		"combine; combine notes; merge; merge notes; join notes",
		`"note:merge" with into= puts a note at the end of another, and removes it`,
	},
	{"split; divide; note split; divide note", `"note:split" makes a note of each section`},
	{
		"extract; extract section; extract heading; move section",
		`"note:extract" with heading= and to= makes a note of a section`,
	},
	{"add bookmark; bookmark create; star; favorite; pin; note pin", `"bookmark" with file= bookmarks a file`},
	{
		"bookmark delete; bookmark remove; unpin; unstar; unbookmark",
		`no command removes a bookmark: the user can, in the app`,
	},
	{
		"export; export note; convert; convert note; note print; export pdf; export html; pdf to",
		`nothing converts or exports: "read" prints a note`,
	},
	{
		"commit; commit git; backup; backup vault; push; pull; snapshot; sync vault",
		`nothing does this; every change is recorded and "undo" takes it back`,
	},
	{
		"exec; shell; run; bash; code eval; python; script; run script; execute; command execute",
		`nothing runs programs`,
	},
	{
		"publish; note publish; share; note share; note upload",
		`nothing shares a note unless the user allows to publish`,
	},
	{"count notes; count note; count files; total", `"files" with total=true ext=md counts the notes`},
	{
		"formula; formulas; evaluate; evaluate formula; formula read; calculate; compute",
		`"base:eval" with expr= and path= evaluates an expression for a note`,
	},
}
