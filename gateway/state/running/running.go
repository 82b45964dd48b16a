// Package running knows which servers of this user are running. Each one keeps a small
// file in a private folder, and a lock beside it as long as it lives: however a process
// ends, its lock ends with it, and no number of a process has to be believed.
//
// A file says who serves which vaults and since when. It has no path, no token and
// nothing of a call.
//
// Of this program the package imports only gateway/state/private.
package running

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"vaultwicket/gateway/state/private"
)

// Server is a server that is running.
type Server struct {
	// Session is the name of the process in the audit log and the journal.
	Session string    `json:"session"`
	PID     int       `json:"pid"`
	Since   time.Time `json:"since"`
	Version string    `json:"version"`
	// Transport is "stdio" or "http".
	Transport string   `json:"transport"`
	Vaults    []string `json:"vaults"`
	// Limits are those in force at the start; 0 is no limit.
	CallsMinute   int `json:"callsPerMinute"`
	ChangesMinute int `json:"mutationsPerMinute"`
	ChangesHour   int `json:"mutationsPerHour"`
}

// Folder returns the folder of the files in the state folder.
func Folder(state string) string { return filepath.Join(state, "servers") }

const (
	fileEnd   = ".json"
	lockEnd   = ".lock"
	maxFile   = 64 << 10 // a few hundred names of vaults
	maxListed = 256      // that are looked at: more servers than anybody runs
)

// Register notes that a server runs, until remove is called or the process ends. Its
// session must be a name of letters, digits and dashes.
func Register(dir string, s Server) (remove func(), err error) {
	if !isName(s.Session) {
		return nil, errors.New("the session has no name for a file")
	}
	if err := private.MakeFolder(private.Disk{}, dir); err != nil {
		return nil, err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	file, lock := filepath.Join(dir, s.Session+fileEnd), filepath.Join(dir, s.Session+lockEnd)
	unlock, err := tryLock(lock)
	if err != nil {
		return nil, err
	}
	if err := write(file, append(text, '\n')); err != nil {
		discard(file, lock, unlock)
		return nil, err
	}
	return func() { discard(file, lock, unlock) }, nil
}

// write makes a file that is not there. It need not survive the machine, so it is not made
// durable, which would cost a server milliseconds.
func write(name string, text []byte) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

func isName(session string) bool {
	return session != "" && len(session) <= 64 && strings.Trim(session, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// tryLock does not wait: a lock that is held is an error.
func tryLock(path string) (unlock func(), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return private.Lock(ctx, path, 0)
}

// discard removes the files of a server. A file that is open cannot be removed on every
// system, so the lock is released first.
func discard(file, lock string, unlock func()) {
	_ = os.Remove(file)
	unlock()
	_ = os.Remove(lock)
}

// List returns the servers that are running, the latest first, and removes what ended
// ones have left. A folder that is missing has none.
func List(dir string) ([]Server, error) {
	if err := private.CheckFolder(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var servers []Server
	for _, entry := range entries {
		session, found := strings.CutSuffix(entry.Name(), fileEnd)
		if !found || !isName(session) || len(servers) == maxListed {
			continue
		}
		if s, ok := lookAt(dir, session); ok {
			servers = append(servers, s)
		}
	}
	slices.SortFunc(servers, func(a, b Server) int {
		return cmp.Or(b.Since.Compare(a.Since), cmp.Compare(a.Session, b.Session))
	})
	return servers, nil
}

// lookAt returns the server of a file if it runs.
func lookAt(dir, session string) (s Server, ok bool) {
	file, lock := filepath.Join(dir, session+fileEnd), filepath.Join(dir, session+lockEnd)
	unlock, err := tryLock(lock)
	if err == nil {
		discard(file, lock, unlock)
		return s, false
	}
	if !errors.Is(err, context.Canceled) {
		return s, false // it cannot be told
	}
	text, err := private.Read(file, maxFile)
	if err != nil || len(text) > maxFile || json.Unmarshal(text, &s) != nil || s.Session != session {
		return Server{}, false
	}
	return s, true
}
