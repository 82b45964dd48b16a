package mcpserver

// typedTools is the table of the typed tools, by toolset. The valid values of an argument are those
// of the parameter with the same name in the allowlist.
var typedTools = []typedTool{
	{
		Name: "daily_note", Title: "Daily note", Toolset: "daily", writes: true, paging: onlyCursor,
		args: []property{
			{Name: "date", Type: typeString, Description: "YYYY-MM-DD, -3d, monday"},
			{Name: "offset", Type: typeInteger, Description: "days from today, -1 is yesterday"},
			{Name: "from", Type: typeString, Description: "first day of a range"},
			{Name: "to", Type: typeString, Description: "last day of the range, default: today"},
			{Name: "content", Type: typeString, Description: "text to append to today's note"},
			{Name: "heading", Type: typeString, Description: "append under this heading"},
			makeHeading,
		},
		operations: []operation{
			{
				command:     "daily:read",
				description: "Reads the daily note of today, or of date or offset.",
				params:      []string{"date", "offset"},
			},
			{
				command:     "daily:range",
				description: "from reads a range of days.",
				when:        []string{"from"},
				params:      []string{"from", "to"},
			},
			{
				command:     "daily:append",
				description: "content is appended to today's note.",
				when:        []string{"content"},
				params:      []string{"content", "heading", "create-heading"},
			},
		},
	},
	{
		Name: "random_notes", Title: "Random notes", Toolset: "daily", paging: onlyCursor,
		args: []property{
			{Name: "folder", Type: typeString, Description: "only from this folder"},
			{Name: "count", Type: typeInteger, Description: "number of notes, default: 1"},
			{Name: "min-age", Type: typeInteger, Description: "min days since the last change"},
			{Name: "seed", Type: typeInteger, Description: "same seed, same notes"},
		},
		operations: []operation{
			{
				command:     "random:read",
				description: "Reads random notes, with their paths.",
				params:      []string{"folder", "count", "min-age", "seed"},
			},
		},
	},
	{
		Name: "search_notes", Title: "Search notes", Toolset: "search", paging: limitAndCursor,
		args: []property{
			{Name: "query", Type: typeString, Description: "Obsidian search syntax, such as tag:#work plan"},
			{Name: "path", Type: typeString, Description: "only this folder"},
			{Name: "case", Type: typeBoolean, Description: "case-sensitive"},
			{Name: "context", Type: typeBoolean, Description: "return matching lines"},
			{Name: "budget", Type: typeInteger, Description: "max tokens"},
		},
		operations: []operation{
			{
				command:     "search",
				description: "Lists the notes that match a query.",
				params:      []string{"query", "path", "case"},
			},
			{
				command:     "search:context",
				description: "context returns the matching lines.",
				when:        []string{"context"},
				params:      []string{"query", "path", "case"},
			},
			{
				command:     "find",
				description: "budget ranks notes and returns the best sections whole.",
				when:        []string{"budget"},
				params:      []string{"query", "budget"},
			},
		},
	},
	{
		// The command has its own limit, with a low default.
		Name: "recent_notes", Title: "Recent notes", Toolset: "search", paging: onlyCursor,
		args: []property{
			{Name: "since", Type: typeString, Description: "YYYY-MM-DD"},
			{Name: "limit", Type: typeInteger, Description: "max notes, default: 20"},
		},
		operations: []operation{
			{
				command:     "recent",
				description: "Lists recently changed notes, newest first.",
				params:      []string{"since", "limit"},
			},
		},
	},
	{
		Name: "read_note", Title: "Read a note", Toolset: "notes", paging: onlyCursor,
		args: []property{
			notePath, noteName,
			{Name: "outline", Type: typeBoolean, Description: "only headings"},
			partHeading, partBlock, partLines,
		},
		operations: []operation{
			{command: "read", description: "Reads a note, with its hash.", params: noteTarget},
			{
				command:     "outline",
				description: "outline lists its headings.",
				when:        []string{"outline"},
				params:      noteTarget,
			},
			{
				command:     "note:section",
				description: "heading, block or lines select a part.",
				when:        partOfNote,
				params:      []string{"path", "file", "heading", "block", "lines"},
			},
		},
	},
	{
		Name: "edit_note", Title: "Edit a note", Toolset: "notes", writes: true,
		args: []property{
			{Name: "action", Type: typeString, Description: "operation", Required: true,
				Values: []string{"create", "append", "prepend", "replace", "insert", "set-section"}},
			notePath, noteName,
			{Name: "daily", Type: typeBoolean, Description: "today's daily note"},
			{Name: "content", Type: typeString, Description: "the text"},
			{Name: "old", Type: typeString, Description: "text that occurs exactly once"},
			{Name: "new", Type: typeString, Description: "replacement for old"},
			{Name: "position", Type: typeString, Description: "before or after the part"},
			partHeading, partBlock, partLines, makeHeading,
		},
		operations: []operation{
			{
				command:     "create",
				description: "create creates a note.",
				when:        byAction,
				value:       "create",
				params:      []string{"path", "content"},
			},
			{
				command:     "append",
				description: "append adds at the end, or under heading.",
				when:        byAction,
				value:       "append",
				params:      []string{"path", "file", "content", "heading", "create-heading"},
			},
			{
				command:     "prepend",
				description: "prepend adds at the top.",
				when:        byAction,
				value:       "prepend",
				params:      []string{"path", "file", "content"},
			},
			{
				command:     "note:replace",
				description: "replace replaces old by new.",
				when:        byAction,
				value:       "replace",
				params:      []string{"path", "file", "daily", "old", "new"},
			},
			{
				command:     "note:insert",
				description: "insert adds content before or after a section, block or lines.",
				when:        byAction,
				value:       "insert",
				params:      []string{"path", "file", "daily", "heading", "block", "lines", "position", "content"},
			},
			{
				command:     "note:set-section",
				description: "set-section replaces them by content.",
				when:        byAction,
				value:       "set-section",
				params:      []string{"path", "file", "daily", "heading", "block", "lines", "content"},
			},
		},
	},
	{
		Name: "tasks", Title: "Tasks", Toolset: "tasks", writes: true, paging: limitAndCursor,
		args: []property{
			notePath, noteName,
			{Name: "daily", Type: typeBoolean, Description: "only today's daily note"},
			{Name: "state", Type: typeString, Description: "filter", Values: []string{"todo", "done"}},
			{Name: "overdue", Type: typeBoolean, Description: "due before today, not done"},
			{Name: "due-before", Type: typeString, Description: "date"},
			{Name: "ref", Type: typeString, Description: "one task, such as Inbox.md:8"},
			{Name: "set", Type: typeString, Description: "new status", Values: []string{"done", "todo", "toggle"}},
		},
		operations: []operation{
			// The line numbers are needed for ref in a later call.
			{
				command:      "tasks",
				description:  "Lists tasks by note, with line numbers.",
				params:       []string{"path", "file", "daily", "overdue", "due-before"},
				flagArgument: "state",
				always:       []string{"verbose"},
			},
			{
				command:      "task",
				description:  "ref selects one task.",
				when:         []string{"ref"},
				params:       []string{"ref"},
				flagArgument: "set",
			},
		},
	},
	{
		Name: "bases", Title: "Bases", Toolset: "bases", rows: true, paging: allPaging,
		args: append([]property{
			{Name: "path", Type: typeString, Description: "base, or note that contains one"},
			{Name: "file", Type: typeString, Description: "or its name"},
			{Name: "view", Type: typeString, Description: "view name or number"},
			{Name: "check", Type: typeBoolean, Description: "list problems, with positions"},
		}, queryArguments...),
		operations: []operation{
			{command: "bases", description: "Lists the bases of the vault."},
			{
				command:     "base:check",
				description: "check lists the problems of a base.",
				when:        []string{"check"},
				params:      []string{"path", "file"},
			},
			{command: "base:query", description: "view, where to explain query a base and return rows.",
				when: append(
					[]string{"view"},
					queryNames...), params: append([]string{"path", "file", "view"}, queryNames...), implied: withGroups, objectWith: objectFlags},
			{
				command:     "base:views",
				description: "path or file alone list its views.",
				when:        []string{"path", "file"},
				params:      []string{"path", "file"},
			},
		},
	},
	{
		Name: "query_notes", Title: "Query notes", Toolset: "bases", rows: true, paging: allPaging,
		args: append([]property{
			{Name: "all", Type: typeBoolean, Description: "also files that are not notes"},
		}, queryArguments...),
		operations: []operation{
			{
				command:     "query",
				description: "Queries notes by properties, tags, links and dates with Obsidian Bases expressions, and returns rows.",
				params:      append([]string{"all"}, queryNames...),
				implied:     withGroups,
				objectWith:  objectFlags,
			},
		},
	},
}

// queryArguments are the arguments of a query; queryNames are their names.
var (
	queryArguments = []property{
		{Name: "where", Type: typeString, Description: `filter, such as file.hasTag("book") && rating >= 4`},
		{Name: "select", Type: typeString, Description: "columns, such as file.name, double: rating * 2"},
		{Name: "sort", Type: typeString, Description: "such as due desc, file.name"},
		{Name: "group", Type: typeString, Description: "property or expression"},
		{Name: "offset", Type: typeInteger, Description: "rows to skip"},
		{Name: "values", Type: typeString, Description: "typed: JSON types instead of text"},
		{Name: "summaries", Type: typeBoolean, Description: "add groups and summaries"},
		{Name: "explain", Type: typeBoolean, Description: "how many rows each filter dropped, and why"},
	}
	queryNames  = []string{"where", "select", "sort", "group", "offset", "values", "summaries", "explain"}
	withGroups  = map[string]string{"group": "groups", "summaries": "groups"}
	objectFlags = []string{"groups", "summaries", "explain"}
)

var (
	notePath    = property{Name: "path", Type: typeString, Description: "path of the note"}
	noteName    = property{Name: "file", Type: typeString, Description: "or its name, as in a link"}
	partHeading = property{Name: "heading", Type: typeString, Description: "heading; A#B is B under A"}
	makeHeading = property{Name: "create-heading", Type: typeBoolean, Description: "make a missing heading"}
	partBlock   = property{Name: "block", Type: typeString, Description: "block id"}
	partLines   = property{Name: "lines", Type: typeString, Description: "such as 12-20"}

	noteTarget     = []string{"path", "file"}
	partOfNote     = []string{"heading", "block", "lines"}
	byAction       = []string{"action"}
	onlyCursor     = []string{"cursor"}
	limitAndCursor = []string{"limit", "cursor"}
	allPaging      = []string{"fields", "limit", "cursor"}
)
