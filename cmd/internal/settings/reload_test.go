package settings

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// tightened is a gateway that only keeps what is in force.
type tightened struct {
	policies []policy.Policy
	limits   Limits
	disabled bool
}

func (g *tightened) Tighten(policies []policy.Policy, limits Limits) {
	g.policies = slices.Clone(g.policies)
	for i, p := range policies {
		g.policies[i] = p.Meet(g.policies[i])
	}
	has, wanted := rates(&g.limits), rates(&limits)
	for i := range has {
		*has[i] = policy.LowerRate(*has[i], *wanted[i])
	}
}

func (g *tightened) Disable() { g.disabled = true }

func rates(l *Limits) []*int { return []*int{&l.Calls, &l.Mutations, &l.MutationsHour} }

// allowsMore reports whether g allows something that other does not.
func (g tightened) allowsMore(other tightened) bool {
	for i := range g.policies {
		if len(g.policies[i].Stricter(other.policies[i])) > 0 {
			return true
		}
	}
	has, others := rates(&g.limits), rates(&other.limits)
	for i := range has {
		if *others[i] > 0 && (*has[i] == 0 || *has[i] > *others[i]) {
			return true
		}
	}
	return other.disabled && !g.disabled
}

// started is a server that was started with a settings file.
type started struct {
	tightened
	t        *testing.T
	file     string
	reloader *reloader
	messages *bytes.Buffer
}

func start(t *testing.T, content string, args ...string) *started {
	t.Helper()
	r := &started{t: t, file: writeSettings(t, content), messages: &bytes.Buffer{}}
	std := world(nil)
	std.Err = r.messages
	f := NewFlags("serve")
	s, _, err := f.Load(std, append(args, "--config="+r.file))
	require.NoError(t, err)
	for _, served := range s.Served {
		r.policies = append(r.policies, served.Policy)
	}
	r.limits, r.disabled = s.Limits, !s.Enabled
	r.reloader = newReloader(&r.tightened, f, s, std, terminal.NewLineLogger(std.Err, s.LogLevel))
	return r
}

// change writes the settings anew, and returns what the server says to them.
func (r *started) change(content string) string {
	r.t.Helper()
	require.NoError(r.t, os.WriteFile(r.file, []byte(content), 0o600))
	r.messages.Reset()
	r.reloader.reload(nil)
	assert.That(r.t, strings.Count(r.messages.String(), "\n") == 1, "not one line: %q", r.messages)
	return strings.TrimSuffix(strings.TrimPrefix(r.messages.String(), readAgain), "\n")
}

const readAgain = "vaultwicket: note: settings reloaded: "

func TestOnlyWhatIsStricterIsTaken(t *testing.T) {
	live := map[string]struct{ loose, strict string }{
		"tier": {`"v2"`, `"v1"`}, "disable": {`[]`, `["read"]`}, "enable-only": {`[]`, `["read"]`},
		"allow-mutations": {"true", "false"}, "allow-publish": {"true", "false"}, "allow-ui": {"true", "false"},
		"confirm": {`"never"`, `"writes"`}, "ask": {`"client"`, `"page"`}, "min-answer-time": {`"1s"`, `"3s"`},
		"max-grant": {`"2h"`, `"none"`}, "secrets": {`"allow"`, `"redact"`}, "suspicious": {`"off"`, `"ask"`},
		"remote-links": {`"allow"`, `"ask"`}, "shadow": {`["secrets"]`, `[]`},
		"exceptions": {`["secrets A # x"]`, `[]`}, "min-cli-version": {`"1.12.7"`, `"1.13.0"`},
		"private-property": {`["private"]`, `["private", "closed"]`}, "private-tags": {`[]`, `["private"]`},
		"rate": {"0", "10"}, "rate-mutations": {"20", "10"}, "rate-mutations-hour": {"0", "10"}, "enabled": {"true", "false"},
	}
	for _, row := range table {
		_, is := live[row.name]
		assert.That(t, is != row.fixed || row.name == "profile", "%s: is it taken by a running server or not?", row.name)
	}
	for name, values := range live {
		loose, strict := name+" = "+values.loose+"\n", name+" = "+values.strict+"\n"
		r := start(t, loose)
		before := r.tightened
		got := r.change(strict)
		assert.Equal(t, got, "stricter: "+name, "%s gets stricter: %s", name, got)
		assert.That(t, !r.allowsMore(before), "%s gets stricter: %s", name, got)
		assert.That(t, before.allowsMore(r.tightened), "%s gets stricter: %s", name, got)
		after := r.tightened
		got = r.change(strict)
		assert.Equal(t, got, "nothing became stricter", "%s stays: %s", name, got)
		assert.That(t, !r.allowsMore(after), "%s stays: %s", name, got)
		assert.That(t, !after.allowsMore(r.tightened), "%s stays: %s", name, got)
		if got := r.change(loose); got != "takes effect at the next start: "+name || r.allowsMore(after) || after.allowsMore(r.tightened) {
			t.Errorf("%s gets looser: %s", name, got)
		}
	}
}

func TestWhatIsFixedIsSaid(t *testing.T) {
	r := start(t, "")
	for _, row := range table {
		if !row.fixed {
			continue
		}
		got := r.change(row.name + " = " + samples[row.name].toml + "\n")
		assert.That(t, got == "takes effect at the next start: "+row.name, "%s: %s", row.name, got)
	}
}

func TestSeveralChangesAreOneLine(t *testing.T) {
	r := start(t, "tier = \"v1\"\nallow-mutations = true\n")
	got := r.change("tier = \"v2\"\nallow-mutations = false\nrate = 5\ntimeout = \"5s\"\n")
	assert.Equal(t, got, "stricter: allow-mutations, rate; takes effect at the next start: tier, timeout")
	p := r.policies[0]
	require.Equal(t, p.Ceiling, tiers.V1, "in force")
	require.That(t, !p.Mutations, "in force: %+v", p)
	assert.Equal(t, p.Origins["allow-mutations"], "file config.toml", "in force")
}

// TestAnOriginIsThatOfTheValueInForce keeps a refusal from naming a place where
// something else is.
func TestAnOriginIsThatOfTheValueInForce(t *testing.T) {
	r := start(t, "[profiles.home]\ntier = \"v1\"\n")
	r.change("profile = \"home\"\n[profiles.home]\ntier = \"v1\"\n")
	assert.Equal(t, r.policies[0].Origins["tier"], "default", "the tier in force comes from")
	r.change("profile = \"home\"\n[profiles.home]\ntier = \"v0\"\n")
	assert.Equal(t, r.policies[0].Origins["tier"], "profile home in config.toml", "the same tier comes from")
}

func TestAFlagStaysAboveTheFile(t *testing.T) {
	r := start(t, "tier = \"v1\"\n", "--tier=v2")
	if got := r.change("tier = \"v0\"\n"); got != "nothing became stricter" || r.policies[0].Ceiling != tiers.V2 {
		t.Errorf("%s, tier %v", got, r.policies[0].Ceiling)
	}
}

func TestABrokenFileKeepsWhatIsInForce(t *testing.T) {
	r := start(t, "tier = \"v1\"\n")
	before := r.tightened
	for _, content := range []string{"tier = \"v9\"\n", "teir = \"v0\"\n", "tier =", "profile = \"home\"\n"} {
		got := r.change(content)
		if !strings.HasPrefix(got,
			"vaultwicket: error: settings not reloaded, the previous ones stay in effect: settings file ") ||
			before.allowsMore(r.tightened) {
			t.Errorf("%q: %s", content, got)
		}
	}
	if runtime.GOOS == "windows" {
		return // modes are made up there
	}
	require.NoError(t, os.Chmod(r.file, 0o666))
	got := r.change("tier = \"v0\"\n")
	assert.Contains(t, got, "can be written by others", "an unsafe file")
	assert.That(t, !before.allowsMore(r.tightened), "an unsafe file: %s", got)
	require.NoError(t, os.Chmod(r.file, 0o600))
	assert.Equal(t, r.change("tier = \"v0\"\n"), "stricter: tier", "mended")
}

const twoVaults = "tier = \"v1\"\n[[vaults]]\nname = \"A\"\n[vaults.access]\n\"/\" = \"rw\"\n[[vaults]]\nname = \"B\"\n"

func TestVaultsAreTightenedOneByOne(t *testing.T) {
	r := start(t, twoVaults)
	got := r.change("tier = \"v1\"\n[[vaults]]\nname = \"B\"\ntier = \"v0\"\n[[vaults]]\nname = \"A\"\n[vaults.access]\n\"/\" = \"rwd\"\n\"Private\" = \"none\"\n")
	assert.Equal(t, got, `stricter: access of "A", tier of "B"; takes effect at the next start: access of "A"`)
	a, b := r.policies[0], r.policies[1]
	if a.Ceiling != tiers.V1 || b.Ceiling != tiers.V0 || a.Access.Level("x.md") != access.Write || a.Access.Level("Private/x.md") != access.None {
		t.Errorf("A: %v, %v; B: %v", a.Ceiling, a.Access, b.Ceiling)
	}
	got = r.change("tier = \"v0\"\n[[vaults]]\nname = \"B\"\ntier = \"v1\"\n[[vaults]]\nname = \"A\"\n")
	assert.Contains(t, got, `stricter: tier of "A"`, "a tier of a vault that is higher than the general one keeps the rest out")
}

func TestAVaultThatIsGoneIsClosed(t *testing.T) {
	r := start(t, twoVaults)
	assert.Equal(t, r.change("tier = \"v1\"\n[[vaults]]\nname = \"B\"\n[[vaults]]\nname = \"C\"\n"),
		`disabled, because not in the settings: "A"; served from the next start: "C"`)
	a := r.policies[0]
	require.Equal(t, a.Ceiling, tiers.None, "A is %+v", a)
	require.Equal(t, a.Origins["tier"], "file config.toml, which does not list this vault", "A is %+v", a)
	assert.Equal(t, r.policies[1].Ceiling, tiers.V1, "A is %+v", a)
	got := r.change(twoVaults)
	require.That(t, strings.HasPrefix(got, "takes effect at the next start: tier of \"A\""), "A is back: %s", got)
	assert.Equal(t, r.policies[0].Ceiling, tiers.None, "A is back")
	got = r.change("tier = \"v1\"\n")
	require.Equal(t, got, `disabled, because not in the settings: "B"`, "without tables")
	assert.Equal(t, r.policies[1].Ceiling, tiers.None, "without tables")
}

// TestAVaultThatIsAnotherIsClosed checks that a name alone does not make a vault.
func TestAVaultThatIsAnotherIsClosed(t *testing.T) {
	r := start(t, "[[vaults]]\nname = \"A\"\nfolder = \""+drive+"/a\"\n")
	got := r.change("[[vaults]]\nname = \"A\"\nfolder = \"" + drive + "/b\"\n")
	require.Contains(t, got, `not in the settings: "A"`)
	assert.Equal(t, r.policies[0].Ceiling, tiers.None)
}

func TestTheVaultOfAFlagIsClosedWithItsTable(t *testing.T) {
	r := start(t, twoVaults, "--vault=A")
	got := r.change("[[vaults]]\nname = \"B\"\n")
	require.Equal(t, got, `disabled, because not in the settings: "A"`)
	assert.Equal(t, r.policies[0].Ceiling, tiers.None)
}

func TestTheDefaultVaultChangesWithTheNextStart(t *testing.T) {
	r := start(t, "vault = \"A\"\ntier = \"v1\"\n")
	assert.Equal(t, r.change("vault = \"B\"\ntier = \"v0\"\n"), "stricter: tier; takes effect at the next start: vault")
}

// watched is a watch on a file in a world where time is made.
type watched struct {
	t              *testing.T
	file           string
	looks, reloads atomic.Int32
	asked          chan os.Signal
}

// watchIn runs story while a watch is looking at a file.
func watchIn(t *testing.T, story func(w *watched)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.toml")
	require.NoError(t, os.WriteFile(file, []byte("a"), 0o600))
	synctest.Test(t, func(t *testing.T) {
		w := &watched{t: t, file: file, asked: make(chan os.Signal, 1)}
		look := lookAt(file)
		counting := func() []fs.FileInfo { w.looks.Add(1); return look() }
		ctx, cancel := context.WithCancel(context.Background())
		go watch(ctx, counting, look(), w.asked, func() { w.reloads.Add(1) })
		story(w)
		cancel()
		synctest.Wait()
	})
}

func (w *watched) after(d time.Duration, wantReloads int) {
	w.t.Helper()
	time.Sleep(d) // of the fake clock
	synctest.Wait()
	got := int(w.reloads.Load())
	assert.That(w.t, got == wantReloads, "read %d times, want %d", got, wantReloads)
}

func (w *watched) write(content string) {
	require.NoError(w.t, os.WriteFile(w.file, []byte(content), 0o600))
}

func TestAFileIsLookedAtTwiceASecond(t *testing.T) {
	watchIn(t, func(w *watched) {
		w.after(lookEvery-time.Millisecond, 0)
		got := w.looks.Load()
		assert.That(t, got == 0, "looked %d times in the first moment", got)
		w.after(10*time.Second, 0)
		got = w.looks.Load()
		assert.That(t, got == 20, "looked %d times in ten seconds", got)
	})
}

func TestAFileIsReadWhenItHasSettled(t *testing.T) {
	watchIn(t, func(w *watched) {
		w.write("")
		w.after(lookEvery, 0) // seen, and it may be half written
		w.write("ab")
		w.after(settleFor, 0)
		w.after(settleFor, 1)
		w.after(10*time.Second, 1)
	})
}

func TestAFileThatGoesAndComes(t *testing.T) {
	watchIn(t, func(w *watched) {
		require.NoError(w.t, os.Remove(w.file))
		w.after(lookEvery, 0)
		w.after(settleFor, 1)
		w.write("back")
		w.after(lookEvery+settleFor, 2)
		w.after(10*time.Second, 2)
	})
}

func TestAFileThatIsAsItWasIsNotReadAgain(t *testing.T) {
	watchIn(t, func(w *watched) {
		other := w.file + ".away"
		require.NoError(w.t, os.Rename(w.file, other))
		w.after(lookEvery, 0)
		require.NoError(w.t, os.Rename(other, w.file))
		w.after(10*time.Second, 0)
	})
}

func TestASignalReadsAtOnce(t *testing.T) {
	watchIn(t, func(w *watched) {
		w.write("abc")
		w.asked <- os.Interrupt
		w.after(0, 1)
		w.after(10*time.Second, 1) // and not once more because the file had changed
	})
}

func TestAnEditIsReadWithinASecond(t *testing.T) {
	for phase := time.Duration(0); phase <= lookEvery; phase += lookEvery / 10 {
		watchIn(t, func(w *watched) {
			w.after(3*lookEvery+phase, 0)
			w.write("an edit")
			w.after(time.Second-50*time.Millisecond, 1)
		})
	}
}

// TestCallsGoOnWhileSettingsAreRead is for the race detector: calls are judged
// while the policy changes under them.
func TestCallsGoOnWhileSettingsAreRead(t *testing.T) {
	const loose = "tier = \"v3\"\nallow-mutations = true\n[[vaults]]\nname = \"A\"\n[vaults.access]\n\"/\" = \"rwd\"\n[[vaults]]\nname = \"B\"\n"
	const strict = "tier = \"v0\"\nrate = 1000\n[[vaults]]\nname = \"A\"\n[vaults.access]\n\"Private\" = \"none\"\n"
	file := writeSettings(t, loose)
	std := world(nil)
	f := NewFlags("serve")
	s, _, err := f.Load(std, []string{"--config=" + file})
	require.NoError(t, err)
	var vaults []gateway.Served
	for _, served := range s.Served {
		vaults = append(vaults, gateway.Served{Vault: gateway.Vault(served.Vault), Policy: served.Policy})
	}
	g := gateway.New(gateway.Config{Vaults: vaults, Limits: admission.Limits(s.Limits), Disabled: !s.Enabled,
		Session: "1-a", Getenv: std.Getenv, Log: terminal.NewLineLogger(std.Err, s.LogLevel)})
	r := newReloader(gatewayTightener{g}, f, s, std, terminal.NewLineLogger(std.Err, s.LogLevel))

	stop := make(chan struct{})
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				for _, listed := range g.Listing() {
					if listed.Denial != nil {
						_ = listed.Denial.Hint()
					}
				}
			}
		})
	}
	for _, content := range []string{strict, loose, "tier = ", strict} {
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		r.reload(nil)
	}
	close(stop)
	calls.Wait()
	open := allowed(g)
	require.That(t, !open["daily:append"], "open is %v", open)
	require.That(t, !open["files"], "open is %v", open)
	assert.That(t, open["daily:read"], "open is %v", open)
}

type gatewayTightener struct{ *gateway.Gateway }

func (t gatewayTightener) Tighten(policies []policy.Policy, limits Limits) {
	t.Gateway.Tighten(policies, admission.Limits(limits))
}

func allowed(g *gateway.Gateway) map[string]bool {
	open := map[string]bool{}
	for _, listed := range g.Listing() {
		open[listed.Name] = listed.Denial == nil
	}
	return open
}
