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

// envPrefix begins the environment variables that are settings.
const envPrefix = "VAULTWICKET_"

// otherVariables are variables with our prefix that are no settings: the file
// of the settings, the token of HTTP, and those that only the embedded program reads.
var otherVariables = [...]string{"CONFIG", "TOKEN", "NOW", "ACTIVE", "LIFELINE", "SESSION", "ACCESS", "GATEWAY"}

// raw is the text of a setting and where it comes from. It is the flag's value
// for pflag; the other sources fill in what no flag gave.
type raw struct {
	name, text, origin string
	priority           priority
	boolean            bool
}

// priority orders the sources of a setting: the highest one that gives it decides.
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

// windowsPathWithQuote is what the command line of Windows makes of "C:\My Notes\" and the words behind it, see
// https://learn.microsoft.com/cpp/c-language/parsing-c-command-line-arguments: no path there contains a quote. Shells
// complete the names of folders so.
var windowsPathWithQuote = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[A-Za-z]:|\\\\|\.{1,2}\\)[^"]*"`) })

// Set is called by pflag when the flag is given. A flag given twice is refused,
// as a duplicate key in the file is: which one was meant?
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

// What an origin begins with that is not the file's.
const (
	flagOrigin = "flag --"
	envOrigin  = "environment "
)

func (r *raw) byFlag() bool { return r.priority == fromFlag }

// Flags is the flag set of one subcommand that works with the settings.
type Flags struct {
	terminal.FlagSet
	raws   [len(table)]raw
	given  [len(table)]raw // as the flags alone have them
	config raw
	JSON   bool
	noJSON bool     // see WithoutJSON
	agent  *string  // of the first reading, which is that of the process
	source *source  // of the settings, nil until it is read
	file   document // that the settings were read from, the zero one if from none
	bounds managed  // of this machine
	url    string   // see CallsServer

	// No flags, but set by subcommands: those that serve many calls, with which the embedded program
	// stays until they close their runner, and those whose calls are counted.
	Resident, Observed bool
	// Reviews says that the agent narrows what is shown of the past, and gives no rights: it
	// may be one that is no longer defined.
	Reviews bool
	// FindsVault has the vault be the folder around the working folder that has a folder .obsidian, as git finds a
	// repository, where no setting names one. It is for commands that a user types, and never for a server.
	FindsVault bool
}

// FileFlag is the flag that names the settings file.
const FileFlag = "config"

// NewFlags returns the flags of a subcommand: every setting, the file of the settings, and --json.
func NewFlags(name string) *Flags {
	f := &Flags{FlagSet: terminal.NewFlagSet(name)}
	f.SetInterspersed(name != "run" && name != "dry-run") // words after a command of the vault are its own
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

// Load reads the settings and returns them with what is left of args. The priority is: flag,
// environment, profile, file, default. The managed settings of the machine bound what all of them say.
func (f *Flags) Load(std terminal.Streams, args []string) (Settings, []string, error) {
	if err := f.Parse(args); err != nil {
		return Settings{}, nil, err
	}
	s, err := f.Settings(std)
	return s, f.Args(), err
}

// Settings reads the settings, with the flags as they were parsed.
func (f *Flags) Settings(std terminal.Streams) (s Settings, err error) {
	if s, err = f.read(std); err == nil {
		err = f.agree(&s)
	}
	return s, err
}

// Parse reads the flags of args. See [terminal.FlagSet.Parse] for its error.
func (f *Flags) Parse(args []string) error {
	err := f.FlagSet.Parse(args)
	f.given = f.raws
	if err == nil && f.JSON && f.noJSON {
		return terminal.NoJSON(f.Name())
	}
	return err
}

// WithoutJSON has --json be an error, for a subcommand that has nothing to print as JSON.
func (f *Flags) WithoutJSON() {
	f.noJSON = true
	f.Lookup("json").Hidden = true
}

// again returns flags that were given as those of f were, and from which the
// Settings can be read once more. Variables of flags are not touched.
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

// read lays the sources over each other. What they say fits each by itself; see agree.
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
	said := s.Policy
	s.Policy = s.Policy.Overlaid(f.priorityOf)
	for _, name := range said.Stricter(s.Policy) {
		names, _ := s.Policy.Setting(name).([]string)
		f.raws[settingIndex(name)].text = strings.Join(names, ",")
	}
	s.Policy.Origins = map[string]string{"access": "default"}
	for _, name := range policy.SettingNames() {
		if i := settingIndex(name); i >= 0 {
			origin := f.raws[i].origin
			if text, inFile := strings.CutSuffix(origin, f.file.name); inFile && f.file.name != "" {
				origin = text + f.file.base()
			}
			s.Policy.Origins[name] = origin
		}
	}
	f.bounds.bound(f, &s)
	if f.bounds.silent {
		s.Notify = consent.NotifyConfig{}
	}
	if f.Reviews {
		s.Reviewed, s.Agent = s.Agent, ""
	}
	if s.Agent == "" && f.Observed && len(s.Agents) > 0 {
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
			Reason: fmt.Sprintf(
				"is inside the vault %q, where an agent may write",
				vault,
			), Advice: "move it out of the vault, and name it with --config",
		})
	}
	return s, nil
}

// bindServer sets what the policy says of the server as a whole, which all its vaults have in common.
func (s *Settings) bindServer() {
	p := s.Served[0].Policy
	s.Limits.Calls = p.Rates.Calls
	s.Limits.Mutations = p.Rates.Mutations
	s.Limits.MutationsHour = p.Rates.MutationsHour
	s.Enabled = !p.Disabled
	s.MarkUntrusted = p.Marks
}

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

// fromEnvironment fills in what no flag gave. A variable that is no setting
// stops the start: it was meant to be one.
func (f *Flags) fromEnvironment(std terminal.Streams) error {
	for _, entry := range std.Environ() {
		name, text, _ := strings.Cut(entry, "=")
		key, ours := strings.CutPrefix(name, envPrefix)
		if !ours || slices.Contains(otherVariables[:], key) {
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

// fromWorkingFolder fills in the vault around the working folder, if the subcommand looks for one and none is set.
func (f *Flags) fromWorkingFolder() {
	if !f.FindsVault || len(f.file.vaults) > 0 {
		return
	}
	if folder := NearestVault(); folder != "" {
		f.fill(settingIndex("vault"), raw{text: folder, origin: "working folder", priority: fromWorkingFolder})
	}
}

// NearestVault returns the nearest folder with a folder .obsidian, from the working folder upwards; "" for none.
func NearestVault() string {
	folder, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		if info, err := os.Stat(filepath.Join(folder, ".obsidian")); err == nil && info.IsDir() {
			return folder
		}
		above := filepath.Dir(folder)
		if above == folder {
			return ""
		}
		folder = above
	}
}

// fill sets a value that no source of higher priority gave.
func (f *Flags) fill(i int, given raw) {
	if r := &f.raws[i]; r.origin == "" {
		r.text = given.text
		r.origin = given.origin
		r.priority = given.priority
	}
}

// priorityOf returns the priority of the source that decides a setting. Tables are in the file.
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

// noProfile says that the file has no such profile.
func (d document) noProfile(name string) string {
	return fmt.Sprintf(
		"unknown profile %q%s",
		excerpt.Short(name),
		excerpt.DidYouMean(name, slices.Sorted(maps.Keys(d.profiles))),
	)
}
