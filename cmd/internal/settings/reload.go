package settings

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// reloader applies stricter settings to a running gateway. It never loosens anything: for that the user has to
// restart the server. It is not safe for concurrent use.
type reloader struct {
	gateway Tightener
	flags   *Flags // the flags and settings with which the server started
	std     terminal.Streams
	log     *slog.Logger

	tables bool     // the settings had tables [[vaults]] when the server started
	served []Served // the served vaults with their policies in force
}

// Tightener is the part of the gateway that the reloader uses.
type Tightener interface {
	Tighten(policies []policy.Policy, limits Limits)
	Disable()
}

func newReloader(g Tightener, f *Flags, s Settings, std terminal.Streams, log *slog.Logger) *reloader {
	return &reloader{
		gateway: g,
		flags:   f,
		std:     std,
		log:     log,
		tables:  len(s.tables) > 0,
		served:  slices.Clone(s.Served),
	}
}

// reload reads the settings, applies what is stricter, and logs the result. If the settings cannot be read, the
// present ones stay in force. read is the source that was read for another gateway of this process; with nil the
// files are read. The source used is returned for the next gateway.
func (r *reloader) reload(read *source) *source {
	f := r.flags.again()
	f.source = read
	s, err := f.read(r.std)
	if err != nil {
		r.log.Error("settings not reloaded, the previous ones stay in effect: " + err.Error())
		return f.source
	}
	var report changeReport
	policies := make([]policy.Policy, len(r.served))
	for i := range r.served {
		policies[i] = r.tighten(i, f, s, &report)
	}
	if !s.Enabled {
		r.gateway.Disable()
	}
	r.gateway.Tighten(policies, s.Limits)
	for i, row := range table { // settings that only take effect at a start
		if row.fixed && f.raws[i].text != r.flags.raws[i].text {
			report.add(&report.deferred, row.name)
		}
	}
	if !r.flags.raws[settingIndex("vault")].byFlag() { // otherwise the server was started for one vault
		for _, t := range s.tables {
			if !slices.ContainsFunc(r.served, func(served Served) bool { return served.Vault == t.Vault }) {
				report.add(&report.added, fmt.Sprintf("%q", t.label()))
			}
		}
	}
	summary := report.text()
	if read == nil || summary != "" { // "nothing became stricter" is only logged once for all agents
		r.log.Log(
			context.Background(),
			terminal.LevelNote,
			"settings reloaded: "+cmp.Or(summary, "nothing became stricter"),
		)
	}
	return f.source
}

// text summarizes the changes in one line, "" if there are none.
func (t changeReport) text() string {
	var parts []string
	addPart := func(text string, names []string) {
		if len(names) > 0 {
			parts = append(parts, text+strings.Join(names, ", "))
		}
	}
	addPart("stricter: ", t.stricter)
	addPart("disabled, because not in the settings: ", t.removed)
	addPart("takes effect at the next start: ", t.deferred)
	addPart("served from the next start: ", t.added)
	return strings.Join(parts, "; ")
}

// tighten computes and stores the policy of served vault i: the present policy and that of the settings s, whichever
// is stricter in each part. The changes are added to told. A vault that the settings no longer list is disabled.
func (r *reloader) tighten(i int, f *Flags, s Settings, report *changeReport) policy.Policy {
	current := r.served[i].Policy
	// Without tables, before and now, there is only one vault, even if its name has changed.
	wanted := s.Served[0].Policy
	isListed := !r.tables && len(s.tables) == 0
	for _, served := range s.Served {
		if !isListed && served.Vault == r.served[i].Vault {
			wanted = served.Policy
			isListed = true
		}
	}
	if !isListed {
		if current.Ceiling > tiers.None {
			report.add(&report.removed, fmt.Sprintf("%q", r.label(i)))
		}
		wanted = current
		wanted.Ceiling = tiers.None
		wanted.Origins = maps.Clone(current.Origins)
		wanted.Origins["tier"] = "file " + f.file.base() + ", which does not list this vault"
		r.served[i].Policy = wanted
		return wanted
	}
	stricter := current.Stricter(wanted)
	looser := wanted.Stricter(current)
	for _, part := range policy.Meetings() {
		if !reloads(part.Name) {
			continue
		}
		if slices.Contains(looser, part.Name) {
			report.add(&report.deferred, r.settingLabel(part.Name, i))
		}
		if slices.Contains(stricter, part.Name) {
			report.add(&report.stricter, r.settingLabel(part.Name, i))
		}
	}
	r.served[i].Policy = wanted.Meet(current)
	return wanted
}

// reloads reports whether a part of the policy can become stricter in a running server.
func reloads(part string) bool {
	if part == "access" || part == "flow" {
		return true
	}
	row, isSetting := settingOf(part)
	return isSetting && !row.fixed
}

// settingLabel returns the name of a setting, followed by the vault if vaults can differ in it.
func (r *reloader) settingLabel(name string, i int) string {
	if len(r.served) > 1 && (name == "tier" || name == "access") {
		return fmt.Sprintf("%s of %q", name, r.label(i))
	}
	return name
}

func (r *reloader) label(i int) string {
	return cmp.Or(vaultTable{Vault: r.served[i].Vault}.label(), "the app's vault")
}

// changeReport collects the changes of a reload for the log.
type changeReport struct {
	stricter []string // settings that became stricter
	deferred []string // settings that take effect at the next start
	removed  []string // vaults that the settings no longer list
	added    []string // vaults that are served from the next start
}

func (t *changeReport) add(list *[]string, name string) {
	if !slices.Contains(*list, name) {
		*list = append(*list, name)
	}
}

// Changes of the files take effect in running servers within a second. A check costs one system call for each of
// two files. A changed file must stay the same for a moment, because an editor may still be writing it.
const (
	lookEvery = 500 * time.Millisecond
	settleFor = 200 * time.Millisecond
)

// Running contains the gateways of a process, which reload their settings together: the files are read once for all
// of them.
type Running struct {
	flags   *Flags // the flags and settings with which the process started
	started Settings
	std     terminal.Streams
	log     *slog.Logger

	mu     sync.Mutex
	all    []*reloader
	read   *source                       // the files as last read, nil before
	agents atomic.Pointer[policy.Agents] // the agents of the last successful reload, nil before
}

// NewRunning returns a Running without gateways for a process that started with these settings.
func NewRunning(f *Flags, s Settings, std terminal.Streams, log *slog.Logger) *Running {
	return &Running{flags: f, started: s, std: std, log: log}
}

// reload reloads the settings of every gateway.
func (r *Running) reload() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read = nil
	for _, gateway := range r.all {
		r.read = gateway.reload(r.read)
	}
	if r.read != nil && r.read.err == nil {
		r.agents.Store(&r.read.agents)
	}
}

// Watch adds the gateway of the process, which has the settings s, and starts to reload the settings on SIGHUP and
// when one of their files has changed. Watching ends with ctx or with stop, which waits for a running reload.
func (r *Running) Watch(ctx context.Context, g Tightener, s Settings) (stop func()) {
	r.all = append(r.all, newReloader(g, r.flags, s, r.std, r.log))
	r.read = r.flags.source
	ctx, cancel := context.WithCancel(ctx)
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGHUP) // never sent on Windows
	done := make(chan struct{})
	go func() {
		defer close(done)
		watch(
			ctx,
			lookAt(r.flags.file.name, r.flags.bounds.name),
			[]fs.FileInfo{r.flags.file.info, r.flags.bounds.info},
			asked,
			r.reload,
		)
	}()
	return func() {
		signal.Stop(asked)
		cancel()
		<-done
	}
}

// AddAgent adds the gateway of an agent, which open creates from the settings of the agent. If the agent was already
// defined when the process started, these are the settings of that time, tightened by later changes.
func (r *Running) AddAgent(agent string, open func(s Settings) Tightener) error {
	f := r.flags.again()
	f.agent = &agent
	r.mu.Lock() // no reload may happen before the gateway is in r.all
	defer r.mu.Unlock()
	_, wasDefined := r.started.Agents[agent]
	read := r.read
	if read != nil && read.isOutdated() {
		read = nil
	}
	f.source = read
	if wasDefined {
		f.source = r.flags.source
	}
	s, err := f.Settings(r.std)
	if err != nil {
		return err
	}
	added := newReloader(open(s), f, s, r.std, r.log.With("agent", agent))
	r.read = f.source
	if wasDefined {
		r.read = added.reload(read)
	}
	r.all = append(r.all, added)
	return nil
}

// isOutdated reports whether one of the files has changed since it was read.
func (s *source) isOutdated() bool {
	current := lookAt(s.file.name, s.bounds.name)()
	return !same(current, []fs.FileInfo{s.file.info, s.bounds.info})
}

// Agents returns the agents of the settings file as of the last successful reload.
func (r *Running) Agents() policy.Agents {
	if now := r.agents.Load(); now != nil {
		return *now
	}
	return r.started.Agents
}

// lookAt returns a function that returns the present state of the files; nil for a file that does not exist or cannot
// be inspected.
func lookAt(names ...string) func() []fs.FileInfo {
	return func() (seen []fs.FileInfo) {
		for _, name := range names {
			info, err := os.Lstat(name)
			if err != nil {
				info = nil
			} else {
				os.SameFile(info, info) // on Windows this loads the identity of the file before it can be replaced
			}
			seen = append(seen, info)
		}
		return seen
	}
}

// watch calls reload for every signal in asked, and when the files that look inspects have changed and settled. seen
// is their state when they were read, nil for a file that did not exist. watch returns when ctx is done.
func watch(ctx context.Context, look func() []fs.FileInfo, seen []fs.FileInfo, asked <-chan os.Signal, reload func()) {
	changing := false      // the files differ from seen
	var last []fs.FileInfo // if changing: the files at the last check
	timer := time.NewTimer(lookEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-asked:
			seen = look()
			changing = false
			reload()
		case <-timer.C:
			now := look()
			wait := lookEvery
			switch {
			case same(now, seen):
				changing = false
			case changing && same(now, last): // the files have settled
				seen = now
				changing = false
				reload()
			default:
				changing = true
				last = now
				wait = settleFor
			}
			timer.Reset(wait)
		}
	}
}

// same reports whether no file was changed between two checks.
func same(a, b []fs.FileInfo) bool {
	return slices.EqualFunc(a, b, func(a, b fs.FileInfo) bool {
		if a == nil || b == nil {
			return a == nil && b == nil
		}
		return ownerfiles.IsUntouched(a, b)
	})
}
