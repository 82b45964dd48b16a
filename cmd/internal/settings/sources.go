package settings

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/policy"
)

// envPrefix is the prefix of the environment variables that are settings.
const envPrefix = "VAULTWICKET_"

// otherVariables are variables with this prefix that are not settings: the path of the settings file, the HTTP
// token, and those that only the embedded CLI reads.
var otherVariables = [...]string{"CONFIG", "TOKEN", "NOW", "ACTIVE", "LIFELINE", "SESSION", "ACCESS", "GATEWAY"}

// raw is the text of a setting and its origin. It implements the value of a flag for pflag; the other sources set it
// if the flag was not given.
type raw struct {
	name, text, origin string
	priority           priority
	boolean            bool
}

// priority orders the sources of a setting: the source with the highest priority decides.
type priority int

const (
	fromNothing priority = iota
	fromWorkingFolder
	fromFile
	fromProfile
	fromVariable
	fromFlag
)

func (r *raw) String() string { return r.text }

// windowsPathWithQuote matches an argument that results from "C:\My Notes\" on the command line of Windows: the last
// backslash escapes the quote, so the following words become part of the argument, see
// https://learn.microsoft.com/cpp/c-language/parsing-c-command-line-arguments. Shells complete folder names with that
// backslash. A real path on Windows cannot contain a quote.
var windowsPathWithQuote = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[A-Za-z]:|\\\\|\.{1,2}\\)[^"]*"`) })

// Set is called by pflag for each use of the flag. A flag that is given twice is an error, like a duplicate key in
// the file: it is unclear which value is meant.
func (r *raw) Set(text string) error {
	if r.origin != "" {
		return errors.New("given twice")
	}
	if windowsPathWithQuote().MatchString(text) {
		return errors.New("a backslash before a quote makes the quote a part of the path, and the next words too: " +
			"leave out the last backslash of the folder")
	}
	r.text = text
	r.origin = flagOrigin + r.name
	r.priority = fromFlag
	return nil
}

func (r *raw) Type() string {
	if r.boolean {
		return "bool"
	}
	return "string"
}

// Prefixes of the origin of a setting that does not come from the file.
const (
	flagOrigin = "flag --"
	envOrigin  = "environment "
)

func (r *raw) byFlag() bool { return r.priority == fromFlag }

// Flags is the flag set of one subcommand that works with the settings.
type Flags struct {
	terminal.FlagSet
	raws   [len(table)]raw
	given  [len(table)]raw // the values given by flags alone
	config raw
	JSON   bool
	noJSON bool     // see WithoutJSON
	agent  *string  // the agent of the first read, which stays that of the process; nil before
	source *source  // the files of the settings, nil until they are read
	file   document // the settings file that was read, zero if there is none
	bounds managed  // the managed settings of this machine
	url    string   // see CallsServer

	// The following fields are not flags; subcommands set them.

	// Resident is set by subcommands that serve many calls: the embedded CLI keeps running until they close their
	// runner. Observed is set by subcommands whose calls are counted.
	Resident, Observed bool
	// Reviews makes the setting agent select whose history is shown, without giving rights. That agent
	// need not be defined any more.
	Reviews bool
	// FindsVault makes the vault default to the nearest folder, from the working folder upwards, that contains a
	// folder .obsidian, as git finds a repository. It is for commands that a user types, never for a server.
	FindsVault bool
}

// FileFlag is the name of the flag for the settings file.
const FileFlag = "config"

// NewFlags returns the flags of a subcommand: one for every setting, --config and --json.
func NewFlags(name string) *Flags {
	f := &Flags{FlagSet: terminal.NewFlagSet(name)}
	f.SetInterspersed(name != "run" && name != "dry-run") // what follows the vault command belongs to that command
	for i, s := range table {
		f.raws[i] = raw{name: s.name, boolean: s.kind == boolean}
		usage := s.usage
		if s.fallback != "" {
			usage += " (default " + s.fallback + ")"
		}
		flag := f.VarPF(&f.raws[i], s.name, "", usage)
		if s.kind == boolean {
			flag.NoOptDefVal = "true"
		}
	}
	f.config.name = FileFlag
	f.VarPF(&f.config, FileFlag, "", `settings file, or "none"`)
	f.BoolVar(&f.JSON, "json", false, "print JSON")
	return f
}

// Load reads the settings and returns them with the arguments that are not flags. The priority is: flag,
// environment, profile, file, default. The managed settings of the machine limit all of them.
func (f *Flags) Load(std terminal.Streams, args []string) (Settings, []string, error) {
	if err := f.Parse(args); err != nil {
		return Settings{}, nil, err
	}
	s, err := f.Settings(std)
	return s, f.Args(), err
}

// Settings reads the settings. Parse must be called before.
func (f *Flags) Settings(std terminal.Streams) (s Settings, err error) {
	if s, err = f.read(std); err == nil {
		err = f.agree(&s)
	}
	return s, err
}

// Parse parses the flags in args. See [terminal.FlagSet.Parse] for its error.
func (f *Flags) Parse(args []string) error {
	err := f.FlagSet.Parse(args)
	f.given = f.raws
	if err == nil && f.JSON && f.noJSON {
		return terminal.NoJSON(f.Name())
	}
	return err
}

// WithoutJSON makes --json an error, for a subcommand without JSON output.
func (f *Flags) WithoutJSON() {
	f.noJSON = true
	f.Lookup("json").Hidden = true
}

// again returns a copy of f as it was after Parse, from which the settings can be read once more. It does not affect
// the variables of other flags.
func (f *Flags) again() *Flags {
	return &Flags{
		raws:       f.given,
		given:      f.given,
		config:     f.config,
		agent:      f.agent,
		Observed:   f.Observed,
		Reviews:    f.Reviews,
		FindsVault: f.FindsVault,
	}
}

// read merges the sources of the settings. Each setting is valid by itself; see agree for the rest.
func (f *Flags) read(std terminal.Streams) (Settings, error) {
	if err := f.fromEnvironment(std); err != nil {
		return Settings{}, err
	}
	if err := f.fromFile(std); err != nil {
		return Settings{}, err
	}
	f.fromWorkingFolder()
	s := Settings{tables: f.file.vaults, Agents: f.source.agents, Notify: f.file.notify}
	for i := range table {
		if err := f.apply(&s, i); err != nil {
			return Settings{}, err
		}
	}
	s.Policy.Flows = f.file.flows
	unmerged := s.Policy
	s.Policy = s.Policy.Overlaid(f.priorityOf)
	for _, name := range unmerged.Stricter(s.Policy) {
		names, _ := s.Policy.Setting(name).([]string)
		f.raws[settingIndex(name)].text = strings.Join(names, ",")
	}
	s.Policy.Origins = f.policyOrigins()
	f.bounds.bound(f, &s)
	if f.bounds.silent {
		s.Notify = consent.NotifyConfig{}
	}
	if f.Reviews {
		s.Reviewed = s.Agent
		s.Agent = ""
	}
	needsAgent := f.Observed && len(s.Agents) > 0
	if needsAgent && s.Agent == "" {
		s.Agent = policy.DefaultAgent
	}
	if f.agent == nil {
		first := s.Agent
		f.agent = &first
	}
	s.Agent = *f.agent
	s.Served = f.everyVault(s)
	for i := range s.Served {
		bounds := policy.Unlimited()
		bounds.Access = f.ManagedAccess(std, s, s.Served[i].Vault)
		s.Served[i].Policy = s.Served[i].Policy.Meet(bounds.From(policy.OriginManaged))
	}
	s.bindServer()
	if f.file.info == nil {
		return s, nil
	}
	if vault := s.VaultAround(std, f.file.name); vault != "" {
		return s, unusable(f.file.place, &ownerfiles.Untrusted{
			Reason: fmt.Sprintf("is inside the vault %q, where an agent may write", vault),
			Advice: "move it out of the vault, and name it with --config",
		})
	}
	return s, nil
}

// policyOrigins returns the origin of each setting of the policy. It names the settings file without its folder,
// because agents see these origins.
func (f *Flags) policyOrigins() map[string]string {
	origins := map[string]string{"access": "default"}
	for _, name := range policy.SettingNames() {
		i := settingIndex(name)
		if i < 0 {
			continue
		}
		origin := f.raws[i].origin
		if text, inFile := strings.CutSuffix(origin, f.file.name); inFile && f.file.name != "" {
			origin = text + f.file.base()
		}
		origins[name] = origin
	}
	return origins
}

// bindServer sets the fields that the policy decides for the whole server. They are the same for all vaults.
func (s *Settings) bindServer() {
	p := s.Served[0].Policy
	s.Limits.Calls = p.Rates.Calls
	s.Limits.Mutations = p.Rates.Mutations
	s.Limits.MutationsHour = p.Rates.MutationsHour
	s.Enabled = !p.Disabled
	s.MarkUntrusted = p.Marks
}

// apply sets the setting with index i in s, to its default if no source gave it.
func (f *Flags) apply(s *Settings, i int) error {
	r := &f.raws[i]
	if r.origin == "" {
		r.text = table[i].fallback
		r.origin = "default"
	}
	if err := table[i].set(s, r.text); err != nil {
		return &terminal.UsageError{Reason: fmt.Sprintf("setting %q (%s): %v", table[i].name, r.origin, err)}
	}
	return nil
}

// fromEnvironment sets the settings that no flag gave from the environment. A variable with our prefix that is not a
// setting is an error: it was meant to be one.
func (f *Flags) fromEnvironment(std terminal.Streams) error {
	for _, entry := range std.Environ() {
		name, text, _ := strings.Cut(entry, "=")
		key, hasPrefix := strings.CutPrefix(name, envPrefix)
		if !hasPrefix || slices.Contains(otherVariables[:], key) {
			continue
		}
		i := settingIndex(strings.ToLower(strings.ReplaceAll(key, "_", "-")))
		if i < 0 || strings.ToUpper(key) != key {
			var known []string
			for _, s := range Names() {
				known = append(known, VariableOf(s))
			}
			err := &terminal.UsageError{Reason: fmt.Sprintf("unknown environment variable %q", excerpt.Short(name))}
			if near := excerpt.Nearest(name, known); near != "" {
				err.Advice = fmt.Sprintf("did you mean %q?", near)
			}
			return err
		}
		f.fill(i, raw{text: text, origin: envOrigin + name, priority: fromVariable})
	}
	return nil
}

// fromWorkingFolder sets the vault to the one around the working folder, if FindsVault is set and no vault is given.
func (f *Flags) fromWorkingFolder() {
	if !f.FindsVault || len(f.file.vaults) > 0 {
		return
	}
	if folder := NearestVault(); folder != "" {
		f.fill(settingIndex("vault"), raw{text: folder, origin: "working folder", priority: fromWorkingFolder})
	}
}

// NearestVault returns the nearest folder, from the working folder upwards, that contains a folder .obsidian; "" if
// there is none.
func NearestVault() string {
	folder, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		if info, err := os.Stat(filepath.Join(folder, ".obsidian")); err == nil && info.IsDir() {
			return folder
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return ""
		}
		folder = parent
	}
}

// fill sets setting i unless a source of higher priority already gave it. Sources must be applied in the order of
// their priority.
func (f *Flags) fill(i int, given raw) {
	if r := &f.raws[i]; r.origin == "" {
		r.text = given.text
		r.origin = given.origin
		r.priority = given.priority
	}
}

// priorityOf returns the priority of the source that decides a setting. Tables can only be in the file.
func (f *Flags) priorityOf(name string) int {
	if i := settingIndex(name); i >= 0 {
		return int(f.raws[i].priority)
	}
	return int(fromFile)
}

func settingIndex(name string) int {
	return slices.IndexFunc(table[:], func(s setting) bool { return s.name == name })
}

// VariableOf returns the environment variable of a setting.
func VariableOf(name string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// noProfile returns the message that the file has no profile with this name.
func (d document) noProfile(name string) string {
	return fmt.Sprintf(
		"unknown profile %q%s",
		excerpt.Short(name),
		excerpt.DidYouMean(name, slices.Sorted(maps.Keys(d.profiles))),
	)
}
