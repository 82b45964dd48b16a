package allowlist

import "github.com/vaultwicket/vaultwicket/tiers"

// v2Rows: bases, history, links, publish and templates.
//
// Nobody has published what history, diff and publish print. Their answers may
// be silent, and what a call did is read back from the note.
var v2Rows = []row{
	// 1.12 on Windows listed the focused vault, whatever vault= said.
	{name: "bases", tier: tiers.V2, effect: tiers.Reads, target: targetVault, summary: "List the base files of the vault",
		reply: Reply{Kind: Paths, Empty: "No base files found in vault"}}, // this sentence has no full stop
	// The app takes no target: file, path and even vault= are ignored (recorded on 1.12.7).
	{name: "base:views", tier: tiers.V2, effect: tiers.Reads, summary: "List the views of a base, or of the one that is open in the app",
		params: []param{ourBaseByName, ourBaseByPath}, exclusive: fileOrPath, reply: Reply{Kind: Lines, Silent: true}},
	// file and path name the base, not the note, so the base is the explicit target. A taken name
	// becomes a numbered copy; the answer has the name only.
	{name: "base:create", tier: tiers.V2, effect: tiers.Writes, summary: "Add a note to a base", shows: showsNewTab,
		params: []param{
			baseByName, baseByPath,
			{name: "view", kind: kindName, summary: "The view whose filters it should meet"},
			{name: "name", kind: kindTitle, summary: "The name of the note"},
			{name: "content", kind: kindContent, summary: "Its text"},
			{name: "group", kind: kindText, embeddedOnly: true, rare: true, summary: "The group of the view in which it is to be"},
			openAfter, openNewTab,
		}, exclusive: fileOrPath, needs: tabNeeds, since: tiers.Version{1, 12, 2}, // file, path and view
		reply: Reply{Kind: Confirmation, Confirms: []string{"Created: "}}, access: AccessToRead}, // the path is that of the base
	{name: "base:query", tier: tiers.V2, effect: tiers.Reads, searches: true, summary: "Print the rows of a base",
		params: []param{
			baseByName, baseByPath,
			{name: "view", kind: kindName, summary: "The view to use"},
			{name: "format", kind: kindChoice, choices: baseFormats, rare: true, summary: "Output format, default: json"},
			queryWhere, querySelect, querySort, queryGroup, queryLimit, queryOffset, queryValues, queryGroups, querySummaries,
			queryExplain, queryThis,
		}, exclusive: fileOrPath, reply: Reply{Kind: Lines, Silent: true, JSON: true}},
	{name: "base:check", tier: tiers.V2, effect: tiers.Reads, embeddedOnly: true, reach: reachNote,
		summary: "List what is wrong with a base",
		params: []param{
			baseByName, baseByPath,
			{name: "format", kind: kindChoice, choices: textOrJSON, rare: true, summary: "Output format"},
		}, exclusive: fileOrPath, reply: Reply{Kind: Lines}},
	{name: "base:eval", tier: tiers.V2, effect: tiers.Reads, embeddedOnly: true, summary: "Evaluate an expression of bases for a note",
		params: []param{
			noteByName, noteByPath,
			{name: "expr", kind: kindText, required: true, summary: "The expression, such as file.tags.length"},
			{name: "base", kind: kindPath, summary: "A base whose formulas can be used"},
			{name: "format", kind: kindChoice, choices: textOrJSON, rare: true, summary: "Output format; JSON has the type too"},
		}, exclusive: fileOrPath, reply: Reply{Kind: Content, Silent: true}},
	// file and path name the base; what is changed are the rows of its view.
	{name: "base:set", tier: tiers.V2, effect: tiers.Writes, embeddedOnly: true, many: true,
		summary: "Set a property of all notes in a view of a base",
		params: []param{
			baseByName, baseByPath,
			{name: "view", kind: kindName, summary: "The view to use"},
			{name: "where", kind: kindText, summary: "One more filter, an expression of bases"},
			{name: "limit", kind: kindNumber, least: 1, most: maxRows, summary: "Maximum number of notes"},
			{name: "name", kind: kindName, required: true, summary: "The property"},
			{name: "value", kind: kindText, required: true, summary: "Its value; commas separate the items of a list"},
			{name: "type", kind: kindChoice, choices: []string{"text", "list", "number", "checkbox", "date", "datetime"}, rare: true, summary: "Its type"},
		}, exclusive: fileOrPath, reply: Reply{Kind: Confirmation, Confirms: []string{"Set "}}},
	{name: "base:add-view", tier: tiers.V2, effect: tiers.Writes, reach: reachNote, embeddedOnly: true, summary: "Add a view to a base",
		params: []param{
			baseByName, baseByPath,
			{name: "name", kind: kindName, required: true, summary: "The name of the view"},
			viewType, viewFilters, viewOrder, viewSort, viewGroup, viewLimit, viewSummaries,
		}, exclusive: fileOrPath, reply: Reply{Kind: Confirmation, Confirms: []string{"Added: "}}},
	{name: "base:set-view", tier: tiers.V2, effect: tiers.Writes, reach: reachNote, embeddedOnly: true,
		summary: "Change a view of a base; none as a value takes a key out",
		params: []param{
			baseByName, baseByPath, viewNamed, viewType, viewFilters, viewOrder, viewSort, viewGroup, viewLimit, viewSummaries,
		}, exclusive: fileOrPath, reply: Reply{Kind: Confirmation, Confirms: []string{"Changed: "}}},
	{name: "base:remove-view", tier: tiers.V2, effect: tiers.Destroys, reach: reachNote, embeddedOnly: true,
		summary: "Remove a view from a base", params: []param{baseByName, baseByPath, viewNamed}, exclusive: fileOrPath,
		reply: Reply{Kind: Confirmation, Confirms: []string{"Removed: "}}},
	{name: "base:set-formula", tier: tiers.V2, effect: tiers.Writes, reach: reachNote, embeddedOnly: true,
		summary: "Set a formula of a base, or remove it",
		params: []param{
			baseByName, baseByPath,
			{name: "name", kind: kindName, required: true, summary: "The name of the formula"},
			{name: "expr", kind: kindText, summary: "Its expression, such as rating * 2"},
			{name: "remove", kind: kindFlag, rare: true, summary: "Remove the formula"},
		}, oneOf: [][]string{{"expr", "remove"}}, exclusive: [][]string{{"file", "path"}, {"expr", "remove"}},
		reply: Reply{Kind: Confirmation, Confirms: []string{"Set: ", "Removed: "}}},
	// Four extensions that change many notes at once: all of them or none. They have
	// no target; what may be changed is judged note by note.
	{name: "tag:rename", tier: tiers.V2, effect: tiers.Writes, target: targetNone, embeddedOnly: true, many: true,
		summary: "Rename a tag, and those below it, in all notes",
		params:  []param{{name: "name", kind: kindName, required: true, summary: "The tag"}, newName, inFolder},
		reply:   Reply{Kind: Confirmation, Confirms: []string{"Renamed tag "}}},
	{name: "property:rename", tier: tiers.V2, effect: tiers.Writes, target: targetNone, embeddedOnly: true, many: true,
		summary: "Rename a property in all notes",
		params:  []param{{name: "name", kind: kindName, required: true, summary: "The property"}, newName, inFolder},
		reply:   Reply{Kind: Confirmation, Confirms: []string{"Renamed property "}}},
	{name: "heading:rename", tier: tiers.V2, effect: tiers.Writes, embeddedOnly: true, many: true,
		summary: "Rename a heading, and the links to it in all notes",
		params: []param{
			noteByName, noteByPath,
			{name: "heading", kind: kindName, required: true, summary: "The heading; A#B is B below A"},
			{name: "to", kind: kindName, required: true, summary: "The new text of the heading"},
		}, exclusive: fileOrPath, reply: Reply{Kind: Confirmation, Confirms: []string{"Renamed heading "}}},
	// The first note goes to the trash; the second gets its text.
	{name: "note:merge", tier: tiers.V2, effect: tiers.Destroys, embeddedOnly: true, many: true,
		summary: "Add a note to another one, and move it to the trash; links follow",
		params: []param{
			noteByName, noteByPath,
			{name: "into", kind: kindPath, required: true, summary: "The note that gets its text and properties"},
			{name: "heading", kind: kindName, rare: true, summary: "At the end of this section, in place of the end of the note"},
		}, exclusive: fileOrPath, reply: Reply{Kind: Confirmation, Confirms: []string{"Merged: "}}},
	{name: "note:extract", tier: tiers.V2, effect: tiers.Writes, embeddedOnly: true, many: true,
		summary: "Move a section to a note of its own, and leave a link; links follow",
		params: []param{
			noteByName, noteByPath,
			{name: "heading", kind: kindName, required: true, summary: "The section of this heading; A#B is B below A"},
			{name: "to", kind: kindNewPath, required: true, summary: "The path of the new note"},
			leaveEmbed,
		}, exclusive: fileOrPath, reply: Reply{Kind: Confirmation, Confirms: []string{"Extracted: "}}},
	{name: "note:split", tier: tiers.V2, effect: tiers.Writes, embeddedOnly: true, many: true,
		summary: "Make notes of the sections of a note, and leave links; links follow",
		params: []param{
			noteByName, noteByPath,
			{name: "level", kind: kindNumber, least: 1, most: 6, rare: true, summary: "The level of the headings (default: 2)"},
			{name: "folder", kind: kindFolder, rare: true, summary: "The folder of the new notes (default: that of the note)"},
			leaveEmbed,
		}, exclusive: fileOrPath, reply: Reply{Kind: Confirmation, Confirms: []string{"Split: "}}},
	// It can remove any text, also a little in each of many notes, so it destroys.
	{name: "vault:replace", tier: tiers.V2, effect: tiers.Destroys, target: targetNone, embeddedOnly: true, many: true,
		summary: "Replace a text in all notes",
		params: []param{
			{name: "old", kind: kindContent, required: true, summary: "The exact text to replace, or with regex a regular expression"},
			{name: "new", kind: kindContent, summary: "The new text; with regex, $1 is the first group"},
			{name: "remove", kind: kindFlag, rare: true, summary: "Remove the text"},
			{name: "regex", kind: kindFlag, summary: "Take old as a regular expression; ^ and $ match at each line"},
			{name: "ignore-case", kind: kindFlag, rare: true, summary: "Upper and lower case are the same"},
			inFolder, ofSearch,
		}, oneOf: [][]string{{"new", "remove"}}, exclusive: [][]string{{"new", "remove"}},
		reply: Reply{Kind: Confirmation, Confirms: []string{"Replaced "}}, access: AccessToWrite}, // only a part of the notes
	// Without numbers it lists versions; two equal ones have no difference.
	{name: "diff", tier: tiers.V2, effect: tiers.Reads, reach: reachNote, summary: "List the versions of a note, or compare two",
		params: []param{
			noteByName, noteByPath,
			{name: "from", kind: kindNumber, least: 1, summary: "The version to compare, 1 is the newest"},
			{name: "to", kind: kindNumber, least: 1, summary: "The version to compare with (default: the current note)"},
			{name: "filter", kind: kindChoice, choices: []string{"local", "sync"}, rare: true, summary: "Only versions of this origin"},
		}, exclusive: fileOrPath, needs: []need{{"to", []string{"from"}}}, reply: Reply{Kind: Content, Silent: true}},
	{name: "history", tier: tiers.V2, effect: tiers.Reads, reach: reachNote, summary: "List the versions of a note in the file history",
		params: []param{noteByName, noteByPath}, exclusive: fileOrPath, reply: Reply{Kind: Lines, Silent: true}},
	{name: "history:list", tier: tiers.V2, effect: tiers.Reads, target: targetVault, summary: "List the notes in the file history",
		reply: Reply{Kind: Lines, Silent: true}},
	{name: "history:read", tier: tiers.V2, effect: tiers.Reads, reach: reachNote,
		summary: "Print a version of a note from the file history",
		params: []param{
			noteByName, noteByPath,
			{name: "version", kind: kindNumber, least: 1, summary: "The version, 1 is the newest and the default"},
		}, exclusive: fileOrPath, reply: Reply{Kind: Content, Silent: true}},
	// The app keeps a version every five minutes at most, so the latest edits may be lost.
	{name: "history:restore", tier: tiers.V2, effect: tiers.Destroys, reach: reachNote,
		summary: "Replace a note by a version from the file history",
		params: []param{
			noteByName, noteByPath,
			{name: "version", kind: kindNumber, required: true, least: 1, summary: "The version, 1 is the newest"},
		}, exclusive: fileOrPath, reply: Reply{Kind: Quiet}},
	{name: "history:open", tier: tiers.V2, effect: tiers.Shows, reach: reachNote, needsApp: true,
		summary: "Open the file history of a note in the app", params: []param{noteByName, noteByPath}, exclusive: fileOrPath,
		reply: Reply{Kind: Quiet}},
	{name: "backlinks", tier: tiers.V2, effect: tiers.Reads, summary: "List the notes that link to a note",
		params: []param{noteByName, noteByPath, withCounts, rareTotal, asTable}, exclusive: fileOrPath, since: tiers.Version{1, 12, 2}, // format
		reply: Reply{Kind: Paths, Empty: "No backlinks found."}},
	// A target without a file is printed as it is written, with a remark after it, so these lines are no paths.
	{name: "links", tier: tiers.V2, effect: tiers.Reads, summary: "List the links of a note",
		params: []param{
			noteByName, noteByPath, rareTotal,
			{name: "depth", kind: kindNumber, least: 1, most: 5, embeddedOnly: true, summary: "Also files further away; maximum number of steps"},
			{name: "direction", kind: kindChoice, choices: []string{"out", "in", "both"}, embeddedOnly: true, rare: true, summary: "Along the links of the note, the links to it, or both"},
			{name: "limit", kind: kindNumber, least: 1, most: maxRecent, embeddedOnly: true, rare: true, summary: "Maximum number of files, with depth or direction"},
		}, exclusive: fileOrPath, reply: Reply{Kind: Lines, Empty: "No links found."}},
	{name: "related", tier: tiers.V2, effect: tiers.Reads, embeddedOnly: true,
		summary: "List notes with the same links, tags or rare words, and the reasons",
		params: []param{
			noteByName, noteByPath,
			{name: "limit", kind: kindNumber, least: 1, most: 100, rare: true, more: true, summary: "Maximum number of notes"},
			{name: "format", kind: kindChoice, choices: textOrJSON, rare: true, summary: "Output format"},
		}, exclusive: fileOrPath, reply: Reply{Kind: Lines, Empty: "No related notes found."}},
	{name: "unresolved", tier: tiers.V2, effect: tiers.Reads, target: targetVault, summary: "List the links that lead to no file",
		params: []param{
			rareTotal, withCounts,
			{name: "verbose", kind: kindFlag, rare: true, summary: "Add the notes that contain them"},
			asTable,
		}, since: tiers.Version{1, 12, 2}, // format
		reply: Reply{Kind: Lines, Empty: "No unresolved links found."}},
	// The flag all, which early releases had, is in no help page since 1.12.2; the installed client still lists
	// it, but files that are no notes are listed without it too (recorded on 1.12.7). format is ignored.
	{name: "orphans", tier: tiers.V2, effect: tiers.Reads, target: targetVault, summary: "List the files that nothing links to",
		params: []param{onlyTotal}, reply: Reply{Kind: Paths, Empty: "No orphan files found."}},
	// As orphans, all included.
	{name: "deadends", tier: tiers.V2, effect: tiers.Reads, target: targetVault, summary: "List the files without links",
		params: []param{onlyTotal}, reply: Reply{Kind: Paths, Empty: "No dead-end files found."}},
	// The sentence comes in every format, for total too.
	{name: "outline", tier: tiers.V2, effect: tiers.Reads, reach: reachNote, summary: "List the headings of a note",
		params: []param{
			noteByName, noteByPath,
			{name: "format", kind: kindChoice, choices: []string{"tree", "md", "json"}, rare: true, summary: "Output format"},
			rareTotal,
		}, exclusive: fileOrPath, since: tiers.Version{1, 12, 2}, // json
		reply: Reply{Kind: Lines, Empty: "No headings found."}},
	// Prints nothing where no site is set up.
	{name: "publish:site", tier: tiers.V2, effect: tiers.Reads, target: targetNone, needsApp: true,
		summary: "Show the name and address of the published site", reply: Reply{Kind: Facts, Silent: true}},
	{name: "publish:list", tier: tiers.V2, effect: tiers.Reads, target: targetVault, needsApp: true, summary: "List the published notes",
		params: []param{onlyTotal}, reply: Reply{Kind: Lines, Silent: true}},
	{name: "publish:status", tier: tiers.V2, effect: tiers.Reads, target: targetVault, needsApp: true,
		summary: "List what differs between the vault and the published site",
		params: []param{
			onlyTotal,
			{name: "new", kind: kindFlag, summary: "Only notes that are not published"},
			{name: "changed", kind: kindFlag, summary: "Only notes that differ from the published ones"},
			{name: "deleted", kind: kindFlag, summary: "Only published notes that are gone from the vault"},
		}, exclusive: [][]string{{"new", "changed", "deleted"}}, reply: Reply{Kind: Lines, Silent: true}},
	{name: "publish:add", tier: tiers.V2, effect: tiers.Publishes, reach: reachNote, needsApp: true, summary: "Publish a note",
		params: []param{
			noteByName, noteByPath,
			// An approval of this flag would be one of notes that were not named.
			{name: "changed", kind: kindFlag, refused: "the call does not name what leaves the machine", summary: "Publish every changed note"},
		}, exclusive: [][]string{{"file", "path", "changed"}}, reply: Reply{Kind: Quiet}},
	// Destroys the public copy as well. Publishing is the worse of the two, and both need the same yes.
	{name: "publish:remove", tier: tiers.V2, effect: tiers.Publishes, reach: reachNote, needsApp: true,
		summary: "Take a note off the published site", params: []param{noteByName, noteByPath}, exclusive: fileOrPath,
		reply: Reply{Kind: Quiet}},
	{name: "publish:open", tier: tiers.V2, effect: tiers.Shows, reach: reachNote, needsApp: true,
		summary: "Open the published page of a note", params: []param{noteByName, noteByPath}, exclusive: fileOrPath,
		reply: Reply{Kind: Quiet}},
	{name: "templates", tier: tiers.V2, effect: tiers.Reads, target: targetVault, summary: "List the templates", params: []param{onlyTotal},
		reply: Reply{Kind: Lines, Silent: true}},
	{name: "template:read", tier: tiers.V2, effect: tiers.Reads, target: targetNone, summary: "Print a template",
		params: []param{
			{name: "name", kind: kindLink, required: true, summary: "The template"},
			{name: "title", kind: kindName, rare: true, summary: "With resolve: the title to fill in"},
			{name: "resolve", kind: kindFlag, summary: "Fill in date, time and title"},
		}, needs: []need{{"title", []string{"resolve"}}}, reply: Reply{Kind: Content, Silent: true}},
	// In the app it has no target: it changes the note that is open for
	// editing, at the cursor, so without path it is always refused.
	{name: "template:insert", tier: tiers.V2, effect: tiers.Writes, summary: "Insert a template into a note",
		params: []param{
			{name: "name", kind: kindLink, required: true, summary: "The template"},
			{name: "path", kind: kindPath, embeddedOnly: true, summary: "The note by its path; with the embedded backend only"},
		}, reply: Reply{Kind: Quiet}},
}
