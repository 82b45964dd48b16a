package textedit_test

// Texts as people and programs write them.

var jsonTexts = []string{
	"",
	"\n",
	"  \n",
	"{}\n",
	"{\n}\n",
	"{ }",
	"{\"mcpServers\": {}}\n",
	"{\"mcpServers\":{}}",
	"{\"a\":1}",
	"{\"a\": 1, \"b\": 2}\n",
	"{\"mcpServers\":{\"a\":{\"command\":\"x\"}}}",
	"{\"mcpServers\": {\"a\": {\"command\": \"x\"}, \"b\": {\"command\": \"y\"}}, \"theme\": \"dark\"}\n",
	`{
  "mcpServers": {}
}
`,
	`{
  "mcpServers": {
  }
}
`,
	`{
  "mcpServers": {

  },
  "mcp": {
    "servers": {}
  }
}
`,
	`{
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/Users/me/Desktop"]
    }
  }
}
`,
	`{
  "globalShortcut": "",
  "mcpServers": {
    "memory": { "command": "npx", "args": [ "-y", "server-memory" ] },
    "github": {
      "command": "docker",
      "args": [
        "run", "-i", "--rm"
      ],
      "env": {
        "GITHUB_TOKEN": "ghp_\u0041\/x"
      }
    }
  },
  "preferences": { "sidebar": null, "zoom": 1.10e+2, "big": 12345678901234567890 }
}
`,
	`// Settings of Zed. Press cmd-, to open them.
{
  "theme": "One Dark", // the default
  "vim_mode": true,
  /* servers
     for the assistant */
  "context_servers": {
    // not used: "old": {"command": "x"},
    "fetch": { "source": "custom", "command": "uvx", "args": ["mcp-server-fetch"], }, // keep
  },
  "mcp": {
    "servers": {
      "fetch": { "command": "uvx" } // last
      // , "other": {}
    },
  },
}
`,
	`{
  "mcpServers": {
    // nothing here yet
  }
}
`,
	`{
  "mcpServers": { // nothing here yet
  }
}
`,
	`{
  "mcpServers": { /* none */ },
  "mcp": { "servers": { /* none */ }, "x": [1, 2, [ ], { }] }
}
`,
	`{
  "mcpServers": {
    "a": {} /* one */, /* two */ // three
    // four
  } // five
} // six
// seven
`,
	`{
    "mcpServers": {
        "four": {
            "command": "spaces"
        }
    }
}
`,
	`{
"mcpServers": {
"flat": {
"command": "no indentation"
}
}
}
`,
	`{ "mcpServers":
  { "odd":
    { "command": "x" }
  , "leading": { "comma": true }
  }
}
`,
	`{
  "mcpServers": {"one": {"command": "line"}},
  "mcp": {"servers": {"one": {"command": "line"}, }}
}
`,
	`{"mcpServers": {
  "a": {"command": "x"}}}
`,
	`{
  "a": "braces } in { strings \" // and /* comments */",
  "mcpServers": {"b": {"command": "\\"}}
}
`,
	"// only a comment\n",
	"/* only a comment */",
	"{\n  // only a comment\n}\n",
	"{\n  \"emoji\": \"\U0001f600\", \"mcpServers\": {\"\u00fc\": {}}\n}\n",
}

var tomlTexts = []string{
	"",
	"\n",
	"\n\n",
	"# only a comment\n",
	"model = \"o3\"\n",
	"model = \"o3\" # the best\n\n",
	`# Codex
model = "gpt-5"
approval_policy = "on-request" # ask
notify = [
  "python3", # a script
  "/home/me/notify.py",
]

[mcp_servers.context7]
command = "npx"
args = ["-y", "@upstash/context7-mcp"] # keep this comment
# env = { A = "b" }

[mcp_servers.context7.env]
API_KEY = 'literal \ string'

# about the profile
[profiles.fast]
model = "o4-mini"
since = 2026-01-02T03:04:05Z
day = 2026-01-02
ratio = 1.5e3
`,
	`text = """
[mcp_servers.vaultwicket]
command = "in a string"
"""
other = '''
# [mcp_servers.vaultwicket]
'''
`,
	`[mcp_servers]
[mcp_servers.a]
command = "x"
`,
	`mcp_servers.a.command = "x"
mcp_servers.a.args = []
`,
	`  [ mcp_servers . "a b" ]
  command = "x"
	[[list]]
	a = 1
	[[list]]
	a = 2
`,
	"[mcp_servers.a]\ncommand = \"x\"\n\n\n# the end\n",
	"[mcp_servers.vaultwicket-work]\ncommand = \"/usr/bin/vaultwicket\"\n[mcp_servers.vaultwicket-work.tools.x]\napproval_mode = \"prompt\"\n",
}

var yamlTexts = []string{
	"",
	"\n",
	"# only a comment\n",
	"---\n",
	"GOOSE_PROVIDER: openai\n",
	"GOOSE_PROVIDER: openai\nextensions: {}\n",
	"extensions:\nGOOSE_MODEL: gpt-5\n",
	"extensions: # none yet\nmcpServers: # none yet\n",
	"extensions: {}   # none yet\nmcpServers: []   # none yet\n",
	"mcpServers: []\nextensions: null\n",
	`GOOSE_PROVIDER: openai   # the provider
extensions:
  # comes with Goose
  developer:
    bundled: true
    enabled: true
    name: developer
    timeout: 300
    type: builtin

  fetch:
    cmd: uvx
    args:
    - mcp-server-fetch
    envs: {}
    description: |
      several lines
      # which is no comment
    type: stdio
  # the end of the extensions
GOOSE_MODE: smart_approve
`,
	`---
name: Local Assistant
version: 1.0.0
schema: v1
models:
  - name: Claude
    provider: anthropic
    roles: [chat, edit]
    apiKey: ${{ secrets.KEY }}
mcpServers:
  - name: SQLite
    command: npx
    args:
      - -y
      - mcp-sqlite
      - "/path/to: your/db"
    env: {A: "b"}
  # second
  -   name: 'other'
      type: stdio
      command: x
context:
  - provider: code
`,
	`mcpServers:
- name: at the margin
  command: x
extensions:
    four:
        type: stdio
`,
	`a: &anchor
  x: 1
b: *anchor
merged:
  <<: *anchor
  y: 2
"extensions":
  'quoted key': {type: stdio, cmd: x}
when: 2026-01-02
number: 0x1F
text: >-
  folded
  text
`,
	"extensions:\n\n\n  a:\n    type: builtin\n\n\n\nmcpServers:\n\n  -\n    name: dash alone\n",
}

var malformedJSON = []struct {
	name, text   string
	line, column int
}{
	{"a missing comma", "{\n  \"a\": 1\n  \"b\": 2\n}", 3, 3},
	{"a missing colon", "{\"a\" 1}", 1, 6},
	{"a missing bracket", "{\n  \"a\": {\n}\n", 4, 1},
	{"text behind the end", "{}\n{}\n", 2, 1},
	{"a name without quotes", "{\n\ta: 1}", 2, 2},
	{"single quotes", "{'a': 1}", 1, 2},
	{"a string without an end", "{\"a\": \"x}\n", 1, 10},
	{"a bad escape", `{"a": "\x"}`, 1, 7},
	{"a comment without an end", "{} /* x", 1, 4},
	{"a bad number", `{"a": 01}`, 1, 7},
	{"a bad word", `{"a": nul}`, 1, 7},
	{"the same name twice", "{\"a\": 1,\n \"a\": 2}", 2, 2},
	{"a list", "[]", 1, 1},
	{"a list of servers", "{\"ä\": 1, \"mcpServers\": []}", 1, 24},
	{"a null of servers", "{\"mcpServers\": null}", 1, 16},
	{"not UTF-8", "{\"a\": \"\xff\"}", 1, 8},
	{"UTF-16", "\xff\xfe{\x00}\x00", 1, 1},
	{"a byte order mark and no value", "\ufeff{\"a\": }", 1, 7},
	{"two commas", "{\"a\": 1,, }", 1, 9},
	{"a line end in a string", "{\"a\": \"x\ny\"}", 1, 9},
}
