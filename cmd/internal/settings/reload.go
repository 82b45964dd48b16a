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

// reloader takes what is stricter in the settings into a gateway that is running. Nothing is ever
// loosened: that takes the person who starts the next server. One goroutine at a time uses it.
type reloader struct {
	gateway Tightener
	flags   *Flags // of the settings with which the server started
	std     terminal.Streams
	log     *slog.Logger

	tables bool     // there were [[vaults]]
	served []Served // with the policies in force
}

// Tightener is the gateway as the reloader needs it.
type Tightener interface {
	Tighten(policies []policy.Policy, limits Limits)
	Disable()
}

func newReloader(g Tightener, f *Flags, s Settings, std terminal.Streams, log *slog.Logger) *reloader {
	return &reloader{
		gateway: g, flags: f, std: std, log: log, tables: len(s.tables) > 0,
		served: slices.Clone(s.Served),
	}
}

// reload reads the settings once more and logs what came of it. Settings that cannot be read
// leave in force what is. read is what was read for another gateway of this process, nil for
// nothing yet; it is returned for the next one.
func (r *reloader) reload(read *source) *source {
	f := r.flags.again()
	f.source = read
	s, err := f.read(r.std)
	if err != nil {
		r.log.Error("settings not reloaded, the previous ones stay in effect: " + err.Error())
		return f.source
	}
	var told telling
	policies := make([]policy.Policy, len(r.served))
	for i := range r.served {
		policies[i] = r.tighten(i, f, s, &told)
	}
	if !s.Enabled {
		r.gateway.Disable()
	}
	r.gateway.Tighten(policies, s.Limits)
	for i, row := range table { // those that a server takes only when it starts
		if row.fixed && f.raws[i].text != r.flags.raws[i].text {
			told.add(&told.kept, row.name)
		}
	}
	if !r.flags.raws[settingIndex("vault")].byFlag() { // otherwise the server was started for one vault
		for _, t := range s.tables {
			if !slices.ContainsFunc(r.served, func(served Served) bool { return served.Vault == t.Vault }) {
				told.add(&told.fresh, fmt.Sprintf("%q", t.label()))
			}
		}
	}
	became := told.text()
	if read == nil || became != "" { // once is enough for all agents
		r.log.Log(
			context.Background(),
			terminal.LevelNote,
			"settings reloaded: "+cmp.Or(became, "nothing became stricter"),
		)
	}
	return f.source
}

// text says what became of the settings, "" if nothing did.
func (t telling) text() string {
	var parts []string
	for _, part := range []struct {
		text  string
		names []string
	}{
		{"stricter: ", t.taken}, {"disabled, because not in the settings: ", t.closed},
		{"takes effect at the next start: ", t.kept}, {"served from the next start: ", t.fresh},
	} {
		if len(part.names) > 0 {
			parts = append(parts, part.text+strings.Join(part.names, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

// tighten returns the policy to lay over the one of a vault.
func (r *reloader) tighten(i int, f *Flags, s Settings, told *telling) policy.Policy {
	has := r.served[i].Policy
	// Where there were no tables and are none, it is the one vault whatever its name is.
	wanted := s.Served[0].Policy
	there := !r.tables && len(s.tables) == 0
	for _, served := range s.Served {
		if !there && served.Vault == r.served[i].Vault {
			wanted = served.Policy
			there = true
		}
	}
	if !there {
		if has.Ceiling > tiers.None {
			told.add(&told.closed, fmt.Sprintf("%q", r.label(i)))
		}
		wanted = has
		wanted.Ceiling = tiers.None
		wanted.Origins = maps.Clone(has.Origins)
		wanted.Origins["tier"] = "file " + f.file.base() + ", which does not list this vault"
		r.served[i].Policy = wanted
		return wanted
	}
	stricter := has.Stricter(wanted)
	looser := wanted.Stricter(has)
	for _, part := range policy.Meetings() {
		if !reloads(part.Name) {
			continue
		}
		if slices.Contains(looser, part.Name) {
			told.add(&told.kept, r.of(part.Name, i))
		}
		if slices.Contains(stricter, part.Name) {
			told.add(&told.taken, r.of(part.Name, i))
		}
	}
	r.served[i].Policy = wanted.Meet(has)
	return wanted
}

// reloads reports whether a running server tells of a part of the policy that became stricter: a setting that is
// not only taken at the next start, or a table.
func reloads(part string) bool {
	if part == "access" || part == "flow" {
		return true
	}
	row, isSetting := settingOf(part)
	return isSetting && !row.fixed
}

// of names a setting, with the vault where vaults have their own.
func (r *reloader) of(name string, i int) string {
	if len(r.served) > 1 && (name == "tier" || name == "access") {
		return fmt.Sprintf("%s of %q", name, r.label(i))
	}
	return name
}

func (r *reloader) label(i int) string {
	return cmp.Or(vaultTable{Vault: r.served[i].Vault}.label(), "the app's vault")
}

// telling is what came of a reload, for people.
type telling struct{ taken, kept, closed, fresh []string }

func (t *telling) add(list *[]string, name string) {
	if !slices.Contains(*list, name) {
		*list = append(*list, name)
	}
}

// What changes in the files acts in running servers within a second: a look at each of two files
// is one system call, and an editor may be in the middle of writing.
const (
	lookEvery = 500 * time.Millisecond
	settleFor = 200 * time.Millisecond
)

// Running are the gateways of a process, which take stricter settings together: the files are
// read once for all of them.
type Running struct {
	flags   *Flags // of the settings with which the process started
	started Settings
	std     terminal.Streams
	log     *slog.Logger

	mu     sync.Mutex
	all    []*reloader
	read   *source                       // the last that was read, nil for none
	agents atomic.Pointer[policy.Agents] // those of the last that could be read, nil before the first reload
}

// NewRunning returns the gateways of a process that started with these settings: none yet.
func NewRunning(f *Flags, s Settings, std terminal.Streams, log *slog.Logger) *Running {
	return &Running{flags: f, started: s, std: std, log: log}
}

func (r *Running) reload() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read = nil
	for _, one := range r.all {
		r.read = one.reload(r.read)
	}
	if r.read != nil && r.read.err == nil {
		r.agents.Store(&r.read.agents)
	}
}

// Watch adds the gateway of the process, which has the settings s, and has the settings read again at
// SIGHUP, and when a file of theirs has changed and stays as it is for a moment. It returns what ends that.
func (r *Running) Watch(ctx context.Context, g Tightener, s Settings) (stop func()) {
	r.all = append(r.all, newReloader(g, r.flags, s, r.std, r.log))
	r.read = r.flags.source
	ctx, cancel := context.WithCancel(ctx)
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGHUP) // on Windows it never comes
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

// AddAgent adds the gateway of an agent, which open makes of the settings of the agent: as they were
// when the process started, if the agent was defined then, with what became stricter since.
func (r *Running) AddAgent(agent string, open func(s Settings) Tightener) error {
	f := r.flags.again()
	f.agent = &agent
	r.mu.Lock() // no change is missed between reading the settings and following them
	defer r.mu.Unlock()
	_, early := r.started.Agents[agent]
	read := r.read
	if read != nil &&
		!same(lookAt(read.file.name, read.bounds.name)(), []fs.FileInfo{read.file.info, read.bounds.info}) {
		read = nil // the files have changed since
	}
	if f.source = read; early {
		f.source = r.flags.source
	}
	s, err := f.Settings(r.std)
	if err != nil {
		return err
	}
	one := newReloader(open(s), f, s, r.std, r.log.With("agent", agent))
	if r.read = f.source; early {
		r.read = one.reload(read)
	}
	r.all = append(r.all, one)
	return nil
}

// Agents returns the agents of the settings file as it is now, if it can be read.
func (r *Running) Agents() policy.Agents {
	if now := r.agents.Load(); now != nil {
		return *now
	}
	return r.started.Agents
}

// lookAt returns what looks at files. What cannot be looked at is as if it were not there.
func lookAt(names ...string) func() []fs.FileInfo {
	return func() (seen []fs.FileInfo) {
		for _, name := range names {
			info, err := os.Lstat(name)
			if err != nil {
				info = nil
			} else {
				os.SameFile(info, info) // on Windows which file it is would be looked up later, by its name
			}
			seen = append(seen, info)
		}
		return seen
	}
}

// watch calls reload when it is asked to, and when the files that look looks at have changed and settled.
// seen is how they were when they were read, nil for one that was not there. It ends with ctx.
func watch(ctx context.Context, look func() []fs.FileInfo, seen []fs.FileInfo, asked <-chan os.Signal, reload func()) {
	changing := false      // a file is another than the one that was read,
	var last []fs.FileInfo // and this is how they were at the last look
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
			case changing && same(now, last): // as at the last look: it has settled
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

// same reports whether no file was touched between two looks.
func same(a, b []fs.FileInfo) bool {
	return slices.EqualFunc(a, b, func(a, b fs.FileInfo) bool {
		if a == nil || b == nil {
			return a == nil && b == nil
		}
		return ownerfiles.IsUntouched(a, b)
	})
}
