package packaging

// This file has the names and texts that packages, manifests and services share. The templates in
// packaging/templates are filled in from them; the name of the program and where it is published are
// not defined anywhere else.

// The program.
const (
	Name    = "vaultwicket"
	Title   = "vaultwicket"
	Licence = "Apache-2.0"

	// Tagline is for lists. It has up to 80 characters, the limit of Debian, and no full stop.
	Tagline = "Gateway between AI agents and Obsidian notes that checks every command"

	// Summary is one sentence for a page or a plugin.
	Summary = "Read and, where you allow it, change the notes of your Obsidian vault through a gateway that checks every command."

	// Description is a paragraph for package descriptions.
	Description = "vaultwicket is a policy-enforcing gateway (MCP server) for Obsidian. Every command of an agent is checked against a table of known commands and " +
		"against your policy, and only then run, without a shell. By default an agent can read daily and random notes and change nothing."
)

// The publisher. Owner is the account to which the repository, the image and the names in
// registries belong; a fork only changes this line.
const (
	Owner      = "vaultwicket"
	Authors    = "vaultwicket authors"
	Email      = Owner + "@users.noreply.github.com"
	ModulePath = "github.com/" + Owner + "/" + Name // the path in go.mod
	Repository = "https://github.com/" + Owner + "/" + Name
	Homepage   = Repository
	Issues     = Repository + "/issues"
	Docs       = Repository + "/blob/main/docs"
	Image      = "ghcr.io/" + Owner + "/" + Name
	Registry   = "io.github." + Owner + "/" + Name // the name in the MCP registry
	NPMScope   = "@" + Owner

	// Icons is the URL of the folder with the icon.
	Icons = "https://raw.githubusercontent.com/" + Owner + "/" + Name + "/main/packaging"
)

// Address is the address on which the HTTP services listen.
const Address = "127.0.0.1:8765"

// keywords are search terms for registries.
var keywords = []string{"obsidian", "markdown", "notes", "mcp"}

// Tool is a tool of the server with default settings.
type Tool struct{ Name, Description string }

// Tools returns the tools that a client sees with default settings, with descriptions for people.
func Tools() []Tool {
	return []Tool{
		{"obsidianCli", "Runs one command on the vault, such as daily:read or search, if your policy allows it."},
	}
}

// Platform is a system and processor for which there are packages.
type Platform struct {
	OS, Arch         string // the names in Go
	NodeOS, NodeArch string // the names in Node
}

// Program returns the file name of the program on the platform.
func (p Platform) Program() string {
	if p.OS == "windows" {
		return Name + ".exe"
	}
	return Name
}

// NPM returns the name of the npm package with the program for the platform.
func (p Platform) NPM() string { return NPMScope + "/" + p.NodeOS + "-" + p.NodeArch }

// Platforms returns all platforms.
func Platforms() []Platform {
	return []Platform{
		{"linux", "amd64", "linux", "x64"},
		{"linux", "arm64", "linux", "arm64"},
		{"darwin", "amd64", "darwin", "x64"},
		{"darwin", "arm64", "darwin", "arm64"},
		{"windows", "amd64", "win32", "x64"},
		{"windows", "arm64", "win32", "arm64"},
	}
}
