package allowlist

import "github.com/vaultwicket/vaultwicket/tiers"

// restrictedRows are the commands that run code, administer the app or watch its window. No setting enables them,
// so their parameters are never checked or sent. The rows exist so that the answer is "restricted" and not
// "unknown", and so that explain can show what was refused.
var restrictedRows = []row{
	{
		name:    "reload",
		tier:    tiers.Restricted,
		effect:  tiers.Administers,
		target:  targetNone,
		summary: "Reload the window of the app",
	},
	{
		name:    "restart",
		tier:    tiers.Restricted,
		effect:  tiers.Administers,
		target:  targetNone,
		summary: "Restart the app",
	},
	// Can do everything that the app and its plugins can do.
	{name: "command", tier: tiers.Restricted, effect: tiers.Executes, summary: "Run a command of the app by its id",
		params: []param{{name: "id", kind: kindName, required: true, summary: "The id of the command"}}},
	// According to the help page, the form without parameters toggles or checks, so even that is not a read.
	{name: "plugins:restrict", tier: tiers.Restricted, effect: tiers.Administers, target: targetNone,
		summary: "Show or change the mode in which no community plugin runs", when: []escalation{{"off", tiers.Executes}}, // starts what is installed
		params: []param{switchOn, switchOff}, exclusive: onOrOff},
	// Starts the code of the plugin.
	{
		name:    "plugin:enable",
		tier:    tiers.Restricted,
		effect:  tiers.Executes,
		target:  targetNone,
		summary: "Switch a plugin on",
		params:  []param{pluginID, pluginFilter},
	},
	// Removes the commands of the plugin, even of core plugins.
	{
		name:    "plugin:disable",
		tier:    tiers.Restricted,
		effect:  tiers.Administers,
		target:  targetNone,
		summary: "Switch a plugin off",
		params:  []param{pluginID, pluginFilter},
	},
	{
		name:    "plugin:install",
		tier:    tiers.Restricted,
		effect:  tiers.Administers,
		target:  targetNone,
		summary: "Install a community plugin",
		when:    []escalation{{"enable", tiers.Executes}},
		params:  []param{pluginID, {name: "enable", kind: kindFlag, summary: "Switch it on as well"}},
	},
	{
		name:    "plugin:uninstall",
		tier:    tiers.Restricted,
		effect:  tiers.Administers,
		target:  targetNone,
		summary: "Remove a community plugin",
		params:  []param{pluginID},
	},
	// Runs the code in the folder of the plugin.
	{
		name:    "plugin:reload",
		tier:    tiers.Restricted,
		effect:  tiers.Executes,
		target:  targetNone,
		summary: "Restart a plugin",
		params:  []param{pluginID},
	},
	// What the form without parameters does is not documented; sync:status shows the state.
	{
		name:      "sync",
		tier:      tiers.Restricted,
		effect:    tiers.Administers,
		target:    targetNone,
		summary:   "Resume or pause Sync",
		params:    []param{switchOn, switchOff},
		exclusive: onOrOff,
	},
	{name: "theme:set", tier: tiers.Restricted, effect: tiers.Administers, target: targetNone, summary: "Set the theme",
		params: []param{themeName}},
	{
		name:    "theme:install",
		tier:    tiers.Restricted,
		effect:  tiers.Administers,
		target:  targetNone,
		summary: "Install a community theme",
		params:  []param{themeName, {name: "enable", kind: kindFlag, summary: "Use it as well"}},
	},
	{
		name:    "theme:uninstall",
		tier:    tiers.Restricted,
		effect:  tiers.Administers,
		target:  targetNone,
		summary: "Remove a theme",
		params:  []param{themeName},
	},
	// Style rules can disguise the app and load remote addresses.
	{
		name:    "snippet:enable",
		tier:    tiers.Restricted,
		effect:  tiers.Administers,
		target:  targetNone,
		summary: "Switch a style snippet on",
		params:  []param{{name: "name", kind: kindName, required: true, summary: "The name of the snippet"}},
	},
	{
		name:    "snippet:disable",
		tier:    tiers.Restricted,
		effect:  tiers.Administers,
		target:  targetNone,
		summary: "Switch a style snippet off",
		params:  []param{{name: "name", kind: kindName, required: true, summary: "The name of the snippet"}},
	},
	// Changes the vault of later calls; the gateway names the vault in every call.
	{name: "vault:open", tier: tiers.Restricted, effect: tiers.Shows, target: targetNone,
		summary: "Switch the interactive terminal to another vault",
		params:  []param{{name: "name", kind: kindName, required: true, summary: "The name of the vault"}}},
	{
		name:    "devtools",
		tier:    tiers.Restricted,
		effect:  tiers.Shows,
		target:  targetNone,
		summary: "Show or hide the developer tools",
	},
	{
		name:      "dev:debug",
		tier:      tiers.Restricted,
		effect:    tiers.Administers,
		target:    targetNone,
		summary:   "Attach or detach the debugger",
		params:    []param{switchOn, switchOff},
		exclusive: onOrOff,
	},
	{name: "dev:cdp", tier: tiers.Restricted, effect: tiers.Executes, target: targetNone,
		summary: "Send a call of the Chrome DevTools Protocol to the window",
		params: []param{
			{name: "method", kind: kindText, required: true, summary: "The method"},
			{name: "params", kind: kindText, summary: "Its parameters in JSON"},
		}},
	{
		name:    "dev:errors",
		tier:    tiers.Restricted,
		effect:  tiers.Reads,
		target:  targetNone,
		summary: "Show the script errors of the app",
		when: []escalation{
			{"clear", tiers.Administers},
		},
		params: []param{{name: "clear", kind: kindFlag, summary: "Forget them"}},
	},
	// Shows whatever is on the screen, and writes to any path of the machine.
	{
		name:    "dev:screenshot",
		tier:    tiers.Restricted,
		effect:  tiers.Reads,
		target:  targetNone,
		summary: "Take a picture of the window",
		when: []escalation{
			{"path", tiers.Writes},
		},
		params: []param{{name: "path", kind: kindPath, summary: "The file to write"}},
	},
	{
		name:    "dev:console",
		tier:    tiers.Restricted,
		effect:  tiers.Reads,
		target:  targetNone,
		summary: "Show the console messages of the app",
		when:    []escalation{{"clear", tiers.Administers}},
		params: []param{
			{name: "limit", kind: kindNumber, least: 1, summary: "Maximum number"},
			{
				name:    "level",
				kind:    kindChoice,
				choices: []string{"log", "warn", "error", "info", "debug"},
				summary: "Only this level",
			},
			{name: "clear", kind: kindFlag, summary: "Forget them"},
		},
	},
	{name: "dev:css", tier: tiers.Restricted, effect: tiers.Reads, target: targetNone,
		summary: "Show the style of an element of the window",
		params: []param{
			{name: "selector", kind: kindText, required: true, summary: "The CSS selector"},
			{name: "prop", kind: kindText, summary: "Only this property"},
		}},
	// Reads any note that is on the screen, whatever its folder.
	{
		name:    "dev:dom",
		tier:    tiers.Restricted,
		effect:  tiers.Reads,
		target:  targetNone,
		summary: "Print elements of the window",
		params: []param{
			{name: "selector", kind: kindText, required: true, summary: "The CSS selector"},
			{name: "attr", kind: kindText, summary: "Only this attribute"},
			{name: "css", kind: kindText, summary: "Only this style property"},
			onlyTotal,
			{name: "text", kind: kindFlag, summary: "Only the text"},
			{name: "inner", kind: kindFlag, summary: "Without the element itself"},
			{name: "all", kind: kindFlag, summary: "All matches, not the first"},
		},
		exclusive: [][]string{{"attr", "css", "total", "text", "inner"}},
	},
	{
		name:      "dev:mobile",
		tier:      tiers.Restricted,
		effect:    tiers.Administers,
		target:    targetNone,
		summary:   "Make the app behave as on a phone",
		params:    []param{switchOn, switchOff},
		exclusive: onOrOff,
	},
	// The whole app, the file system and the network.
	{
		name:    "eval",
		tier:    tiers.Restricted,
		effect:  tiers.Executes,
		target:  targetNone,
		summary: "Run JavaScript in the app",
		params:  []param{{name: "code", kind: kindText, required: true, summary: "The code"}},
	},
}
