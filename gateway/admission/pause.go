package admission

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/policy"
)

// PauseFile returns the file in the state folder that exists while the gateway is paused. Every server checks for it
// on every call, so a pause reaches all of them at once and survives restarts.
func PauseFile(state string) string { return filepath.Join(state, "paused") }

// Pause has every server of the state folder, which must exist, refuse every call; of an agent unless
// that is "", and then it ends those under way. Pausing again keeps the first time. The file counts by
// its name, which is created atomically; the time in it may be missing, as on a full disk.
func Pause(state, agent string, now time.Time) error {
	file, err := os.OpenFile(agentPauseFile(state, agent), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(file, now.UTC().Format(time.RFC3339))
	_ = file.Sync()
	_ = file.Close()
	return nil
}

// Resume ends a pause, of an agent unless that is "". was says whether there was one.
func Resume(state, agent string) (was bool, err error) {
	err = os.Remove(agentPauseFile(state, agent))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// IsPaused reports whether the gateway with a state folder is paused. The error says why this could not be
// determined; it contains no path.
func IsPaused(state string) (bool, error) { return isThere(PauseFile(state)) }

// isThere reports whether there is a pause file, "" for where nothing can be paused. The error names no path.
func isThere(pauseFile string) (bool, error) {
	if pauseFile == "" {
		return false, nil
	}
	info, err := lookAt(pauseFile)
	return info != nil, err
}

// lookAt returns what is known of a file, nil if it is not there.
func lookAt(name string) (fs.FileInfo, error) {
	info, err := os.Lstat(name)
	if runtime.GOOS == "windows" && errors.Is(err, fs.ErrNotExist) { // which it also says of a path below a file
		for path, parent := name, filepath.Dir(name); parent != path; path, parent = parent, filepath.Dir(parent) {
			if info, err := os.Stat(parent); err == nil {
				if !info.IsDir() {
					return nil, errNoFolder
				}
				break
			}
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, errors.Unwrap(err)
	}
	return info, nil
}

// errNoFolder is what Unix says of a path below a file.
var errNoFolder = errors.New("not a directory")

// PausedSince returns when the gateway was paused: the time in the pause file, or its modification time if that
// cannot be read. It is nil if the gateway is not paused.
func PausedSince(state string) *time.Time {
	name := PauseFile(state)
	info, err := os.Lstat(name)
	if err != nil {
		return nil
	}
	since := info.ModTime().UTC().Truncate(time.Second)
	file, err := ownerfiles.Open(name, os.O_RDONLY) // refuses pipes and links, which os.Open would follow or block on
	if err != nil {
		return &since
	}
	defer file.Close()
	text, _ := io.ReadAll(io.LimitReader(file, int64(len(time.RFC3339)+1)))
	if written, err := time.Parse(time.RFC3339, strings.TrimSpace(string(text))); err == nil {
		since = written
	}
	return &since
}

// agentPauseFile and agentRevokedFile return the files in the state folder that exist while an
// agent is paused, or has been revoked. Every server looks for them at every call of the agent. The first
// is [PauseFile] for the agent "".
func agentPauseFile(state, agent string) string {
	if agent == "" {
		return PauseFile(state)
	}
	return PauseFile(state) + "." + agent
}

func agentRevokedFile(state, agent string) string { return filepath.Join(state, "revoked."+agent) }

// RevokeAgent revokes the credentials of an agent until [RenewAgent] issues a new generation. Like [Pause], it
// reaches all servers at once.
func RevokeAgent(state, agent string, now time.Time) error {
	known, err := StandingOf(state, agent)
	if known.Revoked || err != nil {
		return err
	}
	return replaceMark(agentRevokedFile(state, agent), now.UTC().Format(time.RFC3339)+"\n")
}

// renewedSize is the size of the file of an agent whose credentials were renewed. A file of any other size revokes
// the agent. That includes an empty one, left by a full disk: it fails safe.
const renewedSize = 64

// RenewAgent begins a new generation of the credentials of an agent, and ends its revocation. Whatever the agent held
// under the previous one (grants, pending approvals, cursors, keys) becomes void.
func RenewAgent(state, agent string) error {
	err := replaceMark(agentRevokedFile(state, agent), fmt.Sprintf("%-*s\n", renewedSize-1, "renewed "+rand.Text()))
	known, looked := StandingOf(state, agent)
	if err == nil && known.Revoked {
		err = errors.New("the disk is full")
	}
	return errors.Join(err, looked)
}

// replaceMark atomically creates or replaces a file. Write errors are ignored: only its name and size matter, and a
// wrong size revokes.
func replaceMark(name, text string) error {
	file, err := os.CreateTemp(filepath.Dir(name), ".mark-") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, _ = file.WriteString(text)
	_ = file.Sync()
	return errors.Join(file.Close(), os.Rename(file.Name(), name))
}

// Standing is what the user has decided about the credentials of an agent.
type Standing struct {
	// Revoked means that no credentials are valid.
	Revoked bool
	// Generation names those that count: what is bound to another one is void. It is "" for an agent
	// whose credentials were never renewed.
	Generation string
	// Since is when the generation began, zero for never.
	Since time.Time
}

// StandingOf returns the standing of an agent. The error says why that cannot be told; it names no
// path.
func StandingOf(state, agent string) (Standing, error) { return NewStandings(state).Of(agent) }

// Standings look up the standings of agents. It caches the files' contents, so checking an unchanged one costs a
// single system call. They are safe for concurrent use.
type Standings struct {
	state string

	mu    sync.Mutex
	known map[string]knownStanding
}

type knownStanding struct {
	mark     fs.FileInfo
	standing Standing
}

// NewStandings returns the standings in a state folder, "" for one in which no agent is revoked.
func NewStandings(state string) *Standings {
	return &Standings{state: state, known: map[string]knownStanding{}}
}

// Of returns the standing of an agent as it is now. The error is that of [StandingOf].
func (s *Standings) Of(agent string) (Standing, error) {
	if s.state == "" {
		return Standing{}, nil
	}
	name := agentRevokedFile(s.state, agent)
	mark, err := lookAt(name)
	if mark == nil {
		return Standing{}, err
	}
	if !mark.Mode().IsRegular() || mark.Size() != renewedSize {
		return Standing{Revoked: true}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, found := s.known[agent]; found && isSameMark(last.mark, mark) {
		return last.standing, nil
	}
	text, err := ownerfiles.Read(name, renewedSize)
	if err != nil {
		return Standing{}, errors.New("the mark of the agent cannot be read")
	}
	standing := Standing{Generation: strings.TrimSpace(string(text)), Since: mark.ModTime()}
	s.known[agent] = knownStanding{mark, standing}
	return standing, nil
}

// isSameMark reports whether a file is the one that was seen before: each renewal creates a new file.
func isSameMark(before, now fs.FileInfo) bool {
	return os.SameFile(before, now) && before.ModTime().Equal(now.ModTime())
}

// AgentState reports whether an agent is paused, and whether it is revoked. The error says why
// that cannot be told; it names no path.
func AgentState(state, agent string) (paused, revoked bool, err error) {
	known, err := StandingOf(state, agent)
	if err == nil {
		paused, err = isThere(agentPauseFile(state, agent))
	}
	return paused, known.Revoked, err
}

// agentOpen refuses every call of an agent that is paused or revoked.
func (a *Controller) agentOpen() error {
	if a.agent == "" || a.state == "" {
		return nil
	}
	standing, err := a.standings.Of(a.agent)
	paused := false
	if err == nil {
		paused, err = isThere(agentPauseFile(a.state, a.agent))
	}
	if err == nil && !standing.Revoked {
		a.begin(standing.Generation)
	}
	switch {
	case err != nil:
		return failure.New(failure.CodeState, "the user can make the state folder one of their own, with mode 0700",
			"cannot tell whether the agent is paused: state folder: %s", excerpt.Reason(err))
	case standing.Revoked:
		return failure.New(
			failure.CodeAgent,
			`the user can give it a new token with "vaultwicket agent rotate"`,
			"agent %q: %s",
			a.agent,
			policy.Revoked,
		)
	case paused:
		return failure.New(
			failure.CodePaused,
			`the user can resume this agent with "vaultwicket resume"`,
			"agent %q is paused",
			a.agent,
		)
	}
	return nil
}

// IsRevoked reports whether the agent of the calls is revoked. It also returns true if that cannot be determined.
func (a *Controller) IsRevoked() bool {
	if a.agent == "" || a.state == "" {
		return false
	}
	standing, err := a.standings.Of(a.agent)
	return standing.Revoked || err != nil
}

// begin has what the agent had in an earlier generation of its credentials voided, once.
func (a *Controller) begin(generation string) {
	if *a.generation.Load() == generation {
		return
	}
	a.renewing.Lock() // concurrent calls wait until it is voided
	defer a.renewing.Unlock()
	if *a.generation.Load() != generation {
		a.void()
		a.generation.Store(&generation)
	}
}

// OnRenewal has void called when the credentials of the agent of the calls were renewed. It is for
// the one that made the controller, before its first call.
func (a *Controller) OnRenewal(void func()) { a.void = void }

// Generation names the credentials of the agent of the calls that count, see [Standing]. It is ""
// where no agent is defined.
func (a *Controller) Generation() string { return *a.generation.Load() }

// lookAgain is the time between two looks at whether an agent may go on.
const lookAgain = 200 * time.Millisecond

// followedCall is a running call that is cancelled when its agent loses its rights.
type followedCall struct {
	generation string // of the credentials with which it was made
	ended      func() bool
}

// Follow returns a context that is cancelled soon after the agent of the calls is paused or revoked, its credentials
// are renewed, or ended returns true. Without an agent, only cancel cancels it. The caller must call cancel.
func (a *Controller) Follow(
	ctx context.Context,
	ended func() bool,
) (followed context.Context, cancel context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	if a.agent == "" {
		return ctx, stop
	}
	if standing, err := a.standings.Of(a.agent); err == nil && !standing.Revoked {
		a.begin(standing.Generation) // so that the call is not registered under an outdated generation, and cancelled at once
	}
	call := &stop
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.followed[call] = (followedCall{a.Generation(), ended}); !a.looking { // one timer for all calls: each new one wakes a thread
		a.looking = true
		time.AfterFunc(lookAgain, a.look)
	}
	return ctx, func() {
		a.mu.Lock()
		delete(a.followed, call)
		a.mu.Unlock()
		stop()
	}
}

// look cancels the calls that are followed and may not go on, and looks again soon while there are
// any.
func (a *Controller) look() {
	closed := a.agentOpen() != nil
	generation := a.Generation()
	a.mu.Lock()
	defer a.mu.Unlock()
	for stop, call := range a.followed {
		if closed || call.generation != generation || call.ended() {
			(*stop)()
		}
	}
	if a.looking = len(a.followed) > 0; a.looking {
		time.AfterFunc(lookAgain, a.look)
	}
}
