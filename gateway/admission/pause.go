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

// Pause makes every server that uses the state folder refuse all calls, or, if agent is not "", the calls of that
// agent, whose running calls are then cancelled. The folder must exist. Pausing again keeps the time of the first
// pause. Only the existence of the file counts: the time in it is missing if, say, the disk is full.
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

// Resume ends the pause of an agent, or of the whole gateway if agent is "". wasPaused reports whether there was one.
func Resume(state, agent string) (wasPaused bool, err error) {
	err = os.Remove(agentPauseFile(state, agent))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// IsPaused reports whether the gateway with a state folder is paused. The error says why this could not be
// determined; it contains no path.
func IsPaused(state string) (bool, error) { return pauseFileExists(PauseFile(state)) }

// pauseFileExists reports whether a pause file exists. The name is "" if nothing can be paused. The error contains
// no path.
func pauseFileExists(pauseFile string) (bool, error) {
	if pauseFile == "" {
		return false, nil
	}
	info, err := statOrNil(pauseFile)
	return info != nil, err
}

// statOrNil is like [os.Lstat], but returns nil, nil for a file that does not exist. The error contains no path.
func statOrNil(name string) (fs.FileInfo, error) {
	info, err := os.Lstat(name)
	if runtime.GOOS == "windows" && errors.Is(err, fs.ErrNotExist) && isBelowFile(name) {
		return nil, errNotDirectory
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	return info, nil
}

// isBelowFile reports whether the nearest existing parent of a path is not a folder. Of such a path Windows
// reports only that it does not exist.
func isBelowFile(name string) bool {
	for {
		parent := filepath.Dir(name)
		if parent == name {
			return false
		}
		if info, err := os.Stat(parent); err == nil {
			return !info.IsDir()
		}
		name = parent
	}
}

// errNotDirectory has the text of ENOTDIR, the error of Unix for a path below a file.
var errNotDirectory = errors.New("not a directory")

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

// agentPauseFile returns the file in the state folder that exists while an agent is paused, or the whole gateway if
// agent is "". Every server checks for it on every call of the agent.
func agentPauseFile(state, agent string) string {
	if agent == "" {
		return PauseFile(state)
	}
	return PauseFile(state) + "." + agent
}

// agentRevokedFile returns the file in the state folder that exists once an agent was revoked or renewed, see
// [renewedSize]. Every server checks it on every call of the agent.
func agentRevokedFile(state, agent string) string { return filepath.Join(state, "revoked."+agent) }

// RevokeAgent revokes the credentials of an agent until [RenewAgent] issues a new generation. Like [Pause], it
// reaches all servers at once.
func RevokeAgent(state, agent string, now time.Time) error {
	standing, err := StandingOf(state, agent)
	if standing.Revoked || err != nil {
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
	text := fmt.Sprintf("%-*s\n", renewedSize-1, "renewed "+rand.Text())
	if err := replaceMark(agentRevokedFile(state, agent), text); err != nil {
		_, unknown := StandingOf(state, agent)
		return errors.Join(err, unknown)
	}
	standing, err := StandingOf(state, agent)
	if err == nil && standing.Revoked { // the mark is incomplete
		err = errors.New("the disk is full")
	}
	return err
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
	err = file.Close()
	return errors.Join(err, os.Rename(file.Name(), name)) // renamed in any case: an incomplete mark must revoke
}

// Standing is what the user has decided about the credentials of an agent.
type Standing struct {
	// Revoked means that no credentials are valid.
	Revoked bool
	// Generation identifies the valid credentials: anything bound to another generation is void. It is "" for an
	// agent whose credentials were never renewed.
	Generation string
	// Since is when the generation began, zero if the credentials were never renewed.
	Since time.Time
}

// StandingOf returns the standing of an agent. The error says why it could not be determined; it contains no path.
func StandingOf(state, agent string) (Standing, error) { return NewStandings(state).Of(agent) }

// Standings looks up the standings of agents. It caches the files' contents, so checking an unchanged one costs a
// single system call. It is safe for concurrent use.
type Standings struct {
	state string

	mu     sync.Mutex
	cached map[string]cachedStanding
}

type cachedStanding struct {
	mark     fs.FileInfo
	standing Standing
}

// NewStandings returns the standings recorded in a state folder. If state is "", no agent is revoked.
func NewStandings(state string) *Standings {
	return &Standings{state: state, cached: map[string]cachedStanding{}}
}

// Of returns the current standing of an agent. The error is that of [StandingOf].
func (s *Standings) Of(agent string) (Standing, error) {
	if s.state == "" {
		return Standing{}, nil
	}
	name := agentRevokedFile(s.state, agent)
	mark, err := statOrNil(name)
	if mark == nil {
		return Standing{}, err
	}
	if !mark.Mode().IsRegular() || mark.Size() != renewedSize {
		return Standing{Revoked: true}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, ok := s.cached[agent]; ok && isSameMark(last.mark, mark) {
		return last.standing, nil
	}
	text, err := ownerfiles.Read(name, renewedSize)
	if err != nil {
		return Standing{}, errors.New("the mark of the agent cannot be read")
	}
	standing := Standing{Generation: strings.TrimSpace(string(text)), Since: mark.ModTime()}
	s.cached[agent] = cachedStanding{mark, standing}
	return standing, nil
}

// isSameMark reports whether the file is unchanged: each renewal creates a new one.
func isSameMark(before, now fs.FileInfo) bool {
	return os.SameFile(before, now) && before.ModTime().Equal(now.ModTime())
}

// AgentState reports whether an agent is paused, and whether it is revoked. The error says why that could not be
// determined; it contains no path.
func AgentState(state, agent string) (paused, revoked bool, err error) {
	standing, err := StandingOf(state, agent)
	if err != nil {
		return false, standing.Revoked, err
	}
	paused, err = pauseFileExists(agentPauseFile(state, agent))
	return paused, standing.Revoked, err
}

// checkAgent returns an error if the agent is paused or revoked.
func (a *Controller) checkAgent() error {
	if a.agent == "" || a.state == "" {
		return nil
	}
	standing, err := a.standings.Of(a.agent)
	if err != nil {
		return a.unknownAgentState(err)
	}
	paused, err := pauseFileExists(agentPauseFile(a.state, a.agent))
	if err != nil {
		return a.unknownAgentState(err)
	}
	if standing.Revoked {
		return failure.New(
			failure.CodeAgent,
			`the user can give it a new token with "vaultwicket agent rotate"`,
			"agent %q: %s",
			a.agent,
			policy.Revoked,
		)
	}
	a.enterGeneration(standing.Generation)
	if paused {
		return failure.New(
			failure.CodePaused,
			`the user can resume this agent with "vaultwicket resume"`,
			"agent %q is paused",
			a.agent,
		)
	}
	return nil
}

// unknownAgentState returns the error for an agent of which the state folder does not tell whether it is paused.
func (a *Controller) unknownAgentState(err error) error {
	return failure.New(
		failure.CodeState,
		"the user can make the state folder one of their own, with mode 0700",
		"cannot tell whether the agent is paused: state folder: %s",
		excerpt.Reason(err),
	)
}

// IsRevoked reports whether the agent that makes the calls is revoked. It also returns true if that cannot be
// determined.
func (a *Controller) IsRevoked() bool {
	if a.agent == "" || a.state == "" {
		return false
	}
	standing, err := a.standings.Of(a.agent)
	return standing.Revoked || err != nil
}

// enterGeneration voids, once, what the agent held under the previous generation of its credentials.
func (a *Controller) enterGeneration(generation string) {
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

// OnRenewal sets the function that is called when the credentials of the agent have been renewed. It must be called
// before the first call is admitted.
func (a *Controller) OnRenewal(void func()) { a.void = void }

// Generation identifies the valid credentials of the agent, see [Standing]. It is "" if no agent is defined.
func (a *Controller) Generation() string { return *a.generation.Load() }

// checkInterval is the interval at which running calls are checked.
const checkInterval = 200 * time.Millisecond

// followedCall is a running call that is cancelled when its agent loses its rights.
type followedCall struct {
	generation string      // of the credentials that the call was made with
	ended      func() bool // reports whether the rights of the caller have ended
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
		a.enterGeneration(standing.Generation) // or the call would get an outdated generation, and be cancelled at once
	}
	key := &stop // its address identifies the call
	a.mu.Lock()
	defer a.mu.Unlock()
	a.followed[key] = followedCall{a.Generation(), ended}
	if !a.checkScheduled { // one timer for all calls, because each timer wakes a thread
		a.checkScheduled = true
		time.AfterFunc(checkInterval, a.checkFollowed)
	}
	return ctx, func() {
		a.mu.Lock()
		delete(a.followed, key)
		a.mu.Unlock()
		stop()
	}
}

// checkFollowed cancels the followed calls that may no longer run, and schedules itself again while there are any.
func (a *Controller) checkFollowed() {
	isClosed := a.checkAgent() != nil
	generation := a.Generation()
	a.mu.Lock()
	defer a.mu.Unlock()
	for stop, call := range a.followed {
		if isClosed || call.generation != generation || call.ended() {
			(*stop)()
		}
	}
	a.checkScheduled = len(a.followed) > 0
	if a.checkScheduled {
		time.AfterFunc(checkInterval, a.checkFollowed)
	}
}
