package grammar

import (
	"slices"
	"strings"
)

// official lists, in order, every command that the app's own program is
// documented to have. It tells a command that needs the app from one that does
// not exist; what each of them may carry is decided elsewhere.
const official = `
	aliases append backlinks base:create base:query base:views bases bookmark bookmarks command commands create
	daily daily:append daily:path daily:prepend daily:read deadends delete dev:cdp dev:console dev:css dev:debug
	dev:dom dev:errors dev:mobile dev:screenshot devtools diff eval file files folder folders help history
	history:list history:open history:read history:restore hotkey hotkeys links move open orphans outline plugin
	plugin:disable plugin:enable plugin:install plugin:reload plugin:uninstall plugins plugins:enabled
	plugins:restrict prepend properties property:read property:remove property:set publish:add publish:list
	publish:open publish:remove publish:site publish:status random random:read read recents reload rename restart
	search search:context search:open snippet:disable snippet:enable snippets snippets:enabled sync sync:deleted
	sync:history sync:open sync:read sync:restore sync:status tab:open tabs tag tags task tasks template:insert
	template:read templates theme theme:install theme:set theme:uninstall themes unique unresolved vault vault:open
	vaults version web wordcount workspace workspace:delete workspace:load workspace:save workspaces
`

// OfficialNames returns the names of all commands of the Obsidian CLI.
func OfficialNames() []string { return strings.Fields(official) }

// IsOfficial reports whether the app's program has a command of that name.
func IsOfficial(name string) bool {
	_, found := slices.BinarySearch(OfficialNames(), name)
	return found
}
