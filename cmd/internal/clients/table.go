package clients

import "github.com/vaultwicket/vaultwicket/internal/textedit"

const (
	newSession     = "Start a new session of it."
	restart        = "Quit it fully and start it again."
	approvesItself = "By default this client approves tool calls by itself: change that in its settings."

	automatic = "It notices the change by itself and may ask whether the server is trusted."
)

const (
	codeFolder = "{config}/Code/User"
	pasted     = "keeps its servers in settings of its own"
)

var typeStdio = textedit.Object{{Key: "type", Value: "stdio"}}

// plain is the shape of a client without HTTP, or without a reference to an environment variable for the token.
var plain = shape{stdio: commandAndArgs}

var openCode = shape{stdio: oneCommand(textedit.Member{Key: "enabled", Value: true}),
	http: remote("url", textedit.Member{Key: "type", Value: "remote"}), token: "{env:VAR}"}

// table lists the clients. The file of a client with the field unsure is never written, because its place or format is
// not certain.
var table = []Client{
	{
		ID:     "claude-desktop",
		asks:   asksUnseen,
		Name:   "Claude Desktop",
		format: strictJSON,
		place:  []string{"mcpServers"},
		shape:  plain,
		after:  restart,
		user: files{
			darwin: []string{
				"~/Library/Application Support/Claude/claude_desktop_config.json",
			}, linux: []string{"{config}/Claude/claude_desktop_config.json"},
			// If the package of the Microsoft Store is installed, it is the one that runs.
			windows: []string{
				"{local}/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/claude_desktop_config.json",
				"{config}/Claude/claude_desktop_config.json",
			}},
	},
	{ID: "claude-code", Name: "Claude Code", format: strictJSON, place: []string{"mcpServers"}, after: newSession,
		asks: asksAll, answerers: claudeAnswerers, does: claudeBehaviour, reads: claudeReading,
		user: files{
			all: []string{"{CLAUDE_CONFIG_DIR|~}/.claude.json"},
		}, project: files{all: []string{".mcp.json"}}, programs: []string{"claude"},
		signs: []string{"{CLAUDE_CONFIG_DIR|~}/.claude.json"},
		shape: shape{
			// Without alwaysLoad the model only knows the names of the tools until it searches for them.
			stdio: with(typeStdio, textedit.Object{{Key: "alwaysLoad", Value: true}}),
			http:  remote("url", textedit.Member{Key: "type", Value: "http"}),
			token: "${VAR}",
		},
		// A running Claude Code rewrites its file very often, so its own command is safer.
		own: "claude"},
	{
		ID:     "cursor",
		asks:   asksUnseen,
		Name:   "Cursor",
		format: relaxedJSON,
		place:  []string{"mcpServers"},
		after:  "Reload the server in its settings, or restart it.",
		user: files{
			all: []string{"~/.cursor/mcp.json"},
		},
		project:  files{all: []string{".cursor/mcp.json"}},
		programs: []string{"cursor"},
		link:     base64Link("cursor://anysphere.cursor-deeplink/mcp/install"),
		shape:    shape{stdio: commandAndArgs, http: remote("url"), token: "${env:VAR}"},
	},
	{ID: "vscode", Name: "VS Code", format: relaxedJSON, place: []string{"servers"}, after: automatic,
		asks: asksAll,
		user: files{
			all: []string{codeFolder + "/mcp.json"},
		}, project: files{all: []string{".vscode/mcp.json"}}, programs: []string{"code"},
		link: codeLink("vscode"), shape: codeShape},
	{ID: "vscode-insiders", Name: "VS Code Insiders", format: relaxedJSON, place: []string{"servers"}, after: automatic,
		user: files{
			all: []string{"{config}/Code - Insiders/User/mcp.json"},
		}, project: files{all: []string{".vscode/mcp.json"}},
		programs: []string{
			"code-insiders",
		}, link: codeLink("vscode-insiders"), shape: codeShape, unsure: "its file was not seen yet"},
	{ID: "vscodium", Name: "VSCodium", format: relaxedJSON, place: []string{"servers"}, after: automatic,
		user: files{
			all: []string{"{config}/VSCodium/User/mcp.json"},
		}, project: files{all: []string{".vscode/mcp.json"}},
		programs: []string{"codium"}, shape: codeShape, unsure: "its file was not seen yet"},
	{
		ID:      "visual-studio",
		Name:    "Visual Studio",
		format:  strictJSON,
		place:   []string{"servers"},
		after:   restart,
		systems: []string{"windows"},
		user: files{
			windows: []string{"~/.mcp.json"},
		},
		project: files{windows: []string{".mcp.json"}},
		shape:   shape{stdio: with(typeStdio, nil)},
		signs:   []string{"~/.mcp.json", "{local}/Microsoft/VisualStudio"},
	},
	{
		ID:       "windsurf",
		Name:     "Windsurf",
		format:   strictJSON,
		place:    []string{"mcpServers"},
		after:    "Refresh its list of servers, or restart it.",
		user:     files{all: []string{"~/.codeium/windsurf/mcp_config.json"}},
		programs: []string{"windsurf"},
		shape:    shape{stdio: commandAndArgs, http: remote("serverUrl"), token: "${env:VAR}"},
	},
	{ID: "zed", Name: "Zed", format: relaxedJSON, place: []string{"context_servers"}, after: automatic,
		user:    files{all: []string{"{xdg}/zed/settings.json"}, windows: []string{"{config}/Zed/settings.json"}},
		project: files{all: []string{".zed/settings.json"}}, programs: []string{"zed"},
		shape: shape{stdio: with(textedit.Object{{Key: "source", Value: "custom"}}, nil)}},
	{ID: "codex", Name: "Codex", format: tomlFormat, place: []string{"mcp_servers"}, after: newSession,
		asks: asksForms, answerers: codexAnswerers, does: codexBehaviour,
		user: files{
			all: []string{"{CODEX_HOME|~/.codex}/config.toml"},
		}, project: files{all: []string{".codex/config.toml"}},
		programs: []string{"codex"}, shape: shape{stdio: codexEntry, token: "VAR", http: func(s Server, variable string) textedit.Object {
			return textedit.Object{{Key: "url", Value: s.URL}, {Key: "bearer_token_env_var", Value: variable}}
		}}},
	{
		ID:   "gemini",
		asks: asksNothing, does: geminiBehaviour, reads: geminiReading,
		Name:   "Gemini CLI",
		format: commentJSON,
		place:  []string{"mcpServers"},
		after:  "Start a new session of it, in a trusted folder.",
		user: files{
			all: []string{"~/.gemini/settings.json"},
		},
		project:  files{all: []string{".gemini/settings.json"}},
		programs: []string{"gemini"},
		signs:    []string{"~/.gemini/settings.json"},
		shape: shape{
			stdio: commandAndArgs,
			http:  remote("url", textedit.Member{Key: "type", Value: "http"}),
			token: "${VAR}",
		},
	},
	{
		ID:   "qwen",
		asks: asksNothing, answerers: qwenAnswerers, does: qwenBehaviour, reads: qwenReading,
		Name:   "Qwen Code",
		format: commentJSON,
		place:  []string{"mcpServers"},
		after:  "Start a new session of it, in a trusted folder.",
		user: files{
			all: []string{"~/.qwen/settings.json"},
		},
		project:  files{all: []string{".qwen/settings.json"}},
		programs: []string{"qwen"},
		// Without alwaysLoadTools the model only finds the tools by searching for them.
		shape: shape{stdio: with(nil, textedit.Object{{Key: "alwaysLoadTools", Value: true}}), http: remote("httpUrl"), token: "$VAR"},
	},
	{ID: "antigravity", Name: "Antigravity", format: strictJSON, place: []string{"mcpServers"}, after: restart,
		user: files{
			all: []string{"~/.gemini/config/mcp_config.json", "~/.gemini/antigravity/mcp_config.json"},
		}, shape: plain},
	{ID: "opencode", Name: "opencode 1", format: relaxedJSON, place: []string{"mcp"}, after: newSession,
		asks: asksNothing, does: openCodeBehaviour,
		user: files{all: []string{"{xdg}/opencode/opencode.jsonc", "{xdg}/opencode/opencode.json"}},
		project: files{
			all: []string{"opencode.jsonc", "opencode.json"},
		}, programs: []string{"opencode"}, shape: openCode},
	{ID: "opencode2", Name: "opencode 2", format: relaxedJSON, place: []string{"mcp", "servers"}, after: newSession,
		user: files{all: []string{"{xdg}/opencode/opencode.jsonc", "{xdg}/opencode/opencode.json"}},
		project: files{
			all: []string{"opencode.jsonc", "opencode.json"},
		}, shape: shape{stdio: oneCommand()}, byName: true},
	{ID: "cline", Name: "Cline (VS Code)", format: strictJSON, place: []string{"mcpServers"}, after: automatic,
		user: files{
			all: []string{codeFolder + "/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"},
		}, shape: plain},
	{
		ID:   "cline-cli",
		asks: asksNothing, does: clineBehaviour,
		Name:    "Cline CLI",
		format:  strictJSON,
		place:   []string{"mcpServers"},
		after:   newSession,
		warning: approvesItself,
		user: files{
			all: []string{"{CLINE_DIR|~/.cline}/data/settings/cline_mcp_settings.json"},
		},
		programs: []string{"cline"},
		shape: shape{stdio: func(s Server) textedit.Object {
			return textedit.Object{{Key: "transport", Value: with(typeStdio, nil)(s)}}
		}},
	},
	{ID: "roo", Name: "Roo Code", format: strictJSON, place: []string{"mcpServers"}, after: automatic,
		unsure: "the place of its file is not known for sure",
		user: files{
			all: []string{codeFolder + "/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"},
		},
		project: files{all: []string{".roo/mcp.json"}}, shape: plain},
	{ID: "kilo", Name: "Kilo Code", format: relaxedJSON, place: []string{"mcp"}, after: newSession,
		asks: asksNothing, does: openCodeBehaviour,
		user: files{
			all: []string{"~/.config/kilo/kilo.jsonc", "~/.config/kilo/kilo.json"},
		}, project: files{all: []string{"kilo.jsonc", "kilo.json"}},
		programs: []string{"kilo"}, shape: openCode},
	{ID: "continue", Name: "Continue", format: yamlFormat, place: []string{"mcpServers"}, list: true, after: automatic,
		asks: asksNothing, does: continueBehaviour,
		user: files{all: []string{"~/.continue/config.yaml"}},
		shape: shape{stdio: func(s Server) textedit.Object {
			return append(textedit.Object{{Key: "name", Value: s.Name}}, with(typeStdio, nil)(s)...)
		}}},
	{
		ID:      "goose",
		Name:    "Goose",
		format:  yamlFormat,
		place:   []string{"extensions"},
		after:   newSession,
		warning: approvesItself,
		user: files{
			all:     []string{"~/.config/goose/config.yaml"},
			windows: []string{"{config}/Block/goose/config/config.yaml"},
		},
		programs: []string{"goose"},
		link: func(s Server, _ textedit.Object) string {
			link := "goose://extension?cmd=" + escaped(s.Command)
			for _, word := range s.Args {
				link += "&arg=" + escaped(word)
			}
			return link + "&id=" + escaped(s.Name) + "&name=" + escaped(s.Name)
		},
		shape: shape{stdio: func(s Server) textedit.Object {
			return textedit.Object{
				{
					Key:   "type",
					Value: "stdio",
				}, {Key: "name", Value: s.Name}, {Key: "cmd", Value: s.Command}, {Key: "args", Value: s.Args},
				{
					Key:   "envs",
					Value: textedit.Object{},
				}, {Key: "env_keys", Value: []string{}}, {Key: "enabled", Value: true}, {Key: "timeout", Value: 300},
			}
		}},
	},
	{ID: "hermes", Name: "Hermes", format: yamlFormat, place: []string{"mcp_servers"}, after: newSession,
		user: files{all: []string{"~/.hermes/config.yaml"}}, programs: []string{"hermes"},
		shape: shape{stdio: commandAndArgs, http: remote("url"), token: "${VAR}"}},
	{ID: "lm-studio", Name: "LM Studio", format: strictJSON, place: []string{"mcpServers"}, after: automatic,
		link: base64Link("lmstudio://add_mcp"), shape: plain,
		user: files{
			all:    []string{"~/.lmstudio/mcp.json"},
			darwin: []string{"~/.lmstudio/mcp.json", "~/.cache/lm-studio/mcp.json"},
		}},
	{ID: "kiro", Name: "Kiro", format: strictJSON, place: []string{"mcpServers"}, after: automatic,
		link: jsonLink("https://kiro.dev/launch/mcp/add"), user: files{all: []string{"~/.kiro/settings/mcp.json"}},
		project: files{all: []string{".kiro/settings/mcp.json"}}, programs: []string{"kiro"},
		shape: shape{stdio: commandAndArgs, http: remote("url"), token: "${VAR}"}},
	{ID: "amp", Name: "Amp", format: relaxedJSON, place: []string{"amp.mcpServers"}, after: newSession,
		user: files{
			all: []string{"~/.config/amp/settings.json"},
		}, project: files{all: []string{".amp/settings.json"}}, programs: []string{"amp"},
		shape: plain},
	{ID: "copilot", Name: "Copilot CLI", format: relaxedJSON, place: []string{"mcpServers"}, after: newSession,
		asks: asksAll, does: copilotBehaviour,
		user: files{
			all: []string{"{COPILOT_HOME|~/.copilot}/mcp-config.json"},
		}, project: files{all: []string{".github/mcp.json"}},
		programs: []string{"copilot"},
		shape: shape{
			stdio: with(
				textedit.Object{{Key: "type", Value: "local"}},
				textedit.Object{{Key: "tools", Value: []string{"*"}}},
			),
		}},
	{ID: "junie", Name: "Junie", format: strictJSON, place: []string{"mcpServers"}, after: restart,
		unsure: "the place of its file is not known for sure", user: files{all: []string{"~/.junie/mcp/mcp.json"}},
		project: files{all: []string{".junie/mcp/mcp.json"}}, shape: plain},
	{
		ID:            "factory",
		Name:          "Factory",
		format:        strictJSON,
		place:         []string{"mcpServers"},
		after:         newSession,
		programs:      []string{"droid"},
		shape:         plain,
		user:          files{all: []string{"~/.factory/mcp.json"}},
		unsure:        "its file is known from other programs only",
		unsureProject: "its file is known from other programs only",
	},
	{ID: "warp", Name: "Warp", format: strictJSON, place: []string{"mcpServers"}, after: restart, shape: plain,
		user: files{all: []string{"~/.warp/.mcp.json"}}, unsure: "the form of its file is not known for sure",
		unsureProject: "the form of its file is not known for sure"},
	{
		ID:     "jan",
		Name:   "Jan",
		format: strictJSON,
		place:  []string{"mcpServers"},
		after:  restart,
		unsure: "the place of its file is not known for sure",
		shape:  shape{stdio: with(nil, textedit.Object{{Key: "active", Value: true}})},
		signs:  []string{"{config}/Jan"},
	},
	{
		ID:       "crush",
		Name:     "Crush",
		format:   strictJSON,
		place:    []string{"mcp"},
		after:    newSession,
		programs: []string{"crush"},
		shape: shape{
			stdio: with(typeStdio, nil),
		},
		unsure:        "its settings are a shell script",
		unsureProject: "its settings are a shell script",
	},
	{
		ID:       "openclaw",
		Name:     "OpenClaw",
		format:   relaxedJSON,
		place:    []string{"mcp", "servers"},
		after:    newSession,
		programs: []string{"openclaw"},
		user: files{
			all: []string{"~/.openclaw/openclaw.json"},
		},
		shape:  shape{stdio: with(nil, textedit.Object{{Key: "transport", Value: "stdio"}})},
		unsure: "its file is JSON5, which is not edited",
	},
	{
		ID:     "jetbrains-ai",
		Name:   "JetBrains AI Assistant",
		format: strictJSON,
		place:  []string{"mcpServers"},
		after:  "Paste the entry into its settings.",
		shape:  plain,
		unsure: pasted,
	},
	{
		ID:      "raycast",
		Name:    "Raycast",
		format:  strictJSON,
		place:   []string{"mcpServers"},
		after:   "Paste the entry into its settings.",
		systems: []string{"darwin", "windows"},
		shape:   plain,
		unsure:  pasted,
	},
	{
		ID:      "boltai",
		Name:    "BoltAI",
		format:  strictJSON,
		place:   []string{"mcpServers"},
		after:   "Paste the entry into its settings.",
		systems: []string{"darwin"},
		shape:   plain,
		unsure:  pasted,
	},
	{
		ID:     "cherry-studio",
		Name:   "Cherry Studio",
		format: strictJSON,
		place:  []string{"mcpServers"},
		after:  "Paste the entry into its settings.",
		shape:  plain,
		unsure: pasted,
	},
}

// codeShape makes VS Code prompt for the token when the server starts. That needs a second entry in the file,
// which is only printed, never written.
var codeShape = shape{
	stdio:  with(typeStdio, nil),
	http:   remote("url", textedit.Member{Key: "type", Value: "http"}),
	token:  "${input:vaultwicket-token}",
	inputs: true,
}
