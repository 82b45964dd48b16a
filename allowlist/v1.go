package allowlist

import "github.com/vaultwicket/vaultwicket/tiers"

// v1Rows: files and folders, whole notes, attachments and properties.
//
// Without file or path most of them work on the note that is open in the app.
// That is only ever allowed for reads, see policy.
var v1Rows = []row{
	{name: "file", tier: tiers.V1, effect: tiers.Reads, reach: reachNote, summary: "Show the path, size and times of a file",
		params: []param{noteByName, noteByPath}, exclusive: fileOrPath, reply: Reply{Kind: Facts}},
	// A missing folder gives no output, like an empty one.
	{name: "files", tier: tiers.V1, effect: tiers.Reads, target: targetVault, summary: "List the files of the vault",
		params: []param{
			{name: "folder", kind: kindFolder, summary: "Only files in this folder and below"},
			{name: "ext", kind: kindName, hint: "extension", summary: "Only files with this extension"},
			onlyTotal,
		}, reply: Reply{Kind: Paths, Silent: true}},
	{name: "folder", tier: tiers.V1, effect: tiers.Reads, target: targetNone,
		summary: "Show how many files a folder contains and their size",
		params: []param{
			{name: "path", kind: kindFolder, required: true, summary: "The folder"},
			{name: "info", kind: kindChoice, choices: []string{"files", "folders", "size"}, rare: true, summary: "This one figure only"},
		}, reply: Reply{Kind: Facts}},
	// As files.
	{name: "folders", tier: tiers.V1, effect: tiers.Reads, target: targetVault, summary: "List the folders of the vault",
		params: []param{{name: "folder", kind: kindFolder, summary: "Only folders in this one and below"}, onlyTotal},
		reply:  Reply{Kind: Paths, Silent: true}},
	{name: "open", tier: tiers.V1, effect: tiers.Shows, reach: reachNote, needsApp: true, summary: "Open a file in the app",
		params: []param{noteByName, noteByPath, inNewTab}, exclusive: fileOrPath,
		reply: Reply{Kind: Confirmation, Confirms: []string{"Opened: "}, Silent: true}},
	// The app never refuses: without name and path it makes "Untitled", on a taken path a numbered copy that it
	// reports as created (recorded on 1.12.7). So one of the two is required here, and steps looks first. With
	// a template the app drops content without a word, so the two exclude each other here. A scripting plugin
	// may run code in a template; that is the vault's own setting, and create stays a write.
	{name: "create", tier: tiers.V1, effect: tiers.Writes, target: targetNone, reach: reachNote,
		summary: "Create a note; with overwrite, replace one", when: []escalation{{"overwrite", tiers.Destroys}}, // the old text stays in the file history at best
		shows: showsNewTab,
		params: []param{
			{name: "name", kind: kindTitle, summary: "Its name, in the default folder for new notes"},
			{name: "path", kind: kindNewPath, summary: "Its path in the vault"},
			{name: "content", kind: kindContent, summary: "Its text"},
			{name: "template", kind: kindLink, summary: "The template to start from"},
			{name: "overwrite", kind: kindFlag, summary: "Replace an existing note"},
			openAfter, openNewTab,
		}, oneOf: [][]string{{"name", "path"}}, exclusive: [][]string{{"name", "path"}}, embeddedWith: [][]string{{"content", "template"}},
		needs: tabNeeds, since: tiers.Version{1, 12, 2}, // before, it opened the note unless told not to
		reply: Reply{Kind: Confirmation, Confirms: []string{"Created: ", "Overwrote: "}}, steps: createsIfAbsent, newNote: "name"},
	// Even an empty note is printed with a line break (byte counts recorded on 1.12.7), so it is never silent.
	{name: "read", tier: tiers.V1, effect: tiers.Reads, reach: reachNote, summary: "Print a note",
		params: []param{
			noteByName, noteByPath,
			{name: "frontmatter", kind: kindChoice, choices: []string{"true", "false"}, embeddedOnly: true, rare: true, summary: "With its properties (default) or without"},
		}, exclusive: fileOrPath, reply: Reply{Kind: Content}, printsNote: true},
	// An extension: the JSON of a canvas is mostly ids and places.
	{name: "canvas:read", tier: tiers.V1, effect: tiers.Reads, reach: reachNote, embeddedOnly: true,
		summary: "Print a canvas as an outline of its groups, cards and edges",
		params: []param{
			noteByName, noteByPath,
			{name: "format", kind: kindChoice, choices: textOrJSON, rare: true, summary: "Output format; JSON has the ids"},
		}, exclusive: fileOrPath, reply: Reply{Kind: Content}},
	{name: "canvas:create", tier: tiers.V1, effect: tiers.Writes, target: targetNone, reach: reachNote, embeddedOnly: true,
		summary: "Create an empty canvas",
		params:  []param{{name: "path", kind: kindNewPath, required: true, summary: "Its path in the vault"}},
		reply:   Reply{Kind: Confirmation, Confirms: []string{"Created: "}}},
	// note is resolved like a link: what it names is not changed.
	{name: "canvas:add", tier: tiers.V1, effect: tiers.Writes, embeddedOnly: true,
		summary: "Add a card or a group to a canvas, next to the last one",
		params: []param{
			canvasByName, canvasByPath, cardText, cardNote, cardURL, nodeLabel, nodeX, nodeY, nodeWidth, nodeHeight, nodeColor,
		}, oneOf: [][]string{{"text", "note", "url", "label"}}, exclusive: [][]string{{"file", "path"}, {"text", "note", "url", "label"}},
		reply: Reply{Kind: Confirmation, Confirms: []string{"Added: "}}},
	{name: "canvas:set", tier: tiers.V1, effect: tiers.Writes, embeddedOnly: true, summary: "Change a card, a group or an edge of a canvas",
		params: []param{
			canvasByName, canvasByPath, nodeID, cardText, cardNote, cardURL, nodeLabel, nodeX, nodeY, nodeWidth, nodeHeight, nodeColor,
		}, exclusive: [][]string{{"file", "path"}, {"text", "note", "url", "label"}},
		reply: Reply{Kind: Confirmation, Confirms: []string{"Changed: "}}},
	{name: "canvas:connect", tier: tiers.V1, effect: tiers.Writes, reach: reachNote, embeddedOnly: true,
		summary: "Draw an edge from one card or group of a canvas to another",
		params: []param{
			canvasByName, canvasByPath,
			{name: "from", kind: kindText, required: true, summary: "The first node: its id, or what it shows"},
			{name: "to", kind: kindText, required: true, summary: "The second node"},
			{name: "label", kind: kindText, summary: "The label of the edge"},
			{name: "arrow", kind: kindChoice, choices: []string{"forth", "back", "both", "none"}, rare: true, summary: "Which ends have an arrow (default: forth)"},
			{name: "from-side", kind: kindChoice, choices: nodeSides, rare: true, summary: "The side where it begins (default: that nearer to the other)"},
			{name: "to-side", kind: kindChoice, choices: nodeSides, rare: true, summary: "The side where it ends"},
			nodeColor,
		}, exclusive: fileOrPath, reply: Reply{Kind: Confirmation, Confirms: []string{"Connected: "}}},
	{name: "canvas:remove", tier: tiers.V1, effect: tiers.Destroys, reach: reachNote, embeddedOnly: true,
		summary: "Remove an edge from a canvas, or a card or group with its edges", params: []param{canvasByName, canvasByPath, nodeID},
		exclusive: fileOrPath, reply: Reply{Kind: Confirmation, Confirms: []string{"Removed: "}}},
	{name: "attachments", tier: tiers.V1, effect: tiers.Reads, target: targetVault, embeddedOnly: true,
		summary: "List files that are no notes, with type, size and what uses them",
		params: []param{
			inFolder,
			{name: "type", kind: kindChoice, choices: []string{"image", "audio", "video", "pdf", "other"}, rare: true, summary: "Only files of this type"},
			{name: "note", kind: kindLink, rare: true, summary: "Only files that this note links to or embeds"},
			{name: "unused", kind: kindFlag, rare: true, summary: "Only files that nothing links to or embeds"},
			rareTotal,
			{name: "format", kind: kindChoice, choices: textOrJSON, rare: true, summary: "Output format"},
		}, reply: Reply{Kind: Lines, Empty: "No attachments found."}},
	// Of an image a client of MCP gets the image, see gateway.Image.
	{name: "attachment:read", tier: tiers.V1, effect: tiers.Reads, reach: reachNote, embeddedOnly: true,
		summary: "Show an image or a text file; of other files, type and size",
		params: []param{
			noteByName, noteByPath,
			{name: "max-pixels", kind: kindNumber, least: 1, most: 4096, rare: true, summary: "Maximum width and height in pixels to which an image is scaled down"},
		}, exclusive: fileOrPath, reply: Reply{Kind: Content, Silent: true}},
	// A PDF can be made to take all the memory that there is.
	{name: "attachment:text", tier: tiers.V1, effect: tiers.Reads, reach: reachNote, embeddedOnly: true, apart: true,
		summary: "Print a text file, or the text of a PDF by pages",
		params: []param{
			noteByName, noteByPath,
			{name: "pages", kind: kindName, rare: true, summary: "Pages of a PDF, such as 3 or 3-7"},
		}, exclusive: fileOrPath, reply: Reply{Kind: Content, Silent: true}},
	{name: "attachment:write", tier: tiers.V1, effect: tiers.Writes, embeddedOnly: true,
		summary: "Store a file such as an image; with overwrite, replace one", when: []escalation{{"overwrite", tiers.Destroys}},
		params: []param{
			{name: "path", kind: kindNewPath, summary: "Its path in the vault"},
			{name: "name", kind: kindTitle, summary: "Its name, in the folder for attachments of the vault"},
			{name: "data", kind: kindData, required: true, summary: "Its bytes in base64, up to 8 MiB"},
			{name: "note", kind: kindLink, rare: true, summary: "The note next to which it is kept, where the vault has it so"},
			{name: "overwrite", kind: kindFlag, summary: "Replace an existing file"},
		}, oneOf: [][]string{{"name", "path"}}, exclusive: [][]string{{"name", "path"}}, target: targetNone,
		reply: Reply{Kind: Confirmation, Confirms: []string{"Written: "}}},
	{name: "append", tier: tiers.V1, effect: tiers.Writes, reach: reachNote, summary: "Add text at the end of a note",
		params:    []param{noteByName, noteByPath, newText, inlineEnd, belowHeading, createHeading},
		exclusive: [][]string{{"file", "path"}, {"heading", "inline"}}, needs: headingNeeds,
		reply: Reply{Kind: Confirmation, Confirms: []string{"Appended to: "}}},
	{name: "prepend", tier: tiers.V1, effect: tiers.Writes, reach: reachNote,
		summary: "Add text at the top of a note, below its properties", params: []param{noteByName, noteByPath, newText, inlineStart},
		exclusive: fileOrPath, reply: Reply{Kind: Confirmation, Confirms: []string{"Prepended to: "}}},
	// Links follow on the embedded backend only: the app goes by a setting of the vault,
	// and may ask in a dialog.
	{name: "move", tier: tiers.V1, effect: tiers.Writes, followsLinks: true, summary: "Move a file to another folder or path; links follow",
		params: []param{
			noteByName, noteByPath,
			{name: "to", kind: kindDestination, required: true, summary: "Folder/ to keep the name, or the new path"},
			{name: "files", kind: kindText, embeddedOnly: true, rare: true, summary: "In place of one file: paths, one a line"},
			setResults, linksToo,
		}, targets: []string{"files", "query"}, exclusive: [][]string{{"file", "path", "files", "query"}},
		reply: Reply{Kind: Confirmation, Confirms: []string{"Moved: "}}, access: AccessToMove},
	// As move. With the setting off, 1.12.7 renamed the file and never answered.
	{name: "rename", tier: tiers.V1, effect: tiers.Writes, followsLinks: true, summary: "Rename a file in its folder; links follow",
		params: []param{
			noteByName, noteByPath,
			{name: "name", kind: kindTitle, required: true, summary: "The new name; it keeps its extension if none is given"},
			linksToo,
		}, exclusive: fileOrPath, since: tiers.Version{1, 12, 2}, reply: Reply{Kind: Confirmation, Confirms: []string{"Renamed: "}}},
	// The app has commands for none of these on its command line.
	{name: "copy", tier: tiers.V1, effect: tiers.Writes, embeddedOnly: true, summary: "Copy a file; links in the copy lead where they led",
		params: []param{
			noteByName, noteByPath,
			{name: "to", kind: kindDestination, required: true, summary: "Folder/ to keep the name, or the path of the copy"},
		}, exclusive: fileOrPath, reply: Reply{Kind: Confirmation, Confirms: []string{"Copied: "}}, access: AccessToRead},
	{name: "folder:create", tier: tiers.V1, effect: tiers.Writes, target: targetNone, embeddedOnly: true,
		summary: "Make a folder, with those above it", params: []param{theFolder},
		reply: Reply{Kind: Confirmation, Confirms: []string{"Created: "}}},
	{name: "folder:move", tier: tiers.V1, effect: tiers.Writes, target: targetNone, embeddedOnly: true, many: true,
		summary: "Move a folder with all that is in it; links follow",
		params: []param{
			{name: "path", kind: kindFolder, summary: "The folder"},
			newFolder,
			{name: "files", kind: kindText, rare: true, summary: "In place of one folder: paths of folders, one a line"},
		}, oneOf: [][]string{{"path", "files"}}, exclusive: [][]string{{"path", "files"}},
		reply: Reply{Kind: Confirmation, Confirms: []string{"Moved: "}}},
	{name: "folder:rename", tier: tiers.V1, effect: tiers.Writes, target: targetNone, embeddedOnly: true, many: true,
		summary: "Rename a folder; links follow",
		params:  []param{theFolder, {name: "name", kind: kindTitle, required: true, summary: "The new name"}},
		reply:   Reply{Kind: Confirmation, Confirms: []string{"Renamed: "}}},
	{name: "folder:copy", tier: tiers.V1, effect: tiers.Writes, target: targetNone, embeddedOnly: true, many: true,
		summary: "Copy a folder; links between its notes lead to the copies", params: []param{theFolder, newFolder},
		reply: Reply{Kind: Confirmation, Confirms: []string{"Copied: "}}},
	{name: "folder:delete", tier: tiers.V1, effect: tiers.Destroys, target: targetNone, embeddedOnly: true, many: true,
		summary: "Move a folder with all that is in it to the trash", params: []param{theFolder},
		reply: Reply{Kind: Confirmation, Confirms: []string{"Moved to trash: ", "Deleted permanently: "}}},
	// permanent is no worse class, but nothing brings the note back then.
	{name: "delete", tier: tiers.V1, effect: tiers.Destroys, reach: reachNote, summary: "Move a file to the trash, or delete it for good",
		params: []param{noteByName, noteByPath, {name: "permanent", kind: kindFlag, summary: "Delete it for good"}}, exclusive: fileOrPath,
		reply: Reply{Kind: Confirmation, Confirms: []string{"Moved to trash: ", "Deleted permanently: "}}},
	{name: "aliases", tier: tiers.V1, effect: tiers.Reads, target: targetVault, summary: "List the aliases of all notes, or of one",
		params: []param{
			noteByName, noteByPath, rareTotal,
			{name: "verbose", kind: kindFlag, rare: true, summary: "Add the note of each"},
			onlyActive,
		}, exclusive: oneOfNotes, since: tiers.Version{1, 12, 2}, // before, the bare form meant the open note
		reply: Reply{Kind: Lines, Silent: true}},
	// For one note without properties, and for one whose properties cannot be
	// read, it prints the same sentence in every format.
	{name: "properties", tier: tiers.V1, effect: tiers.Reads, target: targetVault,
		summary: "List the property names of the vault, or the properties of one note",
		params: []param{
			noteByName, noteByPath,
			{name: "name", kind: kindName, summary: "Count this property only"},
			sortByCount,
			{name: "format", kind: kindChoice, choices: []string{"yaml", "json", "tsv"}, rare: true, summary: "Output format"},
			rareTotal, withCounts, onlyActive,
		}, exclusive: oneOfNotes, since: tiers.Version{1, 12, 2}, // as aliases
		reply: Reply{Kind: Lines, Empty: "No frontmatter found."}},
	// Replaces an old value without asking, and without type it may change the type; both can be
	// brought back, so it is a write. The app rewrites the style of all properties.
	{name: "property:set", tier: tiers.V1, effect: tiers.Writes, reach: reachNote, summary: "Set a property of a note",
		params: []param{
			{name: "name", kind: kindName, required: true, summary: "The property"},
			{name: "value", kind: kindText, hint: "value", required: true, summary: "Its value; commas separate the items of a list"},
			{name: "type", kind: kindChoice, choices: []string{"text", "list", "number", "checkbox", "date", "datetime"}, rare: true, summary: "Its type"},
			noteByName, noteByPath, setFolder, setResults,
		}, targets: []string{"folder", "query"}, exclusive: [][]string{{"file", "path", "folder"}, {"file", "path", "query"}},
		reply: Reply{Kind: Confirmation, Confirms: []string{"Set "}}},
	{name: "property:add", tier: tiers.V1, effect: tiers.Writes, reach: reachNote, embeddedOnly: true,
		summary: "Add items to a list property", params: []param{theProperty, itemsOfList, noteByName, noteByPath, setFolder, setResults},
		targets: []string{"folder", "query"}, exclusive: [][]string{{"file", "path", "folder"}, {"file", "path", "query"}},
		reply: Reply{Kind: Confirmation, Confirms: []string{"Added to "}}},
	{name: "property:remove-item", tier: tiers.V1, effect: tiers.Writes, reach: reachNote, embeddedOnly: true,
		summary: "Remove items from a list property",
		params:  []param{theProperty, itemsOfList, noteByName, noteByPath, setFolder, setResults}, targets: []string{"folder", "query"},
		exclusive: [][]string{{"file", "path", "folder"}, {"file", "path", "query"}},
		reply:     Reply{Kind: Confirmation, Confirms: []string{"Removed from "}}},
	// Takes content away, so it destroys, although the file history may have it.
	{name: "property:remove", tier: tiers.V1, effect: tiers.Destroys, reach: reachNote, summary: "Remove a property from a note",
		params:    []param{{name: "name", kind: kindName, required: true, summary: "The property"}, noteByName, noteByPath},
		exclusive: fileOrPath, reply: Reply{Kind: Confirmation, Confirms: []string{"Removed: "}}},
	{name: "property:read", tier: tiers.V1, effect: tiers.Reads, reach: reachNote, printsValue: true, summary: "Print the value of a property of a note",
		params:    []param{{name: "name", kind: kindName, required: true, summary: "The property"}, noteByName, noteByPath},
		exclusive: fileOrPath, reply: Reply{Kind: Content, Silent: true}},
}
