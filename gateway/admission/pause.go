package admission

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// PauseFile returns the file in the state folder that exists while the gateway is paused. Every
// server looks for it at every call, so it reaches all of them at once and outlives them.
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

// IsPaused reports whether the gateway with a state folder is paused. The error says why
// that cannot be told; it names no path.
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

// PausedSince returns the time in the pause file, or else that of the file, nil if there is none.
func PausedSince(state string) *time.Time {
	name := PauseFile(state)
	info, err := os.Lstat(name)
	if err != nil {
		return nil
	}
	since := info.ModTime().UTC().Truncate(time.Second)
	file, err := ownerfiles.Open(name, os.O_RDONLY) // it may be a pipe or a link
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

// RevokeAgent takes all rights from an agent, as [Pause] does, until [RestoreAgent].
func RevokeAgent(state, agent string, now time.Time) error {
	if revoked, _, err := revocation(state, agent); revoked || err != nil {
		return err
	}
	return replaceMark(agentRevokedFile(state, agent), now.UTC().Format(time.RFC3339)+"\n")
}

// restoredSize is the size of the file of an agent that was revoked and has rights again. Any other
// file revokes it, also an empty one, as on a full disk.
const restoredSize = 64

// revocation reports whether an agent is revoked, and when it was restored last, zero for never.
func revocation(state, agent string) (revoked bool, restored time.Time, err error) {
	info, err := lookAt(agentRevokedFile(state, agent))
	switch {
	case info == nil:
		return false, restored, err
	case info.Mode().IsRegular() && info.Size() == restoredSize:
		return false, info.ModTime(), nil
	}
	return true, restored, nil
}

// replaceMark creates or replaces a file, which counts by its name and size.
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

// RestoreAgent ends the revocation of an agent. was says whether there was one. What the agent had
// before, such as questions, permissions for folders, cursors and keys, it has no more.
func RestoreAgent(state, agent string) (was bool, err error) {
	if was, _, err = revocation(state, agent); !was || err != nil {
		return was, err
	}
	err = replaceMark(agentRevokedFile(state, agent), fmt.Sprintf("%-*s\n", restoredSize-1, "restored"))
	if still, _, looked := revocation(state, agent); err == nil && (still || looked != nil) {
		err = errors.Join(errors.New("the disk is full"), looked)
	}
	return true, err
}

// AgentState reports whether an agent is paused, and whether it is revoked. The error says why
// that cannot be told; it names no path.
func AgentState(state, agent string) (paused, revoked bool, err error) {
	if revoked, _, err = revocation(state, agent); err == nil {
		paused, err = isThere(agentPauseFile(state, agent))
	}
	return paused, revoked, err
}

// agentOpen refuses every call of an agent that is paused or revoked.
func (a *Controller) agentOpen() error {
	if a.agent == "" || a.state == "" {
		return nil
	}
	revoked, restored, err := revocation(a.state, a.agent)
	paused := false
	if err == nil {
		paused, err = isThere(agentPauseFile(a.state, a.agent))
	}
	if err == nil && !revoked {
		a.begin(restored)
	}
	switch {
	case err != nil:
		return failure.New(failure.CodeState, "the user can make the state folder one of their own, with mode 0700",
			"cannot tell whether the agent is paused: state folder: %v", err)
	case revoked:
		return failure.New(failure.CodeAgent, `the user can give it a new token with "vaultwicket agent rotate"`, "agent %q: the agent was revoked", a.agent)
	case paused:
		return failure.New(failure.CodePaused, `the user can resume it with "vaultwicket resume --agent"`, "agent %q is paused", a.agent)
	}
	return nil
}

// begin has what the agent had before voided, once, if it was restored since.
func (a *Controller) begin(restored time.Time) {
	if a.restored.Load() == restored.UnixNano() {
		return
	}
	a.restoring.Lock() // other calls wait until it is void
	defer a.restoring.Unlock()
	if a.restored.Load() != restored.UnixNano() {
		a.void()
		a.restored.Store(restored.UnixNano())
	}
}

// OnRestore has void called when the agent of the calls was revoked and has rights again. It is for
// the one that made the controller, before its first call.
func (a *Controller) OnRestore(void func()) { a.void = void }

// Restored tells the times apart between which an agent was revoked and restored.
func (a *Controller) Restored() int64 { return a.restored.Load() }

// lookAgain is the time between two looks at whether an agent may go on.
const lookAgain = 200 * time.Millisecond

// Follow returns a context that is cancelled soon after the agent of the calls is paused or
// revoked, or ended reports that its rights have. Without an agent it is cancelled by cancel
// alone. The caller calls cancel.
func (a *Controller) Follow(ctx context.Context, ended func() bool) (followed context.Context, cancel context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	if a.agent == "" {
		return ctx, stop
	}
	call := &stop
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.followed[call] = ended; !a.looking { // one timer for all calls: each new one wakes a thread
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
	a.mu.Lock()
	defer a.mu.Unlock()
	for stop, ended := range a.followed {
		if closed || ended() {
			(*stop)()
		}
	}
	if a.looking = len(a.followed) > 0; a.looking {
		time.AfterFunc(lookAgain, a.look)
	}
}
