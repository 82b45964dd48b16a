package rig

// The reading commands of the official client, by who can answer them: a folder
// of notes, or only the app.
const (
	FolderReads = `aliases backlinks base:query base:views bases bookmarks daily:path daily:read deadends diff file files folder folders help history
		history:list history:read links orphans outline properties property:read random:read read recents search search:context tag tags task tasks template:read templates
		unresolved vault vaults version wordcount`

	AppReads = `commands dev:console dev:css dev:dom dev:errors dev:screenshot
		hotkey hotkeys plugin plugins plugins:enabled publish:list publish:site publish:status snippets
		snippets:enabled sync:deleted sync:history sync:read sync:status tabs theme themes workspace workspaces`

	// GatewayReads are the reading commands that the gateway answers and no program.
	GatewayReads = `undo:list approvals`

	// OwnReads are the reading commands that the app does not have.
	OwnReads = `attachment:read attachments base:check base:eval briefing canvas:read daily:range find note:section periodic:path periodic:read query recent related`
)
