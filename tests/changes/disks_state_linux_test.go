package changes

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// placesOfDisk are which of the folders of a server are on the disk that fails.
var placesOfDisk = map[string][]string{"state": {"state"}, "cache": {"cache"}, "state and cache": {"state", "cache"}, "all": {"state", "cache", "Vault"}}

// batchesOfDisk are batches of a vault of [fillMany], and whether they can be made.
var batchesOfDisk = []struct {
	operations []map[string]any
	isWhole    bool
}{
	{[]map[string]any{
		{"clientId": "a", "command": "append", "params": map[string]any{"path": "hub.md", "content": "first"}},
		{"clientId": "b", "command": "property:set", "params": map[string]any{"path": "long.md", "name": "p", "value": "5"}},
		{"clientId": "c", "command": "rename", "params": map[string]any{"path": "P/n3.md", "name": "three"}},
	}, true},
	{[]map[string]any{
		{"clientId": "a", "command": "append", "params": map[string]any{"path": "hub.md", "content": "first"}},
		{"clientId": "b", "command": "tag:rename", "params": map[string]any{"name": "t", "to": "u"}},
		{"clientId": "c", "command": "read", "params": map[string]any{"path": "gone.md"}},
	}, false},
}

// readsOfState are commands that read what a server keeps.
var readsOfState = []string{"changes", "undo:list", "approvals", "history:list", "recent", "tags", "find"}

// stateServer is a server of which some folders are on a disk that fails.
type stateServer struct {
	t      *testing.T
	folder string
	env    []string
	vault  string
	server *harness.StdioServer
}

func serveFromBadDisk(t *testing.T, folder string, onDisk []string) *stateServer {
	t.Helper()
	s := &stateServer{t: t, folder: folder}
	at := map[string]string{}
	for _, name := range []string{"state", "cache", "Vault"} {
		at[name] = filepath.Join(folder, "good", name)
	}
	for _, name := range onDisk {
		at[name] = filepath.Join(folder, "disk", name)
	}
	for _, dir := range at {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	s.vault = at["Vault"]
	s.env = []string{"HOME=" + filepath.Join(folder, "good"), "XDG_STATE_HOME=" + at["state"],
		"XDG_CACHE_HOME=" + at["cache"], "VAULTWICKET_NOW=2026-11-21T09:30:00+01:00"}
	return s
}

// start starts the server anew.
func (s *stateServer) start() {
	if s.server != nil {
		_ = s.server.End()
	}
	s.server = harness.StartSessionWith(s.t, s.env, append(harness.EverythingEnabled(s.vault), "--toolsets=batch", "--secrets=allow")...)
}

// do makes a call, and returns also all that was answered.
func (s *stateServer) do(words []string, key string) (result gateway.Result, all string) {
	s.t.Helper()
	params := map[string]any{}
	for _, word := range words[1:] {
		name, value, hasValue := strings.Cut(word, "=")
		params[name] = value
		if !hasValue {
			params[name] = true
		}
	}
	arguments := map[string]any{"command": words[0], "params": params}
	if key != "" {
		arguments["idempotencyKey"] = key
	}
	answer := require.Value(s.server.Exchange("tools/call", map[string]any{"name": "obsidianCli", "arguments": arguments}))(s.t)
	var message struct {
		Result struct{ StructuredContent gateway.Result }
	}
	require.NoError(s.t, json.Unmarshal(answer, &message))
	return message.Result.StructuredContent, string(answer)
}

// batch makes a batch, and returns its failure, nil for none, and all that was answered.
func (s *stateServer) batch(operations []map[string]any) (code string, all string) {
	s.t.Helper()
	arguments := map[string]any{"operations": operations, "atomic": true}
	answer := require.Value(s.server.Exchange("tools/call", map[string]any{"name": "obsidianBatch", "arguments": arguments}))(s.t)
	var message struct {
		Result struct{ StructuredContent gateway.BatchResult }
	}
	require.NoError(s.t, json.Unmarshal(answer, &message))
	result := message.Result.StructuredContent
	switch {
	case result.OK:
		return "ok", string(answer)
	case result.Error != nil:
		return result.Error.Code, string(answer)
	}
	return failure.CodeNotApplied, string(answer)
}

// TestAnswersAreTrueWhereTheStateFails has a server whose journal, audit log, keys and caches, with or without the vault, are on
// a disk that begins to fail at some operation: once, some times, or until it is healed. It reads, changes and takes back,
// alone and in batches. Each answer is true of the vault and names no folder of the machine. After the disk is healed
// everything is answered again, nothing is left in the vault, and the audit log is whole.
func TestAnswersAreTrueWhereTheStateFails(t *testing.T) {
	tries := testenv.Count(40, 800)
	random := rand.New(rand.NewPCG(46, 8))
	folder := testenv.MemoryFolder(t)
	d := mountBadDisk(t, folder, "disk")
	outcomes := map[string]int{}
	for _, place := range []string{"state", "cache", "state and cache", "all"} {
		require.Equal(t, d.tell("heal"), "0")
		for _, name := range []string{"good", "files/state", "files/cache", "files/Vault"} {
			require.NoError(t, os.RemoveAll(filepath.Join(folder, name)))
		}
		s := serveFromBadDisk(t, folder, placesOfDisk[place])
		s.start()
		old, done := map[int]map[string]string{}, map[int]map[string]string{}
		for n := range tries / len(placesOfDisk) {
			if random.IntN(8) == 0 {
				s.start()
			}
			s.try(d, n, place, random, old, done, outcomes)
		}
		verify := osexec.Command(harness.Binary, "audit", "verify")
		verify.Env = s.env
		said, err := verify.CombinedOutput()
		assert.NoError(t, err, "%s: %s", place, said)
		_ = s.server.End()
	}
	t.Logf("%d tries: %v", tries, outcomes)
}

// prepare fills the vault, and does what is to be taken back.
func (s *stateServer) prepare(i int) {
	s.t.Helper()
	fillMany(s.t, s.vault)
	if i < len(ofMany) && ofMany[i].before != nil {
		result, all := s.do(ofMany[i].before, "")
		require.That(s.t, result.OK, "%q: %s", ofMany[i].before, all)
	}
}

// change makes the change with a number, of [ofMany] or of [batchesOfDisk], and returns its code, "ok" for a success.
func (s *stateServer) change(i int, key string) (code, all string, cause *failure.Error) {
	if i >= len(ofMany) {
		code, all = s.batch(batchesOfDisk[i-len(ofMany)].operations)
		return code, all, nil
	}
	result, all := s.do(ofMany[i].change, key)
	if result.OK {
		return "ok", all, nil
	}
	require.That(s.t, result.Error != nil, "%s", all)
	return result.Error.Code, all, result.Error
}

// try makes one call while the disk fails.
func (s *stateServer) try(d *badDisk, n int, place string, random *rand.Rand, old, done map[int]map[string]string, outcomes map[string]int) {
	t := s.t
	i := random.IntN(len(ofMany) + len(batchesOfDisk))
	if old[i] == nil {
		s.prepare(i)
		old[i] = everything(t, s.vault)
		if code, all, _ := s.change(i, ""); code != "ok" {
			isMeant := i >= len(ofMany) && !batchesOfDisk[i-len(ofMany)].isWhole
			require.That(t, isMeant, "%d: %s", i, all)
		}
		done[i] = everything(t, s.vault)
	}
	s.prepare(i)
	kind := diskFaults[random.IntN(len(diskFaults))]
	from := 1 + random.IntN(1<<random.IntN(7))
	count := []int{1, 2, 10, 0}[random.IntN(4)]
	key := ""
	if random.IntN(3) == 0 {
		key = fmt.Sprint(place, n)
	}
	require.Equal(t, d.tell("fault %s %s %d %d", kind.errno, kind.operations, from, count), "ok")
	read := readsOfState[random.IntN(len(readsOfState))]
	words := []string{read}
	if read == "find" {
		words = append(words, "query=word")
	}
	readResult, readAll := s.do(words, "")
	outcome, all, cause := s.change(i, key)
	failed := d.tell("heal")
	told := everything(t, s.vault)
	maps.DeleteFunc(told, func(name, _ string) bool { return strings.HasSuffix(name, ".tmp") })
	healed, healedAll := s.do([]string{"files", "total"}, "")
	now := everything(t, s.vault)
	when := fmt.Sprintf("%s, %d: change %d, %s of %s from %d, %d of them (%s failed): %s: %.600s", place, n, i,
		kind.errno, kind.operations, from, count, failed, outcome, all)
	assert.That(t, healed.OK, "%s: healed: %s", when, healedAll)
	for _, text := range []string{all, readAll} {
		for _, secret := range []string{filepath.Join(s.folder, "good"), filepath.Join(s.folder, "disk"), ".vaultwicket-"} {
			assert.That(t, !strings.Contains(text, secret), "%s: an answer names %s: %.900s", when, secret, text)
		}
		assert.That(t, !strings.Contains(text, `"internal"`), "%s: a bad disk is no fault of the program: %.900s", when, text)
	}
	if !readResult.OK {
		outcomes["read "+readResult.Error.Code]++
	}
	if failed != "0" {
		outcomes[kind.errno+" "+outcome]++
	}
	if outcome == "ok" {
		assert.That(t, maps.Equal(told, done[i]), "%s: when it was told, there were the differences %.300q", when, differ(told, done[i], ""))
	}
	if outcome == protocol.CodeVaultUnwritable && cause != nil {
		judgeParts(t, when, cause, told, old[i], done[i])
	}
	judgeDisk(t, when, outcome, now, old[i], done[i])
}
