package manual

// Commands returns the subcommands, in the order of the help.
func Commands() []Command {
	var all []Command
	for _, part := range [][]Command{serving, running, deciding, reviewing, configuring, others} {
		all = append(all, part...)
	}
	return all
}

var serving = []Command{
	{
		Name: "install", Usage: "[flags] CLIENT | --all | --list", Group: start,
		Summary: "add vaultwicket to an MCP client, after showing the change",
		About: []string{
			"The entry is read-only unless --edit is given. The entry does not pre-approve any calls.",
			"The settings of the client are changed by its own command where it has one, or edited in place: comments, order and foreign entries stay, and a copy is kept.",
		},
		Examples: []Example{
			{"which clients are here, and what is installed", "vaultwicket install --list"},
			{"let a client read a vault", "vaultwicket install cursor --vault ~/Notes"},
			{"let it change notes, too", "vaultwicket install claude-code --vault ~/Notes --edit"},
			{"only print the entry", "vaultwicket install zed --vault ~/Notes --print"},
		},
	},
	{
		Name: "uninstall", Usage: "[flags] CLIENT | --all", Group: start,
		Summary: "remove vaultwicket from an MCP client, after showing the change",
		Examples: []Example{
			{"remove the entry of one client", "vaultwicket uninstall cursor"},
			{"show what would be removed everywhere", "vaultwicket uninstall --all --dry-run"},
		},
	},
	{
		Name: "serve", Usage: "[flags]", Group: start,
		Summary: "serve MCP over stdio or HTTP",
		About: []string{
			"An MCP client starts this and speaks JSON-RPC with it on standard input and output. Messages for you go to standard error.",
			"With --http one server is for several clients; each needs the token from the token file.",
		},
		Examples: []Example{
			{"a read-only server for one folder", "vaultwicket serve --vault ~/Notes"},
			{"let agents search and change notes", "vaultwicket serve --vault ~/Notes --tier v2 --allow-mutations"},
			{"over HTTP, on this machine only", "vaultwicket serve --vault ~/Notes --http 127.0.0.1:8765"},
		},
	},
	{
		Name: "prompt", Usage: "[flags] NAME [key=value …]", Group: start,
		Summary: "print an MCP prompt, for a client without prompts",
		Examples: []Example{
			{"the morning review, with three days before", "vaultwicket prompt --vault ~/Notes morning-review days=3"},
			{"a briefing on a topic", "vaultwicket prompt --vault ~/Notes --tier v1 briefing topic=garden"},
		},
	},
	{
		Name: "doctor", Usage: "[flags]", Group: start,
		Summary: "check this installation; each problem with its fix",
		About:   []string{"The exit status is 0 without problems, with --strict 1 if there are warnings, and 4 with problems."},
		Examples: []Example{
			{"check everything", "vaultwicket doctor"},
			{"for programs", "vaultwicket doctor --json"},
		},
	},
	{
		Name: "demo", Group: start,
		Summary: "play an MCP session on a built-in vault",
		Examples: []Example{
			{"needs no vault and no Obsidian", "vaultwicket demo"},
		},
	},
}

var running = []Command{
	{
		Name: "run", Usage: "[flags] COMMAND [key=value | flag …]", Group: use,
		Summary: "run a command through the gateway",
		About: []string{
			"Flags come before the command, its parameters after it. \"vaultwicket commands\" lists the commands, \"vaultwicket explain COMMAND\" describes one.",
			"Standard output has the answer alone, byte for byte unless it is a terminal. Notes and errors go to standard error.",
		},
		Examples: []Example{
			{"read today's note", "vaultwicket run --vault ~/Notes daily:read"},
			{"search", `vaultwicket run --vault ~/Notes --tier v1 search query="garden shed"`},
			{"add lines from standard input", "date | vaultwicket run --vault ~/Notes --allow-mutations daily:append content=-"},
			{"all of the result, for programs", "vaultwicket run --vault ~/Notes --json random:read"},
		},
	},
	{
		Name: "dry-run", Usage: "[flags] COMMAND [key=value | flag …]", Group: use,
		Summary: "preview a command; nothing is changed",
		About:   []string{"It prints the decision with the verdict of every rule, the program that would be started, and the difference that a change would make. The exit status is that of the decision."},
		Examples: []Example{
			{"preview a change", `vaultwicket dry-run --vault ~/Notes --allow-mutations daily:append content="buy milk"`},
			{"why is this denied?", "vaultwicket dry-run eval code=1"},
		},
	},
	{
		Name: "batch", Usage: "[flags] FILE|-", Group: use,
		Summary: "run several commands from a JSON file",
		About:   []string{"An operation can use results of earlier ones. With \"atomic\": true either all changes are made or none. The results are JSON."},
		Examples: []Example{
			{"from a file", "vaultwicket batch --vault ~/Notes --tier v1 --allow-mutations batch.json"},
			{"from standard input", `echo '{"operations": [{"clientId": "c1", "command": "daily:read"}]}' | vaultwicket batch --vault ~/Notes -`},
		},
	},
	{
		Name: "commands", Usage: "[flags] [--all]", Group: use,
		Summary: "list enabled commands; with --all also the others, and why not",
		Examples: []Example{
			{"what is enabled by default", "vaultwicket commands"},
			{"everything, with the reason for each that is not enabled", "vaultwicket commands --all"},
		},
	},
	{
		Name: "explain", Usage: "[flags] COMMAND", Group: use,
		Summary: "describe a command: parameters, tier, effect, whether it is enabled",
		Examples: []Example{
			{"the parameters of a command", "vaultwicket explain tasks"},
		},
	},
	{
		Name: "vault", Usage: "FOLDER [--write] COMMAND [key=value | flag …]", Group: use,
		Summary: "the embedded CLI itself, without the gateway",
		About:   []string{"It has no tiers, no approvals and no audit log: do not give it to an agent. It only reads unless --write is given, and keeps the access rules of the settings file."},
		Examples: []Example{
			{"its commands", "vaultwicket vault ~/Notes help"},
			{"read a note", "vaultwicket vault ~/Notes read path=Plan.md"},
		},
	},
}

var deciding = []Command{
	{
		Name: "approvals", Usage: "[flags]", Group: consent,
		Summary: "list pending approvals",
		About:   []string{"A call that requires approval is shown by the MCP client if it supports forms. Otherwise it is pending here, for ten minutes."},
		Examples: []Example{
			{"what is pending", "vaultwicket approvals"},
		},
	},
	{
		Name: "approve", Usage: "CODE", Group: consent,
		Summary: "approve a pending request, at a terminal",
		About:   []string{"It shows the request and asks at the terminal, so that an agent cannot approve its own calls. The approval is for this call, once."},
		Examples: []Example{
			{"decide on a request by its code", "vaultwicket approve 7ZBC-2GX4"},
		},
	},
	{
		Name: "deny", Usage: "CODE", Group: consent,
		Summary: "deny a pending request",
		Examples: []Example{
			{"deny a request by its code", "vaultwicket deny 7ZBC-2GX4"},
		},
	},
	{
		Name: "pause", Usage: "[--json]", Group: consent,
		Summary: "deny every call immediately, in every running server",
		Examples: []Example{
			{"stop all agents at once", "vaultwicket pause"},
		},
	},
	{
		Name: "resume", Usage: "[--json]", Group: consent,
		Summary: "resume after a pause",
		Examples: []Example{
			{"end the pause", "vaultwicket resume"},
		},
	},
}

var reviewing = []Command{
	{
		Name: "ui", Usage: "[flags] [--listen ADDRESS]", Group: review,
		Summary: "open a local page: activity, approvals, changes, policy",
		About: []string{
			"The link is shown at your terminal and works once, within 15 minutes; Enter shows another one. The page is for this machine only, and ends with the command.",
		},
		Examples: []Example{
			{"on a free port", "vaultwicket ui"},
			{"on a port of your choice", "vaultwicket ui --listen 127.0.0.1:8766"},
		},
	},
	{
		Name: "journal", Usage: "[flags] list | show ID", Group: review,
		Summary: "list changes",
		About:   []string{"\"list\" prints the latest changes, \"show\" all of one: its notes with their hashes, who made it, and what undid it. No text of a note is shown."},
		Examples: []Example{
			{"the latest changes of a vault", "vaultwicket journal list --vault ~/Notes"},
			{"those since yesterday, with exact times", "vaultwicket journal list --vault ~/Notes --since yesterday --exact-times"},
		},
	},
	{
		Name: "undo", Usage: "[flags] [list | ID | --batch ID | --session[=ID]]", Group: review,
		Summary: "undo a change (default: the latest), or list what can be undone",
		About:   []string{"It restores the bytes before the change, unless somebody has changed the note since."},
		Examples: []Example{
			{"what can be undone", "vaultwicket undo list --vault ~/Notes"},
			{"undo the latest change of a vault", "vaultwicket undo --vault ~/Notes --allow-mutations"},
			{"undo all changes of the latest session", "vaultwicket undo --vault ~/Notes --allow-mutations --session"},
		},
	},
	{
		Name: "audit", Usage: "list [flags] | verify [--json] | export FILE|-", Group: review,
		Summary: "list, verify or export the audit log",
		About: []string{
			"The log has a line for each decision and each outcome, chained by hashes. It contains names, lengths and digests, and never a text of a note.",
			"\"list\" prints entries, \"verify\" checks that nobody has changed or removed lines, and \"export\" writes all lines as they are.",
		},
		Examples: []Example{
			{"what was denied today", "vaultwicket audit list --decision deny --since today"},
			{"has somebody changed the log?", "vaultwicket audit verify"},
			{"all lines, as JSON", "vaultwicket audit export audit.jsonl"},
		},
	},
}

var configuring = []Command{
	{
		Name: "config", Usage: "[flags] show | check | path | init | schema", Group: configure,
		Summary: "show, check or create the settings",
		About: []string{
			"\"show\" prints each setting with its value and where that comes from, \"check\" everything that is wrong, with the line, and \"path\" where the settings file is.",
			"\"init\" writes a file with every setting and its default as a comment, and never over another file. \"schema\" prints the JSON schema of the file, for editors.",
		},
		Examples: []Example{
			{"write a settings file with every setting as a comment", "vaultwicket config init"},
			{"each setting with its value and origin", "vaultwicket config show"},
			{"everything that is wrong in a file", "vaultwicket config check --config ./config.toml"},
		},
	},
	{
		Name: "access", Usage: "[flags] PATH", Group: configure,
		Summary: "what agents can do with a note or folder, and which rule says so",
		Examples: []Example{
			{"may an agent see this folder?", "vaultwicket access --vault ~/Notes Private"},
		},
	},
	{
		Name: "compare", Usage: "[flags]", Group: configure,
		Summary: "ask both backends the same reading commands, and show where they differ",
		Examples: []Example{
			{"needs the Obsidian app", "vaultwicket compare --vault Notes"},
		},
	},
}

var others = []Command{
	{
		Name: "completion", Usage: "bash | zsh | fish | powershell", Group: other,
		Summary: "print the completion script of a shell",
		About:   []string{"The first lines of each script say how to load it."},
		Examples: []Example{
			{"for this session of bash", "source <(vaultwicket completion bash)"},
		},
	},
	{
		Name: "man", Usage: "[--list | --write FOLDER | PAGE]", Group: other,
		Summary: "print a manual page, or write all of them",
		About:   []string{"Pages are mdoc source. There is one for the program, one for each command, and \"settings\"."},
		Examples: []Example{
			{"read a page", "vaultwicket man run | man -l -"},
			{"install all pages for this user", "vaultwicket man --write ~/.local/share/man"},
		},
	},
	{
		Name: "version", Usage: "[--json]", Group: other,
		Summary: "print the version and how the program was built",
		About:   []string{"With --json it prints all modules of the program, too."},
		Examples: []Example{
			{"for a bug report", "vaultwicket version"},
		},
	},
	{
		Name: "help", Usage: "[COMMAND]", Group: other,
		Summary: "show this text, or the flags and examples of a command",
		Examples: []Example{
			{"one command", "vaultwicket help run"},
		},
	},
}
