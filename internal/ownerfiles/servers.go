package ownerfiles

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Server is a running server of this user. Each server has a small file in a private folder, and
// holds a lock as long as it runs: however the process ends, the lock is released, so that no
// process id has to be trusted. The file contains no paths, no tokens and no data of calls.
type Server struct {
	// Session is the name of the process in the audit log and the journal.
	Session string    `json:"session"`
	PID     int       `json:"pid"`
	Since   time.Time `json:"since"`
	Version string    `json:"version"`
	// Transport is "stdio" or "http", or for a page that of package consent. The links of a page begin with URL.
	Transport string   `json:"transport"`
	URL       string   `json:"url,omitempty"`
	Vaults    []string `json:"vaults"`
	// The limits are those at the start of the server; 0 is no limit.
	CallsMinute   int `json:"callsPerMinute"`
	ChangesMinute int `json:"mutationsPerMinute"`
	ChangesHour   int `json:"mutationsPerHour"`
}

// ServersFolder returns the folder with the files of servers in the folder state.
func ServersFolder(state string) string { return filepath.Join(state, "servers") }

const (
	serverFile    = ".json"
	serverLock    = ".lock"
	maxServerFile = 64 << 10 // a few hundred names of vaults
	maxServers    = 256      // more servers than anybody runs
)

// RegisterServer records in the folder dir that a server runs. The record ends when remove is called or
// garbage-collected, or when the process ends. The session of s must consist of lower-case letters,
// digits and dashes.
func RegisterServer(dir string, s Server) (remove func(), err error) {
	if !isSession(s.Session) {
		return nil, errors.New("the session has no name for a file")
	}
	if err := MakeFolder(Disk{}, dir); err != nil {
		return nil, err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, s.Session+serverFile)
	lock := filepath.Join(dir, s.Session+serverLock)
	unlock, err := tryLock(lock)
	if err == nil && unlock == nil {
		err = errors.New("a server with the name of the session runs")
	}
	if err != nil {
		return nil, err
	}
	// The file is not needed after a crash of the machine, so it is not synced, which would take milliseconds.
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = out.Write(append(text, '\n'))
		err = errors.Join(err, out.Close())
	}
	if err != nil {
		removeServer(file, lock, unlock)
		return nil, err
	}
	return func() { removeServer(file, lock, unlock) }, nil
}

func isSession(session string) bool {
	return session != "" && len(session) <= 64 && strings.Trim(session, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// removeServer removes the files of a server. The lock is released before its file is removed, because
// not every system can remove open files.
func removeServer(file, lock string, unlock func()) {
	_ = os.Remove(file)
	unlock()
	_ = os.Remove(lock)
}

// Servers returns the running servers, the latest first, and removes the files of servers that have
// ended. If the folder is missing, there are no servers.
func Servers(dir string) ([]Server, error) {
	if err := CheckFolder(dir); errors.Is(err, fs.ErrNotExist) {
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
		session, found := strings.CutSuffix(entry.Name(), serverFile)
		if !found || !isSession(session) || len(servers) == maxServers {
			continue
		}
		file := filepath.Join(dir, session+serverFile)
		lock := filepath.Join(dir, session+serverLock)
		unlock, err := tryLock(lock)
		if unlock != nil { // it has ended
			removeServer(file, lock, unlock)
		}
		if unlock != nil || err != nil { // it has ended, or this is not known
			continue
		}
		var s Server
		text, err := Read(file, maxServerFile)
		isRead := err == nil && len(text) <= maxServerFile && json.Unmarshal(text, &s) == nil
		if isRead && s.Session == session {
			servers = append(servers, s)
		}
	}
	slices.SortFunc(servers, func(a, b Server) int {
		return cmp.Or(b.Since.Compare(a.Since), cmp.Compare(a.Session, b.Session))
	})
	return servers, nil
}

// agentEnd separates the agent from the rest of the name of a caller. Names of agents and sessions
// do not contain it.
const agentEnd = "/"

// CallerOf returns the name of a caller that acts for an agent: AGENT/CALLER. Without an agent, it
// returns caller.
func CallerOf(agent, caller string) string {
	if agent == "" {
		return caller
	}
	return agent + agentEnd + caller
}

// AgentOf returns the agent in the name of a caller, "" for none.
func AgentOf(caller string) string {
	agent, _, acts := strings.Cut(caller, agentEnd)
	if !acts {
		return ""
	}
	return agent
}

// SessionOf returns the name of a caller without the agent.
func SessionOf(caller string) string {
	_, session, acts := strings.Cut(caller, agentEnd)
	if !acts {
		return caller
	}
	return session
}
