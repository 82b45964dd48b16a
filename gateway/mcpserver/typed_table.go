package mcpserver

// typedTools are the typed tools by toolset. What an argument may hold stands in
// the allowlist, at the parameter of its name.
var typedTools = [...]typedTool{
	{
		name: "daily_note", title: "Daily note", toolset: "daily", writes: true, pages: onlyCursor,
		args: []argument{
			{name: "date", form: asText, says: "YYYY-MM-DD"},
			{name: "offset", form: asNumber, says: "days from today, -1 is yesterday"},
			{name: "from", form: asText, says: "first day of a range"},
			{name: "to", form: asText, says: "its last day, else today"},
			{name: "content", form: asText, says: "text to add to today's note"},
			{name: "heading", form: asText, says: "add it below this heading"},
		},
		acts: []act{
			{command: "daily:read", says: "Reads the daily note of today, or of date or offset.", takes: []string{"date", "offset"}},
			{command: "daily:range", says: "from reads several days.", when: []string{"from"}, takes: []string{"from", "to"}},
			{command: "daily:append", says: "content is added to today's note.", when: []string{"content"}, takes: []string{"content", "heading"}},
		},
	},
	{
		name: "random_notes", title: "Random notes", toolset: "daily", pages: onlyCursor,
		args: []argument{
			{name: "folder", form: asText, says: "only from this folder"},
			{name: "count", form: asNumber, says: "how many, else one"},
			{name: "min-age", form: asNumber, says: "days without a change"},
			{name: "seed", form: asNumber, says: "the same seed picks the same notes"},
		},
		acts: []act{
			{command: "random:read", says: "Reads random notes, with their paths.", takes: []string{"folder", "count", "min-age", "seed"}},
		},
	},
	{
		name: "search_notes", title: "Search notes", toolset: "search", pages: limitAndCursor,
		args: []argument{
			{name: "query", form: asText, says: "in Obsidian's search syntax, such as tag:#work plan"},
			{name: "path", form: asText, says: "only in this folder"},
			{name: "case", form: asFlag, says: "tell upper from lower case"},
			{name: "context", form: asFlag, says: "the matching lines, not only paths"},
		},
		acts: []act{
			{command: "search", says: "Lists the notes that match a query.", takes: []string{"query", "path", "case"}},
			{command: "search:context", says: "context shows the matching lines.", when: []string{"context"}, takes: []string{"query", "path", "case"}},
		},
	},
	{
		// The command has a limit of its own, and without it lists few.
		name: "recent_notes", title: "Recent notes", toolset: "search", pages: onlyCursor,
		args: []argument{
			{name: "since", form: asText, says: "YYYY-MM-DD"},
			{name: "limit", form: asNumber, says: "how many, else 20"},
		},
		acts: []act{
			{command: "recent", says: "Lists the notes that were changed last, newest first.", takes: []string{"since", "limit"}},
		},
	},
	{
		name: "read_note", title: "Read a note", toolset: "notes", pages: onlyCursor,
		args: []argument{
			notePath, noteName,
			{name: "outline", form: asFlag, says: "only its headings"},
			partHeading, partBlock, partLines,
		},
		acts: []act{
			{command: "read", says: "Reads a note, with its hash.", takes: noteTarget},
			{command: "outline", says: "outline lists its headings.", when: []string{"outline"}, takes: noteTarget},
			{command: "note:section", says: "heading, block or lines read a part.", when: partOfNote, takes: []string{"path", "file", "heading", "block", "lines"}},
		},
	},
	{
		name: "edit_note", title: "Edit a note", toolset: "notes", writes: true,
		args: []argument{
			{name: "action", form: asText, says: "what to do", required: true,
				choices: []string{"create", "append", "prepend", "replace", "insert", "set-section"}},
			notePath, noteName,
			{name: "daily", form: asFlag, says: "today's daily note"},
			{name: "content", form: asText, says: "the text"},
			{name: "old", form: asText, says: "text that stands there exactly once"},
			{name: "new", form: asText, says: "text in its place"},
			{name: "position", form: asText, says: "side of the part"},
			partHeading, partBlock, partLines,
		},
		acts: []act{
			{command: "create", says: "create makes a note.", when: byAction, is: "create", takes: []string{"path", "content"}},
			{command: "append", says: "append adds at its end, or below heading.", when: byAction, is: "append", takes: []string{"path", "file", "content", "heading"}},
			{command: "prepend", says: "prepend adds at its top.", when: byAction, is: "prepend", takes: []string{"path", "file", "content"}},
			{command: "note:replace", says: "replace puts new in place of old.", when: byAction, is: "replace", takes: []string{"path", "file", "daily", "old", "new"}},
			{command: "note:insert", says: "insert puts content beside a heading's section, a block or lines.", when: byAction, is: "insert",
				takes: []string{"path", "file", "daily", "heading", "block", "lines", "position", "content"}},
			{command: "note:set-section", says: "set-section puts content in their place.", when: byAction, is: "set-section",
				takes: []string{"path", "file", "daily", "heading", "block", "lines", "content"}},
		},
	},
	{
		name: "tasks", title: "Tasks", toolset: "tasks", writes: true, pages: limitAndCursor,
		args: []argument{
			notePath, noteName,
			{name: "daily", form: asFlag, says: "only today's daily note"},
			{name: "state", form: asText, says: "only these", choices: []string{"todo", "done"}},
			{name: "ref", form: asText, says: "one task, such as Inbox.md:8"},
			{name: "set", form: asText, says: "new mark of the task", choices: []string{"done", "todo", "toggle"}},
		},
		acts: []act{
			// Without line numbers no task could be named in a later call.
			{command: "tasks", says: "Lists tasks by note, with line numbers.", takes: []string{"path", "file", "daily"}, flags: "state", with: []string{"verbose"}},
			{command: "task", says: "ref is about one task.", when: []string{"ref"}, takes: []string{"ref"}, flags: "set"},
		},
	},
	{
		name: "bases", title: "Bases", toolset: "bases", pages: []string{"fields", "limit", "cursor"},
		args: []argument{
			{name: "path", form: asText, says: "path of a base"},
			{name: "file", form: asText, says: "or its name"},
			{name: "view", form: asText, says: "name of a view"},
		},
		acts: []act{
			{command: "bases", says: "Lists the bases of the vault."},
			{command: "base:query", says: "view shows the rows of a view, as JSON.", when: []string{"view"}, takes: []string{"path", "file", "view"}},
			{command: "base:views", says: "path or file list the views of a base.", when: []string{"path", "file"}, takes: []string{"path", "file"}},
		},
	},
}

var (
	notePath    = argument{name: "path", form: asText, says: "path of the note"}
	noteName    = argument{name: "file", form: asText, says: "or its name, as in a link"}
	partHeading = argument{name: "heading", form: asText, says: "a heading; A#B is B below A"}
	partBlock   = argument{name: "block", form: asText, says: "id of a block"}
	partLines   = argument{name: "lines", form: asText, says: "such as 12-20"}

	noteTarget     = []string{"path", "file"}
	partOfNote     = []string{"heading", "block", "lines"}
	byAction       = []string{"action"}
	onlyCursor     = []string{"cursor"}
	limitAndCursor = []string{"limit", "cursor"}
)

// pageArguments are the arguments for long answers.
var pageArguments = [...]argument{
	{name: "fields", form: asList, says: "choose fields of the rows"},
	{name: "limit", form: asNumber, says: "rows at most"},
	{name: "cursor", form: asText, says: "of an answer that was cut: go on"},
}

// writeArguments are those of tools that can change something.
var writeArguments = [...]argument{
	{name: "dryRun", form: asFlag, says: "plan only"},
	{name: "expectHash", form: asText, says: "change only a note with this hash"},
	{name: "idempotencyKey", form: asText, says: "run once"},
}
