package allowlist

import "github.com/vaultwicket/vaultwicket/tiers"

// v1ContentRows: search, tags, tasks, parts of notes, and queries.
//
// Like those of v1Rows, most of them work on the open note where none is named.
var v1ContentRows = []row{
	// The sentence comes in both formats. path is a folder, compared by whole
	// segments; limit=0 would mean no limit at all, so it starts at 1.
	{name: "search", tier: tiers.V1, effect: tiers.Reads,
		verb: verb{"search", "searched", "in"}, naming: namesFiles, wider: FindsNotes,
		target: targetVault, searches: true, summary: "List the notes that match a query",
		params: []param{
			{name: "query", kind: kindText, required: true, summary: "The query, in the search syntax of the app"},
			{name: "path", kind: kindFolder, summary: "Only in this folder"},
			{name: "limit", kind: kindNumber, least: 1, summary: "Maximum number of notes"},
			{name: "format", kind: kindChoice, choices: textOrJSON, rare: true, summary: "Output format"},
			onlyTotal,
			{name: "case", kind: kindFlag, rare: true, summary: "Case-sensitive"},
		}, since: release{1, 12, 2}, // before, it printed the lines
		reply: Reply{Kind: Paths, Empty: "No matches found."}},
	// Prints lines of notes, which may look like anything; else as search.
	{name: "search:context", tier: tiers.V1, effect: tiers.Reads,
		verb: verb{"search", "searched", "in"}, naming: namesFiles, wider: FindsNotes,
		target: targetVault, searches: true,
		summary: "Print the lines that match a query, with path and line number",
		params: []param{
			{name: "query", kind: kindText, required: true, summary: "The query, in the search syntax of the app"},
			{name: "path", kind: kindFolder, summary: "Only in this folder"},
			{name: "limit", kind: kindNumber, least: 1, summary: "Maximum number of notes"},
			{name: "format", kind: kindChoice, choices: textOrJSON, rare: true, summary: "Output format"},
			{name: "case", kind: kindFlag, rare: true, summary: "Case-sensitive"},
		}, since: release{1, 12, 2}, reply: Reply{Kind: Content, Empty: "No matches found.", Form: Matches}},
	{name: "search:open", tier: tiers.V1, effect: tiers.Shows,
		verb: verb{"open the search pane", "opened the search pane", "on"}, naming: namesNotAll,
		target: targetNone, needsApp: true,
		summary: "Open the search pane of the app", params: []param{{name: "query", kind: kindText, asked: askedInFull, summary: "The query to start with"}},
		reply: Reply{Kind: Confirmation, Confirms: []string{"Opened search"}}},
	{name: "tags", tier: tiers.V1, effect: tiers.Reads,
		verb: verb{"list tags", "listed tags", "of"}, naming: tagsNaming,
		target: targetVault, summary: "List the tags of the vault, or of one note",
		params: []param{noteByName, noteByPath, sortByCount, onlyTotal, withCounts, asTable, onlyActive}, exclusive: oneOfNotes,
		since: release{1, 12, 2}, // as aliases
		reply: Reply{Kind: Lines, Empty: "No tags found.", Form: TagLines}},
	// With verbose a count is printed before the paths.
	{name: "tag", tier: tiers.V1, effect: tiers.Reads,
		verb: verb{"list notes with a tag", "listed notes with a tag", "of"}, naming: namesFiles,
		target: targetVault, summary: "List the notes with a tag",
		params: []param{
			{name: "name", kind: kindName, hint: "tag", required: true, summary: "The tag (case-sensitive)"},
			onlyTotal,
			{name: "verbose", kind: kindFlag, summary: "Add how often it is used"},
		}, reply: Reply{Kind: Paths}},
	// status only filters here; on task the same word writes.
	{name: "tasks", tier: tiers.V1, effect: tiers.Reads,
		verb: verb{"list tasks", "listed tasks", "of"}, naming: tasksNaming,
		target: targetVault, summary: "List the tasks of the vault, or of one note",
		params: []param{
			noteByName, noteByPath,
			{name: "status", kind: kindChar, rare: true, summary: "Only tasks with this status character"},
			onlyTotal,
			{name: "done", kind: kindFlag, summary: "Only finished tasks"},
			{name: "todo", kind: kindFlag, summary: "Only open tasks"},
			{name: "verbose", kind: kindFlag, rare: true, summary: "Group by note, with line numbers"},
			asTable, onlyActive,
			{name: "daily", kind: kindFlag, summary: "Only today's daily note"},
			{name: "folder", kind: kindFolder, embeddedOnly: true, rare: true, summary: "Only notes in this folder and below"},
			{name: "due", kind: kindDate, embeddedOnly: true, rare: true, summary: "Only tasks due on this day"},
			{name: "due-before", kind: kindDate, embeddedOnly: true, rare: true, summary: "Only tasks due before this day"},
			{name: "due-after", kind: kindDate, embeddedOnly: true, rare: true, summary: "Only tasks due after this day"},
			{name: "overdue", kind: kindFlag, embeddedOnly: true, summary: "Only tasks due before today and not finished"},
			{name: "no-due", kind: kindFlag, embeddedOnly: true, rare: true, summary: "Only tasks without a due date"},
			{name: "priority", kind: kindChoice, choices: taskPriorities, embeddedOnly: true, rare: true, summary: "Only tasks of this priority"},
			{name: "tag", kind: kindName, embeddedOnly: true, rare: true, summary: "Only tasks with this tag or one below it"},
			{name: "text", kind: kindText, embeddedOnly: true, rare: true, summary: "Only tasks with all these words"},
			{name: "sort", kind: kindChoice, choices: taskOrders, embeddedOnly: true, rare: true, summary: "Order, tasks without a due date last"},
			{name: "group", kind: kindChoice, choices: taskGroups, embeddedOnly: true, rare: true, summary: "List tasks in groups"},
			{name: "details", kind: kindFlag, embeddedOnly: true, rare: true, summary: "All fields of a task and its heading, for format=json"},
		},
		exclusive: [][]string{{"file", "path", "active", "daily", "folder"}, {"done", "todo", "status"}, {"done", "overdue"},
			{"no-due", "overdue", "due"}, {"no-due", "due-before"}, {"no-due", "due-after"}},
		since: release{1, 12, 2}, // as aliases
		reply: Reply{Kind: Lines, Empty: "No tasks found.", Headings: FileHeadings, Form: TaskLines}},
	// Four of its parameters make it a write. A task is always named by its line, in ref or in line;
	// ref and line together would name two. What it prints was recorded nowhere.
	{name: "task", tier: tiers.V1, effect: tiers.Reads,
		verb:  verb{"change a task", "changed a task", "of"},
		reach: reachNote, summary: "Show a task, or change its mark",
		when: []escalation{{"toggle", tiers.Writes}, {"done", tiers.Writes}, {"todo", tiers.Writes}, {"status", tiers.Writes}, {"date", tiers.Writes}},
		params: []param{
			{name: "ref", kind: kindRef, summary: "Note and line in one, such as Inbox.md:8"},
			noteByName, noteByPath,
			{name: "line", kind: kindNumber, least: 1, rare: true, summary: "The line of the task"},
			taskByText,
			{name: "status", kind: kindChar, rare: true, summary: "New status character"},
			{name: "toggle", kind: kindFlag, rare: true, summary: "Turn open into finished and back"},
			{name: "daily", kind: kindFlag, summary: "In today's daily note"},
			{name: "done", kind: kindFlag, summary: "Mark as finished"},
			{name: "todo", kind: kindFlag, summary: "Mark as open"},
			{name: "date", kind: kindDate, embeddedOnly: true, rare: true, summary: "The day on which it was done, which is written too"},
		}, needs: []need{{"date", []string{"done", "toggle", "status"}}}, targets: []string{"text"},
		oneOf:     [][]string{{"ref", "line", "text"}},
		exclusive: [][]string{{"toggle", "done", "todo", "status"}, {"ref", "file", "path", "daily"}, {"ref", "line", "text"}},
		reply:     Reply{Kind: Lines}},
	// Two extensions: an agent need not know how dates are written in a task.
	{name: "task:add", tier: tiers.V1, effect: tiers.Writes,
		verb:         verb{"add a task", "added a task", "to"},
		embeddedOnly: true, summary: "Add a task to a note, with its dates",
		params: []param{
			{name: "content", kind: kindText, asked: askedByChange, required: true, summary: "The text of the task, one line"},
			noteByName, noteByPath, inToday,
			{name: "heading", kind: kindName, summary: "Below this heading, before the next one; A#B is B below A"},
			makeHeading, dueDay, plannedDay, firstDay,
			{name: "priority", kind: kindChoice, choices: taskPriorities, rare: true, summary: "Its priority"},
			{name: "recurs", kind: kindName, rare: true, summary: "How it recurs, such as every week on Friday"},
		}, exclusive: [][]string{{"file", "path", "daily"}}, needs: headingNeeds,
		reply: Reply{Kind: Confirmation, Confirms: []string{"Task added to: "}}},
	{name: "task:reschedule", tier: tiers.V1, effect: tiers.Writes,
		verb:  verb{"reschedule a task", "rescheduled a task", "of"},
		reach: reachNote, embeddedOnly: true,
		summary: "Change the dates of a task",
		params: []param{
			{name: "ref", kind: kindRef, summary: "Note and line in one, such as Inbox.md:8"},
			noteByName, noteByPath,
			{name: "line", kind: kindNumber, least: 1, rare: true, summary: "The line of the task"},
			taskByText,
			{name: "daily", kind: kindFlag, rare: true, summary: "In today's daily note"},
			dueDay, plannedDay, firstDay,
			{name: "clear", kind: kindChoice, choices: taskDates, rare: true, summary: "Remove this date"},
		}, targets: []string{"text"}, oneOf: [][]string{{"ref", "line", "text"}, {"due", "scheduled", "start", "clear"}},
		exclusive: [][]string{{"ref", "file", "path", "daily"}, {"ref", "line", "text"}},
		reply:     Reply{Kind: Confirmation, Confirms: []string{"Rescheduled: "}}},
	// An extension: what an agent asks first on most days, in one bounded answer.
	{name: "briefing", tier: tiers.V1, effect: tiers.Reads,
		verb: verb{"read the briefing", "read the briefing", "of"}, naming: namesNotAll,
		target: targetVault, embeddedOnly: true,
		summary: "Today's note, tasks left over, due and late, and recent changes",
		params: []param{
			{name: "limit", kind: kindNumber, least: 1, most: maxBriefing, rare: true, summary: "Maximum rows of each part (default: 20)"},
			{name: "old-note", kind: kindFlag, rare: true, summary: "Add one note unchanged for 90 days, another each day"},
		}, reply: Reply{Kind: Content, Headings: ArrowHeadings}},
	// An extension: a part of a note costs an agent less than the whole.
	{name: "note:section", tier: tiers.V1, effect: tiers.Reads,
		verb: verb{"read a section", "read a section", "of"}, naming: namesNotAll,
		embeddedOnly: true,
		summary:      "Print the section of a heading, a block or some lines of a note",
		params:       []param{noteByName, noteByPath, partHeading, partBlock, partLines}, oneOf: oneOfParts,
		exclusive: [][]string{{"file", "path"}, {"heading", "block", "lines"}}, reply: Reply{Kind: Content}},
	// Three more extensions: an agent that changes a part cannot lose the rest.
	// They take text away only where other text comes, so they write.
	{name: "note:replace", tier: tiers.V1, effect: tiers.Writes,
		verb:         verb{"replace text", "replaced text", "in"},
		embeddedOnly: true,
		summary:      "Replace text that occurs exactly once in a note",
		params: []param{
			noteByName, noteByPath, inToday,
			{name: "old", kind: kindContent, asked: askedInFull, required: true, summary: "The exact text to replace"},
			{name: "new", kind: kindContent, asked: askedInFull, required: true, summary: "The new text"},
		}, exclusive: [][]string{{"file", "path", "daily"}}, reply: Reply{Kind: Confirmation, Confirms: []string{"Replaced in: "}}},
	{name: "note:insert", tier: tiers.V1, effect: tiers.Writes,
		verb:         verb{"insert text", "inserted text", "into"},
		embeddedOnly: true,
		summary:      "Insert text before or after a section, a block or some lines",
		params: []param{
			noteByName, noteByPath, inToday, partHeading, partBlock, partLines,
			{name: "position", kind: kindChoice, required: true, choices: sides, summary: "On which side of the part"},
			newText,
		}, oneOf: oneOfParts, exclusive: namedPart, reply: Reply{Kind: Confirmation, Confirms: []string{"Inserted into: "}}},
	// A line break as content empties a section.
	{name: "note:set-section", tier: tiers.V1, effect: tiers.Writes,
		verb:         verb{"replace a section", "replaced a section", "of"},
		embeddedOnly: true,
		summary:      "Replace the section below a heading, a block or some lines",
		params: []param{
			noteByName, noteByPath, inToday, partHeading, partBlock, partLines,
			{name: "content", kind: kindContent, asked: askedByChange, required: true, summary: "The new text"},
		}, oneOf: oneOfParts, exclusive: namedPart, reply: Reply{Kind: Confirmation, Confirms: []string{"Section set in: "}}},
	// An extension: the rows of a base without a base file.
	{name: "query", tier: tiers.V1, effect: tiers.Reads,
		verb: verb{"query notes", "queried notes", "of"}, naming: queryNaming,
		target: targetVault, embeddedOnly: true,
		summary: "Find notes by properties, tags, links and dates",
		params: []param{
			{name: "format", kind: kindChoice, choices: baseFormats, rare: true, summary: "Output format, default: json"},
			{name: "all", kind: kindFlag, rare: true, summary: "Also files that are not notes"},
			queryWhere, querySelect, querySort, queryGroup, queryLimit, queryOffset, queryValues, queryGroups, querySummaries,
			queryExplain, queryThis,
		}, reply: Reply{Kind: Lines, JSON: true}},
	// An extension: search answers with exact words and in no order of relevance.
	{name: "find", tier: tiers.V1, effect: tiers.Reads,
		verb: verb{"find notes", "looked for notes", "like"}, naming: namesFilesInRows,
		target: targetVault, embeddedOnly: true,
		summary: "Find notes by words or a question, best first, despite typing errors",
		params: []param{
			{name: "query", kind: kindText, required: true, summary: "Words or a question; \"a phrase\", -word, tag: and path: as in search"},
			{name: "folder", kind: kindFolder, rare: true, summary: "Only in this folder and below"},
			{name: "tag", kind: kindText, rare: true, summary: "Only notes with this tag"},
			{name: "path-glob", kind: kindText, rare: true, summary: "Only paths of this pattern, such as Work/**/*.md"},
			{name: "property", kind: kindText, rare: true, summary: "Only notes with this property, or name=value"},
			{name: "since", kind: kindDate, rare: true, summary: "Only files changed on this day or later, such as -7d or monday"},
			{name: "type", kind: kindChoice, choices: []string{"note", "canvas", "base", "attachment"}, rare: true, summary: "Only files of this kind"},
			{name: "limit", kind: kindNumber, least: 1, most: 100, more: true, summary: "Maximum number of files (default: 10)"},
			{name: "context", kind: kindNumber, most: 10, rare: true, summary: "Lines to show before and after the best one (default: 1, shortened)"},
			{name: "budget", kind: kindNumber, least: 1, most: 20_000, summary: "Print the best sections whole, up to this number of tokens"},
			{name: "format", kind: kindChoice, choices: textOrJSON, rare: true, summary: "Output format"},
		}, reply: Reply{Kind: Lines}},
	// An extension. The user named the server in the settings; its host, its model and the number of sections
	// are parameters, so that the question about the call has them.
	{name: "find:send", tier: tiers.V1, effect: tiers.Publishes,
		verb:  verb{"send sections of notes", "sent sections of notes", "of"},
		sends: true, target: targetVault, embeddedOnly: true,
		summary: "Send sections of notes to another machine, so that find ranks by meaning",
		params: []param{
			{name: "host", kind: kindName, asked: askedInFull, required: true, summary: "The name or address of the machine"},
			{name: "model", kind: kindText, asked: askedInFull, required: true, summary: "The model that it uses"},
			{name: "sections", kind: kindNumber, required: true, least: 1, most: 1 << 30, summary: "How many sections at most; find tells how many there are"},
		}, reply: Reply{Kind: Confirmation, Confirms: []string{"Sections are sent to: "}}},
	// An extension: the app does not know who changed a note.
	{name: "changes", tier: tiers.V1, effect: tiers.Reads,
		verb: verb{"list changes", "listed changes", "of"}, naming: namesFiles,
		target: targetVault, embeddedOnly: true,
		summary: "List changes made through vaultwicket: when, which note, by whom, how",
		params: []param{
			{name: "since", kind: kindDate, summary: "First day, such as yesterday or -7d (default: today)"},
			{name: "agent", kind: kindText, rare: true, summary: "Only changes of this agent"},
			{name: "limit", kind: kindNumber, least: 1, most: maxRecent, more: true, summary: "Maximum number of changed notes (default: 100)"},
			{name: "format", kind: kindChoice, choices: []string{"tsv", "json", "csv"}, rare: true, summary: "Output format"},
		}, reply: Reply{Kind: Lines}},
	// An extension: the app's recents are what was opened, not what was changed.
	{name: "recent", tier: tiers.V1, effect: tiers.Reads,
		verb: verb{"list recent notes", "listed recent notes", "of"}, naming: namesFiles,
		target: targetVault, embeddedOnly: true,
		summary: "List the notes that were changed last, newest first, and by whom",
		params: []param{
			{name: "since", kind: kindDate, summary: "Only notes changed on this day or later, such as -7d or monday"},
			{name: "limit", kind: kindNumber, least: 1, most: maxRecent, more: true, summary: "Maximum number of notes (default: 20, with since= all)"},
		}, reply: Reply{Kind: Lines}},
}
