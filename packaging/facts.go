package packaging

// The names and texts that the packages, manifests and services repeat, each once. The files
// below packaging/templates are filled in from them; nothing else says what the program is
// called or where it is published.

// What the program is.
const (
	Name    = "vaultwicket"
	Title   = "vaultwicket"
	Licence = "Apache-2.0"

	// Tagline is for lists: at most 80 characters, the limit of Debian, and without a full stop.
	Tagline = "Gateway between AI agents and Obsidian notes that checks every command"

	// Summary is one sentence for a page or a plugin.
	Summary = "Read and, where you allow it, change the notes of your Obsidian vault through a gateway that checks every command."

	// Description is a paragraph for packages.
	Description = "vaultwicket is a policy-enforcing gateway (MCP server) for Obsidian. Every command of an agent is checked against a table of known commands and " +
		"against your policy, and only then run, without a shell. By default an agent can read daily and random notes and change nothing."
)

// Who publishes it. Owner is the account that the repository, the image and the names in
// registries belong to: a fork changes this one line.
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
	Registry   = "io.github." + Owner + "/" + Name // in the MCP registry
	NPMScope   = "@" + Owner

	// Icons is the address of the folder with the icon.
	Icons = "https://raw.githubusercontent.com/" + Owner + "/" + Name + "/main/packaging"
)

// Address is where the services for HTTP listen.
const Address = "127.0.0.1:8765"

// keywords are words for searches.
var keywords = []string{"obsidian", "markdown", "notes", "mcp"}

// Tool is a tool of the server with default settings.
type Tool struct{ Name, Description string }

// Tools are those that a client sees with default settings, in words for people.
func Tools() []Tool {
	return []Tool{
		{"obsidianCli", "Runs one command on the vault, such as daily:read or search, if your policy allows it."},
	}
}

// Platform is a system and processor that there are packages for.
type Platform struct {
	OS, Arch         string // as Go calls them
	NodeOS, NodeArch string // as Node calls them
}

// Program is the name of the file on the platform.
func (p Platform) Program() string {
	if p.OS == "windows" {
		return Name + ".exe"
	}
	return Name
}

// NPM is the name of the npm package with the program for the platform.
func (p Platform) NPM() string { return NPMScope + "/" + p.NodeOS + "-" + p.NodeArch }

// Platforms are all of them.
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
