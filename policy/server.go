package policy

import (
	"slices"
	"strings"

	"vaultwicket/allowlist"
)

// ServerPermit is the authority to start this same binary as an MCP server. The
// demo plays the client of such a server. Only [Policy.Server] grants one; the
// zero ServerPermit is worthless.
type ServerPermit struct {
	policy *Policy
	folder string
}

// Server returns the permit to start a server on the vault in folder, with the
// embedded backend and with exactly the rights of p: whoever cannot run a call
// cannot start a server that can. The permit is worthless when a list of p holds
// a name that is no command: in an argument such a name could turn into others,
// or into an empty list that closes nothing.
func (p Policy) Server(folder string) ServerPermit {
	known := allowlist.Names()
	unknown := func(name string) bool { return !slices.Contains(known, name) }
	if slices.ContainsFunc(p.Disable, unknown) || slices.ContainsFunc(p.EnableOnly, unknown) || p.Access.Restrict() {
		return ServerPermit{} // access rules are no flag
	}
	p.Disable, p.EnableOnly = slices.Clone(p.Disable), slices.Clone(p.EnableOnly)
	return ServerPermit{policy: &p, folder: folder}
}

// Valid reports whether s was granted by a policy and names a folder.
func (s ServerPermit) Valid() bool { return s.policy != nil && s.folder != "" }

// Args returns the arguments of the server, "serve" first, nil for the zero
// ServerPermit. No settings file is read, so nothing can be opened behind p.
func (s ServerPermit) Args() []string {
	if !s.Valid() {
		return nil
	}
	p := s.policy
	args := []string{"serve", "--config=none", "--backend=embedded", "--vault=" + s.folder,
		"--tier=" + p.Ceiling.String(), "--confirm=" + p.Confirm.String(), "--min-cli-version=" + p.MinVersion.String(),
		"--allow-mutations=" + word(p.Mutations), "--allow-publish=" + word(p.Publish), "--allow-ui=" + word(p.UI)}
	for _, list := range []struct {
		flag  string
		names []string
	}{{"--disable=", p.Disable}, {"--enable-only=", p.EnableOnly}} {
		if len(list.names) > 0 {
			args = append(args, list.flag+strings.Join(list.names, ","))
		}
	}
	return args
}

func word(on bool) string {
	if on {
		return "true"
	}
	return "false"
}
