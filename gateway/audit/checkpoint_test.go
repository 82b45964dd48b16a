package audit

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// signedLog writes a log of both parts with a checkpoint now and then, and returns the state folder,
// and the lines of each part.
func signedLog(t *testing.T, calls int) (state string, lasting, routine []Line) {
	t.Helper()
	state = filepath.Join(t.TempDir(), "state")
	logs := OpenLogs(state)
	points := NewCheckpoints(state, StateKey(state))
	for i := range calls {
		line := Line{Kind: "decision", Command: "append", Client: fmt.Sprintf("client-%d", i), Decision: "allow"}
		write := logs.Write
		if i%2 == 0 {
			write = logs.WriteLasting
		}
		require.NoError(t, write(line, Buffered))
		if i%20 == 19 {
			require.NoError(t, points.Sign())
		}
	}
	return state, allLines(t, AuditFolder(state)), allLines(t, CallsFolder(state))
}

func allLines(t *testing.T, dir string) (lines []Line) {
	t.Helper()
	for line, err := range List(t.Context(), dir, Filter{}) {
		require.NoError(t, err)
		lines = append(lines, line)
	}
	return lines
}

// keptElsewhere is a file of the checkpoints of a log, in other lines.
func keptElsewhere(t *testing.T, lines []Line) string {
	t.Helper()
	text := "not JSON\n{\"checkpoint\":null}\n"
	for _, line := range lines {
		encoded := require.Value(json.Marshal(line))(t)
		text += string(encoded) + "\n"
	}
	return text
}

// rewritten writes all lines of a log anew, as someone could who may write to the state folder.
func rewritten(t *testing.T, lasting, routine []Line) (state string) {
	t.Helper()
	state = filepath.Join(t.TempDir(), "state")
	logs := OpenLogs(state)
	for dir, lines := range map[*Log][]Line{logs.lasting: lasting, logs.calls: routine} {
		for _, line := range lines {
			require.NoError(t, dir.Write(line, Buffered))
		}
	}
	return state
}

// A log that was written anew as a whole, with one line changed, left out, added or moved in a drawn
// place, is intact for verify, and does not match the checkpoints.
func TestCheckpointsFindALogThatWasWrittenAnew(t *testing.T) {
	state, lasting, routine := signedLog(t, 400)
	kept := keptElsewhere(t, lasting)
	r, err := VerifyCheckpoints(t.Context(), state, "", strings.NewReader(kept), time.Now())
	require.NoError(t, err)
	require.Equal(t, r.Broken, "")
	require.Equal(t, r.Checkpoints, 20)
	require.That(t, r.Key != "", "%+v, %v", r, err)
	draws := rand.New(rand.NewPCG(30, 3))
	for i := range testenv.Count(25, 100) {
		parts := [2][]Line{slices.Clone(lasting), slices.Clone(routine)}
		part := draws.IntN(2)
		lines := parts[part]
		at := draws.IntN(len(lines) - 25) // the last checkpoint covers it
		how := []string{"changed", "left out", "added", "moved", "cut"}[draws.IntN(5)]
		switch how {
		case "changed":
			lines[at].Client = "mallory"
		case "left out":
			lines = slices.Delete(lines, at, at+1)
		case "added":
			lines = slices.Insert(lines, at, Line{Kind: "decision", Client: "mallory"})
		case "moved":
			lines[at], lines[at+1] = lines[at+1], lines[at]
		case "cut":
			lines = lines[:at]
		}
		parts[part] = lines
		forged := rewritten(t, parts[0], parts[1])
		for _, dir := range []string{AuditFolder(forged), CallsFolder(forged)} {
			r, err := Verify(t.Context(), dir)
			require.Equal(t, err, nil, "the log that was written anew")
			require.That(t, r.Broken == nil, "the log that was written anew: %+v, %v", r, err)
		}
		r, err := VerifyCheckpoints(t.Context(), forged, "", strings.NewReader(kept), time.Now())
		require.Equal(t, err, nil, "place %d: line %d of part %d was %s", i, at, part, how)
		assert.That(t, r.Broken != "", "place %d: line %d of part %d was %s: %+v, %v", i, at, part, how, r, err)
	}
	r, err = VerifyCheckpoints(t.Context(), rewritten(t, lasting, routine), "", strings.NewReader(kept), time.Now())
	require.Equal(t, err, nil, "the same lines")
	assert.Equal(t, r.Broken, "", "the same lines")
}

func TestAFileOfCheckpointsIsChecked(t *testing.T) {
	state, lasting, _ := signedLog(t, 60)
	_, others, _ := signedLog(t, 60)
	kept, foreign := keptElsewhere(t, lasting), keptElsewhere(t, others)
	public, _ := StateKey(state).Public()
	key := base64.StdEncoding.EncodeToString(public)
	for name, test := range map[string]struct{ text, key, want string }{
		"as it is":           {kept, key, ""},
		"twice":              {kept + kept, "", ""},
		"empty":              {"", "", ""},
		"of another log":     {foreign, "", "is missing"},
		"of another key":     {foreign, key, "another key"},
		"two keys":           {kept + foreign, "", "another key"},
		"a text was changed": {strings.Replace(kept, `\"seq\":10,`, `\"seq\":11,`, 1), "", "was changed"},
		"a signature":        {strings.Replace(kept, `"signature":"`, `"signature":"A`, 1), "", "cannot be read"},
		"no key":             {kept, "AAAA", "cannot be read"},
	} {
		r, err := VerifyCheckpoints(t.Context(), state, test.key, strings.NewReader(test.text), time.Now())
		if err != nil || (test.want == "") != (r.Broken == "") || !strings.Contains(r.Broken, test.want) {
			// The lines of another log have other hashes, or other numbers.
			if name == "of another log" && err == nil && r.Broken != "" {
				continue
			}
			t.Errorf("%s: %+v, %v, want %q", name, r, err, test.want)
		}
	}
	_, err := VerifyCheckpoints(t.Context(), state, "", strings.NewReader(strings.Repeat("x", maxCheckpointLine+1)), time.Now())
	assert.That(t, err != nil, "a line without an end was read")
}

// wrongSigner signs with another key than it says.
type wrongSigner struct{ Signer }

func (wrongSigner) Sign(text []byte) ([]byte, error) {
	return ed25519.Sign(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), text), nil
}

// Nothing is written where nothing happened, and no checkpoint with a wrong signature.
func TestCheckpointsAreWrittenWhenThereIsSomethingToSign(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	points := NewCheckpoints(state, StateKey(state))
	count := func() int { return len(allLines(t, AuditFolder(state))) }
	for range 2 {
		err := points.Sign()
		require.Equal(t, err, nil, "of no log")
		require.Equal(t, count(), 0, "of no log")
	}
	require.NoError(t, OpenLogs(state).Write(Line{Kind: "decision", Decision: "allow"}, Buffered))
	for range 3 {
		err := points.Sign()
		require.Equal(t, err, nil, "%d lines", count())
		require.Equal(t, count(), 1, "%d lines", count())
	}
	err := NewCheckpoints(state, wrongSigner{StateKey(state)}).Sign()
	assert.That(t, err != nil, "%v, %d lines", err, count())
	assert.Equal(t, count(), 1, "%v, %d lines", err, count())
}

// Lines that were removed for their age are no fault, and those that are too young are one.
func TestCheckpointsOfRemovedLines(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	logs := Logs{lasting: Open(AuditFolder(state), Limits{FileSize: 2000, Files: 2}), calls: Open(CallsFolder(state), Limits{})}
	points := NewCheckpoints(state, StateKey(state))
	points.log = logs
	var kept string
	for i := range 60 {
		require.NoError(t, logs.WriteLasting(Line{Kind: "decision", Command: "append"}, Buffered))
		if i == 1 {
			require.NoError(t, points.Sign())
			kept = keptElsewhere(t, allLines(t, AuditFolder(state)))
		}
	}
	for age, broken := range map[time.Duration]bool{time.Hour: true, keptFor - time.Hour: true, keptFor + time.Hour: false} {
		r, err := VerifyCheckpoints(t.Context(), state, "", strings.NewReader(kept), time.Now().Add(age))
		require.Equal(t, err, nil, "after %v", age)
		require.Equal(t, r.Broken != "", broken, "after %v", age)
		assert.That(t, broken || r.Removed == 1, "after %v: %+v, %v", age, r, err)
	}
}
