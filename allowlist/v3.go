package allowlist

import "github.com/vaultwicket/vaultwicket/tiers"

// v3Rows: bookmarks, what is installed, Sync, the vault itself, the workspace.
//
// Nobody has published what most of them print, so most may be silent.
var v3Rows = []row{
	{name: "bookmarks", tier: tiers.V3, effect: tiers.Reads, target: targetVault, summary: "List the bookmarks",
		params: []param{onlyTotal, {name: "verbose", kind: kindFlag, summary: "Add the type of each"}, asTable},
		since:  tiers.Version{1, 12, 2}, // format
		reply:  Reply{Kind: Lines, Silent: true}},
	// What it does without a subject is stated nowhere, so one is required. Its file is a path, unlike
	// that of other commands. A web address is only kept, not opened.
	{name: "bookmark", tier: tiers.V3, effect: tiers.Writes, target: targetNone, summary: "Bookmark a file, folder, search or web address",
		params: []param{
			{name: "file", kind: kindPath, summary: "The file by its path in the vault"},
			{name: "subpath", kind: kindName, summary: "With file: a heading or block in it"},
			{name: "folder", kind: kindFolder, summary: "The folder"},
			{name: "search", kind: kindText, summary: "The search query"},
			{name: "url", kind: kindURL, summary: "The web address"},
			{name: "title", kind: kindName, summary: "The label of the bookmark"},
		}, oneOf: [][]string{{"file", "folder", "search", "url"}}, exclusive: [][]string{{"file", "folder", "search", "url"}},
		needs: []need{{"subpath", []string{"file"}}}, reply: Reply{Kind: Quiet}, access: AccessToRead}, // the bookmark is written, not the file
	{name: "commands", tier: tiers.V3, effect: tiers.Reads, target: targetNone, reach: reachNothing, needsApp: true,
		summary: "List the command ids of the app and its plugins",
		params:  []param{{name: "filter", kind: kindName, summary: "Only ids that begin with this"}},
		reply:   Reply{Kind: Lines, Silent: true}},
	// The flag all is left out as on orphans.
	{name: "hotkeys", tier: tiers.V3, effect: tiers.Reads, target: targetNone, reach: reachNothing, needsApp: true,
		summary: "List the keyboard shortcuts",
		params:  []param{onlyTotal, {name: "verbose", kind: kindFlag, summary: "Mark those that were changed"}, asTable},
		since:   tiers.Version{1, 12, 2}, // format
		reply:   Reply{Kind: Lines, Silent: true}},
	{name: "hotkey", tier: tiers.V3, effect: tiers.Reads, target: targetNone, reach: reachNothing, needsApp: true,
		summary: "Show the keyboard shortcut of a command of the app",
		params: []param{
			{name: "id", kind: kindName, required: true, summary: "The id of the command"},
			{name: "verbose", kind: kindFlag, summary: "Say whether it was changed"},
		}, reply: Reply{Kind: Lines, Silent: true}},
	{name: "plugins", tier: tiers.V3, effect: tiers.Reads, target: targetNone, reach: reachNothing, needsApp: true,
		summary: "List the installed plugins",
		params:  []param{pluginFilter, {name: "versions", kind: kindFlag, rare: true, summary: "Add their versions"}, asTable},
		since:   tiers.Version{1, 12, 2}, // format
		reply:   Reply{Kind: Lines, Silent: true}},
	{name: "plugins:enabled", tier: tiers.V3, effect: tiers.Reads, target: targetNone, reach: reachNothing, needsApp: true,
		summary: "List the plugins that are switched on",
		params:  []param{pluginFilter, {name: "versions", kind: kindFlag, rare: true, summary: "Add their versions"}, asTable},
		since:   tiers.Version{1, 12, 2}, // format
		reply:   Reply{Kind: Lines, Silent: true}},
	{name: "plugin", tier: tiers.V3, effect: tiers.Reads, target: targetNone, reach: reachNothing, needsApp: true,
		summary: "Show facts about a plugin", params: []param{pluginID}, reply: Reply{Kind: Facts}},
	{name: "sync:status", tier: tiers.V3, effect: tiers.Reads, target: targetNone, needsApp: true,
		summary: "Show the state of Sync and the space it uses", reply: Reply{Kind: Facts}},
	{name: "sync:history", tier: tiers.V3, effect: tiers.Reads, reach: reachNote, needsApp: true,
		summary: "List the versions of a note in Sync", params: []param{noteByName, noteByPath, onlyTotal}, exclusive: fileOrPath,
		reply: Reply{Kind: Lines, Silent: true}},
	{name: "sync:read", tier: tiers.V3, effect: tiers.Reads, reach: reachNote, needsApp: true,
		summary: "Print a version of a note from Sync",
		params: []param{
			noteByName, noteByPath,
			{name: "version", kind: kindNumber, required: true, least: 1, summary: "The version, 1 is the newest"},
		}, exclusive: fileOrPath, reply: Reply{Kind: Content, Silent: true}},
	// The other devices of the user get the replaced text too.
	{name: "sync:restore", tier: tiers.V3, effect: tiers.Destroys, reach: reachNote, needsApp: true,
		summary: "Replace a note by a version from Sync",
		params: []param{
			noteByName, noteByPath,
			{name: "version", kind: kindNumber, required: true, least: 1, summary: "The version, 1 is the newest"},
		}, exclusive: fileOrPath, reply: Reply{Kind: Quiet}},
	{name: "sync:open", tier: tiers.V3, effect: tiers.Shows, reach: reachNote, needsApp: true,
		summary: "Open the Sync history of a note in the app", params: []param{noteByName, noteByPath}, exclusive: fileOrPath,
		reply: Reply{Kind: Quiet}},
	{name: "sync:deleted", tier: tiers.V3, effect: tiers.Reads, target: targetVault, needsApp: true,
		summary: "List the deleted files that Sync still keeps", params: []param{onlyTotal}, reply: Reply{Kind: Lines, Silent: true}},
	{name: "themes", tier: tiers.V3, effect: tiers.Reads, target: targetNone, reach: reachNothing, needsApp: true,
		summary: "List the installed themes", params: []param{{name: "versions", kind: kindFlag, summary: "Add their versions"}},
		reply: Reply{Kind: Lines, Silent: true}},
	// The stock look has no name to print.
	{name: "theme", tier: tiers.V3, effect: tiers.Reads, target: targetNone, reach: reachNothing, needsApp: true,
		summary: "Show the theme in use, or facts about one",
		params:  []param{{name: "name", kind: kindName, summary: "The name of the theme"}}, reply: Reply{Kind: Facts, Silent: true}},
	{name: "snippets", tier: tiers.V3, effect: tiers.Reads, target: targetNone, reach: reachNothing, needsApp: true,
		summary: "List the style snippets", reply: Reply{Kind: Lines, Silent: true}},
	{name: "snippets:enabled", tier: tiers.V3, effect: tiers.Reads, target: targetNone, reach: reachNothing, needsApp: true,
		summary: "List the style snippets that are switched on", reply: Reply{Kind: Lines, Silent: true}},
	// A template that is set for such notes is applied. The confirmation is that of create; none was recorded.
	{name: "unique", tier: tiers.V3, effect: tiers.Writes, target: targetNone,
		summary: "Create a note that is named after the present time", shows: showsOpen,
		params: []param{
			{name: "name", kind: kindTitle, summary: "Text to add to its name"},
			{name: "content", kind: kindContent, summary: "Its text"},
			openPane, openAfter,
		}, needs: paneNeeds, since: tiers.Version{1, 12, 2}, // before, it opened the note unless told not to
		reply: Reply{Kind: Confirmation, Confirms: []string{"Created: "}, Silent: true}},
	// Reveals the folder of the vault on disk.
	{name: "vault", tier: tiers.V3, effect: tiers.Reads, target: targetVault, summary: "Show the name, place and size of the vault",
		params: []param{
			{name: "info", kind: kindChoice, choices: []string{"name", "path", "files", "folders", "size"}, rare: true, summary: "This one fact only"},
		}, reply: Reply{Kind: Facts}},
	// Names every vault of the user, not only the one that is served.
	{name: "vaults", tier: tiers.V3, effect: tiers.Reads, target: targetNone, reach: reachNothing,
		summary: "List the vaults that the app knows",
		params:  []param{onlyTotal, {name: "verbose", kind: kindFlag, summary: "Add where they lie on disk"}}, reply: Reply{Kind: Lines}},
	// The address can carry text of a note out, and can reach machines of the local network.
	{name: "web", tier: tiers.V3, effect: tiers.Shows, sends: true, target: targetNone, reach: reachNothing, needsApp: true,
		summary: "Open a web address in the app",
		params:  []param{{name: "url", kind: kindURL, required: true, summary: "The web address"}, inNewTab}, reply: Reply{Kind: Quiet}},
	{name: "wordcount", tier: tiers.V3, effect: tiers.Reads, reach: reachNote, summary: "Count the words and characters of a note",
		params: []param{
			noteByName, noteByPath,
			{name: "words", kind: kindFlag, summary: "Words only"},
			{name: "characters", kind: kindFlag, summary: "Characters only"},
		}, exclusive: [][]string{{"file", "path"}, {"words", "characters"}}, reply: Reply{Kind: Facts}},
	{name: "workspace", tier: tiers.V3, effect: tiers.Reads, target: targetNone, needsApp: true,
		summary: "Show the panes and tabs as a tree", params: []param{{name: "ids", kind: kindFlag, summary: "Add their ids"}},
		reply: Reply{Kind: Lines, Silent: true}},
	{name: "workspaces", tier: tiers.V3, effect: tiers.Reads, target: targetNone, needsApp: true, summary: "List the saved layouts",
		params: []param{onlyTotal}, reply: Reply{Kind: Lines, Silent: true}},
	// Replaces a layout of the same name. Which one it replaces without a name is stated nowhere, so
	// the name is required. The effect is admin, because it changes settings of the app and no note.
	{name: "workspace:save", tier: tiers.V3, effect: tiers.Administers, target: targetNone, needsApp: true,
		summary: "Save the layout of the panes under a name",
		params:  []param{{name: "name", kind: kindName, required: true, summary: "The name of the layout"}}, reply: Reply{Kind: Quiet}},
	{name: "workspace:load", tier: tiers.V3, effect: tiers.Shows, target: targetNone, needsApp: true,
		summary: "Replace the panes by a saved layout",
		params:  []param{{name: "name", kind: kindName, required: true, summary: "The name of the layout"}}, reply: Reply{Kind: Quiet}},
	// No trash and no history keeps a layout.
	{name: "workspace:delete", tier: tiers.V3, effect: tiers.Destroys, target: targetNone, needsApp: true, summary: "Delete a saved layout",
		params: []param{{name: "name", kind: kindName, required: true, summary: "The name of the layout"}}, reply: Reply{Kind: Quiet}},
	{name: "tabs", tier: tiers.V3, effect: tiers.Reads, target: targetNone, needsApp: true, summary: "List the open tabs",
		params: []param{{name: "ids", kind: kindFlag, summary: "Add their ids"}}, reply: Reply{Kind: Lines, Silent: true}},
	// Its file is a path, unlike that of other commands.
	{name: "tab:open", tier: tiers.V3, effect: tiers.Shows, target: targetNone, needsApp: true, summary: "Open a tab in the app",
		params: []param{
			{name: "group", kind: kindName, summary: "The id of the tab group"},
			{name: "file", kind: kindPath, summary: "The file by its path in the vault"},
			{name: "view", kind: kindName, summary: "The type of view"},
		}, exclusive: [][]string{{"file", "view"}}, reply: Reply{Kind: Quiet}},
	{name: "recents", tier: tiers.V3, effect: tiers.Reads, target: targetVault, summary: "List the files that were opened last",
		params: []param{onlyTotal}, reply: Reply{Kind: Lines, Silent: true}},
}
