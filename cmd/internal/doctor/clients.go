package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/clients"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/appvaults"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// clients checks the MCP clients and their entries for vaultwicket.
func (m Machine) clients(ctx context.Context, r *Report) {
	foundCount := 0
	entryCount := 0
	for _, c := range clients.All() {
		s := m.Clients.State(c)
		if s.Problem != "" {
			r.warn(
				"client-file",
				s.Problem,
				fmt.Sprintf("%s may start no MCP server at all", c.Name),
				fmt.Sprintf("correct %q", s.File),
			)
		}
		if s.Found != "" {
			foundCount++
		}
		for _, entry := range s.Servers {
			entryCount++
			m.entry(ctx, s, entry, r)
		}
		if len(s.Servers) > 0 {
			m.questions(c, s, r)
		}
	}
	switch {
	case entryCount > 0:
	case foundCount == 0:
		r.warn(
			"clients-none",
			"no MCP client was found",
			"an agent needs one to use vaultwicket",
			"install a client, or add the entry that \"vaultwicket install --print CLIENT\" prints",
		)
	default:
		r.warn(
			"clients-without-entry",
			sanitize.Counted(foundCount, "MCP client")+" found; vaultwicket is not installed there",
			"no agent can use it yet",
			"vaultwicket install --list, then vaultwicket install CLIENT",
		)
	}
}

// questions reports how questions reach the user through a client, and which of its settings answer instead of the
// user.
func (m Machine) questions(c clients.Client, s clients.State, r *Report) {
	for _, setting := range m.Clients.Answerers(c) {
		if setting.Hook {
			r.warn(
				"answers-hook",
				fmt.Sprintf("%s in %q answers questions of servers in your place", setting.Key, setting.File),
				"a program decides about forms as if it were you; what deletes or overwrites is not decided in a form unless ask is client",
				"remove the hook, or set ask to page",
			)
			continue
		}
		r.warn(
			"answers-full-access",
			fmt.Sprintf("%s in %q lets the agent of %s run programs without asking you", setting.Key, setting.File, s.Name),
			"an agent with a shell can reach your notes, and the terminal, without vaultwicket",
			"remove the setting where an agent works on notes that need your approval",
		)
	}
	isEditing := slices.ContainsFunc(s.Servers, func(entry clients.Entry) bool { return entry.Edit })
	route := c.Asks()
	if !isEditing || route == "" || m.Invalid != nil {
		return
	}
	switch m.Settings.Policy.Asking {
	case policy.AskTerminal:
		route = "in a terminal alone (ask is terminal)"
	case policy.AskClient:
		route = "forms decide about everything that they show whole (ask is client); otherwise " + route
	}
	browsers := consent.Browsers{State: m.State, Now: m.Now}
	if m.Settings.Policy.Asking != policy.AskTerminal && m.State != "" && browsers.Count() == 0 {
		route += `; no browser is paired yet, so links decide nothing: run "vaultwicket ui" once`
	}
	r.ok("questions", fmt.Sprintf("questions of %s: %s", s.Name, route))
}

// entry checks one entry: its program, its vault, and that it starts.
func (m Machine) entry(ctx context.Context, s clients.State, entry clients.Entry, r *Report) {
	subject := fmt.Sprintf("entry %q of %s", entry.Name, s.Name)
	reinstall := fmt.Sprintf("vaultwicket install %s --name %s", s.Client, entry.Name)
	if entry.Approves != "" {
		r.warn(
			"entry-approves",
			fmt.Sprintf("%s has %s: the client runs calls without asking you", subject, entry.Approves),
			"an agent does everything that the policy allows without asking you",
			fmt.Sprintf("remove %s from the entry, or set confirm in the settings of vaultwicket", entry.Approves),
		)
	}
	if entry.URL != "" || len(entry.Command) == 0 {
		r.ok("client", subject+": "+entry.URL)
		return
	}
	program := entry.Command[0]
	if clients.Temporary(program) {
		r.problem(
			"entry-temporary",
			fmt.Sprintf("%s starts %q", subject, program),
			"\"go run\" deletes that program",
			"install vaultwicket, then "+reinstall,
		)
		return
	}
	if !m.entryProgram(subject, program, reinstall, r) {
		return
	}
	vaults := clients.ValuesOf("--vault", entry.Command)
	for _, vault := range vaults {
		if !m.entryVault(subject, vault, reinstall, r) {
			return
		}
	}
	hasVault := len(vaults) > 0 || m.hasVault()
	name, version, err := m.Start(ctx, entry.Command)
	switch {
	case err != nil:
		r.problem(
			"entry-fails",
			fmt.Sprintf("%s does not start: %v", subject, err),
			"the client shows no tools of vaultwicket",
			"run the command in a terminal to see what it says: "+strings.Join(entry.Command, " "),
		)
	case name != "vaultwicket":
		r.problem(
			"entry-other-program",
			fmt.Sprintf("%s starts another program, %q", subject, name),
			"its calls bypass the permissions of vaultwicket",
			reinstall+" --replace",
		)
	case version != m.Version:
		r.warn(
			"entry-version",
			fmt.Sprintf("%s starts version %s; this is %s", subject, version, m.Version),
			"it may know other commands and settings",
			reinstall,
		)
	case !hasVault && m.Settings.Backend != settings.App:
		r.warn(
			"entry-no-vault",
			subject+" starts, and names no vault",
			"the agent can use notes only while the Obsidian app runs, and those of the vault that is open there",
			reinstall+" --vault FOLDER",
		)
	default:
		r.ok("client", subject+" starts")
	}
}

// entryProgram checks the program of an entry. It returns false if the program cannot be started.
func (m Machine) entryProgram(subject, program, reinstall string, r *Report) bool {
	if !filepath.IsAbs(program) {
		r.warn(
			"entry-relative",
			fmt.Sprintf("%s starts %q without a path", subject, program),
			"clients of the desktop often have another PATH than a terminal, and do not find it",
			reinstall,
		)
		return true
	}
	info, err := os.Stat(program)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.problem(
			"entry-program-missing",
			fmt.Sprintf("%s starts %q, which does not exist", subject, program),
			"the client cannot start vaultwicket",
			reinstall,
		)
		return false
	case err == nil && !m.isProgram(info):
		r.problem(
			"entry-not-executable",
			fmt.Sprintf("%s starts %q, which is not a program", subject, program),
			"the client cannot start vaultwicket",
			reinstall,
		)
		return false
	}
	return true
}

// entryVault checks the vault of an entry. It returns false if vaultwicket cannot start with it.
func (m Machine) entryVault(subject, vault, reinstall string, r *Report) bool {
	isFolder := filepath.IsAbs(vault)
	fix := reinstall + " --vault FOLDER"
	switch {
	case isFolder && !exists(vault):
		r.problem(
			"entry-vault-missing",
			fmt.Sprintf("%s is for the vault %q, which does not exist", subject, vault),
			"vaultwicket does not start",
			fix,
		)
		return false
	case isFolder:
		return true
	case strings.ContainsAny(vault, `/\`):
		r.problem(
			"entry-vault-relative",
			fmt.Sprintf("%s is for the vault %q, which is a relative path", subject, vault),
			"the client starts vaultwicket in a folder of its own choice, where there is no such vault",
			fix,
		)
		return false
	case !appvaults.IsID(vault) && !m.appLists(vault):
		r.warn(
			"entry-vault-unknown",
			fmt.Sprintf("%s is for a vault with the name %q, which the app does not list", subject, vault),
			"without such a vault in the app no note can be read; a folder is given by its whole path",
			fix,
		)
	}
	return true
}

// hasVault reports whether the settings name a vault.
func (m Machine) hasVault() bool {
	return slices.ContainsFunc(m.Settings.Served, func(served settings.Served) bool {
		v := served.Vault
		return v.Folder != "" || v.Name != "" || v.ID != ""
	})
}

// isProgram reports whether the mode of a file allows starting it.
func (m Machine) isProgram(file fs.FileInfo) bool {
	if file.IsDir() {
		return false
	}
	return m.OS == "windows" || file.Mode()&0o111 != 0
}

// appLists reports whether the app lists a vault of this name.
func (m Machine) appLists(name string) bool {
	return slices.ContainsFunc(m.Known, func(folder string) bool { return filepath.Base(folder) == name })
}

// The limits for the length of a token in its file. A shorter one could be guessed.
const (
	leastToken = 32
	mostToken  = 4 << 10
)

// http checks the settings of MCP over HTTP: token, certificate, address and proxies.
func (m Machine) http(ctx context.Context, r *Report) {
	if m.Invalid != nil || m.Settings.HTTP.Addr == "" {
		return
	}
	h := m.Settings.HTTP
	if h.TokenFile != "" {
		reportToken(r, h.TokenFile)
	}
	if h.Cert != "" {
		m.certificate(r, h)
	}
	// While a server of vaultwicket runs over HTTP, it may be the one that uses the address.
	servers, _ := ownerfiles.Servers(ownerfiles.ServersFolder(m.State))
	isServing := slices.ContainsFunc(servers, func(s ownerfiles.Server) bool { return s.Transport == "http" })
	onSocket := strings.HasPrefix(h.Addr, "unix:")
	if !onSocket && !isServing {
		if err := m.Listen(ctx, h.Addr); err != nil {
			r.problem(
				"http-address",
				fmt.Sprintf("MCP cannot be served at %s: %v", h.Addr, err),
				"the server does not start",
				"end the program that listens there, or set another address",
			)
		}
	}
	host, _, err := net.SplitHostPort(h.Addr)
	if err != nil {
		host = h.Addr
	}
	isLocal := onSocket || host == "localhost" || net.ParseIP(host).IsLoopback()
	if h.Cert == "" && !isLocal {
		r.warn(
			"http-open",
			fmt.Sprintf("MCP is served at %s without TLS", h.Addr),
			"the token and the notes can be read by others in the network",
			"listen on 127.0.0.1, or set tls-cert and tls-key",
		)
	}
	here := host
	if onSocket {
		here = "unix"
	}
	if host == "localhost" {
		here = "127.0.0.1"
	}
	reportProxies(r, h, here)
}

// reportToken checks the file with the token of the server.
func reportToken(r *Report, file string) {
	const why = "the server does not start"
	text, err := ownerfiles.Read(file, mostToken)
	var unsafeErr *ownerfiles.Unsafe
	switch {
	case errors.As(err, &unsafeErr):
		r.problem(
			"token-unsafe",
			unsafeErr.Error(),
			"others could use the server; "+why,
			strings.TrimPrefix(unsafeErr.Remedy()+"; if others could read it, make another token", "; "),
		)
	case err != nil:
		r.problem(
			"token-missing",
			fmt.Sprintf("the token file %q cannot be read: %v", file, reason(err)),
			why,
			"let \"vaultwicket serve --http\" make one, or correct token-file",
		)
	case len(strings.TrimSpace(string(text))) < leastToken:
		r.problem(
			"token-short",
			fmt.Sprintf("the token in %q has fewer than %d characters", file, leastToken),
			"it could be guessed; "+why,
			"remove the file: a new token is made at the next start",
		)
	default:
		r.ok("token", fmt.Sprintf("token file %q", file))
	}
}

// certificate checks the certificate of the server and its expiry.
func (m Machine) certificate(r *Report, h settings.HTTP) {
	pair, err := tls.LoadX509KeyPair(h.Cert, h.Key)
	if err != nil {
		r.problem(
			"certificate-unusable",
			fmt.Sprintf("the certificate %q cannot be used: %v", h.Cert, err),
			"the server does not start",
			"correct tls-cert and tls-key: both are PEM files that belong together",
		)
		return
	}
	expiry := pair.Leaf.NotAfter
	left := expiry.Sub(m.Now())
	switch {
	case left <= 0:
		r.problem(
			"certificate-expired",
			fmt.Sprintf("the certificate %q ended on %s", h.Cert, expiry.Format(time.DateOnly)),
			"clients refuse to connect",
			"renew it",
		)
	case left < certificateLeft:
		r.warn(
			"certificate-ends",
			fmt.Sprintf("the certificate %q ends on %s", h.Cert, expiry.Format(time.DateOnly)),
			"clients refuse to connect from then on",
			"renew it",
		)
	}
}

// The minimum prefix lengths of networks in trusted-proxies. A wider network contains more than proxies.
const (
	leastBits  = 8  // IPv4
	leastBits6 = 32 // IPv6
)

// reportProxies checks the setting trusted-proxies. It matters because unauthenticated clients share a rate limit per
// address. here is the address that a proxy on this machine connects from, "unix" for a socket.
func reportProxies(r *Report, h settings.HTTP, here string) {
	isBehindProxy := h.PublicURL != "" && h.Cert == ""
	if isBehindProxy && len(h.Proxies) == 0 {
		r.warn(
			"proxies-unnamed",
			fmt.Sprintf("%s is served by a proxy, and trusted-proxies names none", h.PublicURL),
			"all strangers have the address of the proxy: one of them can keep you from signing in",
			fmt.Sprintf("set trusted-proxies to where the proxy connects from, such as [%q]", here),
		)
		return
	}
	onSocket := here == "unix"
	canConnect := false
	address, _ := netip.ParseAddr(here)
	for _, entry := range h.Proxies {
		network, err := netip.ParsePrefix(entry)
		if err != nil {
			proxy, _ := netip.ParseAddr(entry)
			network = netip.PrefixFrom(proxy, proxy.BitLen())
		}
		isUnix := entry == "unix"
		// If the server does not listen on a loopback address, it is not known which addresses reach it.
		isUnknown := !address.IsLoopback()
		isHere := network.Addr().IsLoopback() || network.Contains(address)
		reaches := isUnix || isUnknown || isHere
		if reaches && onSocket == isUnix {
			canConnect = true
		}
		least := leastBits
		if network.Addr().Is6() {
			least = leastBits6
		}
		if !isUnix && network.Bits() < least {
			r.warn(
				"proxies-wide",
				fmt.Sprintf("trusted-proxies has the network %s", entry),
				"whoever connects from there can claim any address",
				"name the addresses of the proxies alone",
			)
		}
	}
	switch {
	case len(h.Proxies) == 0:
	case !canConnect:
		r.warn(
			"proxies-elsewhere",
			fmt.Sprintf("none of trusted-proxies can connect to %s", h.Addr),
			"their header is never believed, and all strangers have one address",
			fmt.Sprintf("add where the proxy connects from, such as %q", here),
		)
	default:
		r.ok("proxies", "trusted-proxies: "+strings.Join(h.Proxies, ", "))
	}
}

// backends checks the Obsidian CLI and the embedded CLI, as far as the settings use them.
func (m Machine) backends(ctx context.Context, r *Report) {
	if m.Invalid != nil {
		return
	}
	if m.Settings.Backend != settings.Embedded {
		m.app(ctx, r)
	}
	if m.Settings.Backend == settings.App {
		return
	}
	for _, v := range m.Settings.Served {
		if v.Folder == "" || !exists(v.Folder) {
			continue
		}
		sandbox, err := m.Embedded(ctx, v.Folder)
		switch {
		case err != nil:
			r.problem(
				"embedded-fails",
				fmt.Sprintf("the embedded CLI does not answer for %q: %v", v.Folder, err),
				"without the app no note can be read",
				"run \"vaultwicket vault "+v.Folder+" files total\" to see what it says",
			)
		case strings.HasPrefix(sandbox, "none") && m.OS == "linux":
			r.warn(
				"no-sandbox",
				"the embedded CLI is not confined: "+sandbox,
				"a fault in it could reach files outside the vault; its own checks still hold",
				"use a kernel with Landlock (5.13 or later, listed in /sys/kernel/security/lsm)",
			)
		default:
			r.ok("embedded", "the embedded CLI answers; confined: "+sandbox)
		}
	}
}

// app checks the Obsidian CLI. With the backend auto, a missing app is only a warning or no problem at all.
func (m Machine) app(ctx context.Context, r *Report) {
	report := r.warn
	consequence := "commands that need the app fail; everything else is answered by the embedded CLI"
	if m.Settings.Backend == settings.App {
		report = r.problem
		consequence = "the setting backend is obsidian: every call fails"
	}
	version, failed := m.App(ctx)
	if failed == nil {
		number, _, _ := strings.Cut(version, " ")
		minimum := m.Settings.Policy.MinVersion
		if v, err := tiers.ParseVersion(number); err == nil && v.Before(minimum) {
			report(
				"app-outdated",
				fmt.Sprintf("Obsidian %s is older than %s", number, minimum),
				consequence,
				"update Obsidian to "+minimum.String()+" or newer",
			)
			return
		}
		r.ok("app", "Obsidian "+version+" answers")
		m.elsewhere(ctx, r)
		return
	}
	isOptional := m.Settings.Backend != settings.App && !filepath.IsAbs(m.Settings.CLI)
	if failed.Code == exec.CodeNotFound && isOptional {
		r.ok("app", "no Obsidian CLI was found: the embedded CLI answers")
		return
	}
	if failed.Code == exec.CodeUnsuitable {
		consequence = "a program that others could replace is not started; " + consequence
	}
	check, known := appChecks[failed.Code]
	if !known {
		check = "app-fails"
	}
	report(
		check,
		failed.Message,
		consequence,
		cmp.Or(failed.Hint, "run the program by hand to see what it says: "+m.Settings.CLI+" version"),
	)
}

// elsewhere checks that the folders of the app's vaults exist on this machine. An app on another system, such as
// Windows around WSL, reports paths of that system.
func (m Machine) elsewhere(ctx context.Context, r *Report) {
	served := m.Settings.Served
	if len(served) == 0 { // the app chooses the vault
		served = []settings.Served{{Policy: m.Settings.Policy}}
	}
	for _, v := range served {
		if v.Folder != "" || v.Policy.Private.IsZero() || v.Policy.Shadows(policy.RulePrivate) {
			continue
		}
		appFolder, failed := m.AppFolder(ctx, cmp.Or(v.ID, v.Name))
		if failed != nil || appFolder == "" {
			continue // calls report the reason
		}
		switch here := m.System.Here(appFolder); here {
		case "":
			r.problem(
				"vault-elsewhere",
				fmt.Sprintf("the app has the vault in %q, and this machine does not have that folder", appFolder),
				"vaultwicket cannot know which notes are private, so every call about notes is refused",
				m.System.Remedy(),
			)
		case appFolder:
			r.ok("vault", fmt.Sprintf("the app has the vault in %q", appFolder))
		default:
			r.ok("vault", fmt.Sprintf("the app has the vault in %q, which is %q here", appFolder, here))
		}
	}
}

// appChecks maps error codes of the app to names of findings.
var appChecks = map[string]string{
	exec.CodeNotFound: "cli-missing", exec.CodeUnsuitable: "cli-unsafe", exec.CodeNotRunning: "app-closed",
	exec.CodeTooOld: "app-outdated", exec.CodeDisabled: "cli-disabled", exec.CodePlatform: "platform",
}
