package consent

import (
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

func TestAQuestionIsAskedAnsweredAndRedeemedOnce(t *testing.T) {
	d, c := newStore(t)
	q := ask(t, d, about(1))
	code, ok := parseCode(q.Code)
	require.That(t, ok, "code %q", q.Code)
	require.Equal(t, displayCode(code), q.Code, "code %q", q.Code)
	assert.Equal(t, len(q.Code), 9, "code %q", q.Code)
	assert.Equal(t, q.State, Pending)
	assert.That(t, q.Made.Equal(c.now()), "%+v", q)
	assert.Equal(t, q.Expires.Sub(q.Made), Life)
	wantUngranted(t, d, q, Pending)
	approved := require.Value(d.Approve(q.Code))(t)
	want := q
	want.State = Approved
	assert.That(t, reflect.DeepEqual(approved, want), "%+v, want %+v", approved, want)
	list, damaged := listed(t, d)
	require.Equal(t, len(list), 1)
	require.Equal(t, len(damaged), 0)
	assert.That(t, reflect.DeepEqual(list[0], want), "%+v, %v", list, damaged)
	// Asking again does not undo the answer.
	again := ask(t, d, about(1))
	assert.That(t, reflect.DeepEqual(again, want), "%+v", again)
	grant := require.Value(redeem(d, q))(t)
	assert.Equal(t, grant.State, Approved)
	assert.That(t, reflect.DeepEqual(grant, want), "%+v", grant)
	wantUngranted(t, d, q, Unasked)
	var unknown *Unknown
	_, err := d.Approve(q.Code)
	assert.That(t, errors.As(err, &unknown), "a used question: %v", err)
	next := ask(t, d, about(1))
	assert.That(t, next.Code != q.Code, "%+v", next)
	assert.Equal(t, next.State, Pending)
}

func TestAskingAgainGivesTheSameQuestion(t *testing.T) {
	d, c := newStore(t)
	first := ask(t, d, about(1))
	c.pass(Life - 1)
	other := about(1)
	other.Expires, other.Text = c.now().Add(time.Hour), "something harmless"
	again := ask(t, d, other)
	assert.That(t, reflect.DeepEqual(again, first), "%+v, want %+v", again, first)
	c.pass(1)
	assert.That(t, ask(t, d, about(1)).Code != first.Code, "it lived longer than it was to")
	list, _ := listed(t, d)
	assert.That(t, len(list) == 1, "%d questions", len(list))
}

func TestAYesIsForOneCallOnly(t *testing.T) {
	d, _ := newStore(t)
	q := ask(t, d, about(1))
	require.Value(d.Approve(q.Code))(t)
	for name, change := range map[string]func(*StoredQuestion){
		"another vault":   func(q *StoredQuestion) { q.Vault = "notes" },
		"another call":    func(q *StoredQuestion) { q.Digest[31] ^= 1 },
		"another session": func(q *StoredQuestion) { q.Session += "1" },
		"swapped":         func(q *StoredQuestion) { q.Vault, q.Session = q.Session, q.Vault },
	} {
		other := q
		change(&other)
		t.Run(name, func(t *testing.T) { wantUngranted(t, d, other, Unasked) })
	}
	for name, bad := range map[string]Bound{
		"no vault": {"", q.Digest, q.Session}, "no digest": {q.Vault, Digest{}, q.Session}, "no session": {q.Vault, q.Digest, ""},
	} {
		var invalid *Invalid
		grant, err := d.Redeem(bad.Vault, bad.Digest, q.Call, bad.Caller)
		assert.That(t, grant.State != Approved, "%s: %v", name, err)
		assert.That(t, errors.As(err, &invalid), "%s: %v", name, err)
	}
	require.Value(redeem(d, q))(t)
}

func TestAQuestionExpires(t *testing.T) {
	for name, answer := range map[string]func(*Store, string) (StoredQuestion, error){
		"pending":  func(*Store, string) (StoredQuestion, error) { return StoredQuestion{}, nil },
		"approved": (*Store).Approve,
		"denied":   (*Store).Deny,
	} {
		t.Run(name, func(t *testing.T) {
			d, c := newStore(t)
			q := ask(t, d, about(1))
			require.Value(answer(d, q.Code))(t)
			c.pass(Life)
			var unknown *Unknown
			_, err := d.Approve(q.Code)
			assert.That(t, errors.As(err, &unknown), "approved late: %v", err)
			wantUngranted(t, d, q, Unasked) // dropped by the try to approve it
			q = ask(t, d, about(1))
			require.Value(answer(d, q.Code))(t)
			c.pass(Life)
			wantUngranted(t, d, q, Unasked)
			ask(t, d, about(1))
			c.pass(Life)
			list, damaged := listed(t, d)
			assert.Equal(t, len(list)+len(damaged), 0, "%v, %v", list, damaged)
			names, err := os.ReadDir(d.dir)
			require.Equal(t, err, nil, "%v is left, %v", names, err)
			assert.Equal(t, len(names), 1, "%v is left, %v", names, err)
		})
	}
}

func TestAClockThatIsPutBackBringsNothingBack(t *testing.T) {
	d, c := newStore(t)
	q := ask(t, d, about(1))
	require.Value(d.Approve(q.Code))(t)
	path, data := fileOf(t, d, q)
	c.pass(-maxClockStep)
	wantUngranted(t, d, q, Unasked)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	c.pass(1) // as much as time services do
	require.Value(redeem(d, q))(t)
}

func TestACodeIsReadAsAPersonTypesIt(t *testing.T) {
	d, _ := newStore(t)
	for n, spell := range []func(string) string{
		func(code string) string { return code },
		strings.ToLower,
		func(code string) string { return strings.ReplaceAll(code, "-", "") },
		func(code string) string { return strings.ToLower(strings.ReplaceAll(code, "-", "")) },
		func(code string) string { return code[:2] + "-" + code[2:] },
	} {
		require.Value(d.Approve(spell(ask(t, d, about(byte(n+1))).Code)))(t)
	}
	q := ask(t, d, about(100))
	other := "2222-2222"
	if q.Code == other {
		other = "3333-3333"
	}
	for _, typed := range []string{
		"", "-", other, q.Code[:8], q.Code + "2", " " + q.Code, q.Code + "\n", "../" + q.Code, q.Code + recordSuffix,
		strings.Replace(q.Code, q.Code[:1], "0", 1), strings.Replace(q.Code, q.Code[:1], "ſ", 1),
		strings.Replace(q.Code, q.Code[:1], "\x00", 1), "desk.lock", strings.Repeat("2", 1<<20),
	} {
		for _, act := range []func(string) (StoredQuestion, error){d.Approve, d.Deny} {
			var unknown *Unknown
			got, err := act(typed)
			require.That(t, errors.As(err, &unknown), "%.40q: %+v, %v", typed, got, err)
			require.Equal(t, got.Code, "", "%.40q", typed)
			assert.That(t, len(err.Error()) <= 300, "%.40q: %+v, %v", typed, got, err)
		}
	}
	wantUngranted(t, d, q, Pending)
}

// There are letters outside of ASCII whose capitals are in the alphabet.
func TestACodeIsOfItsAlphabetOnly(t *testing.T) {
	for _, typed := range []string{"ſ2345678", "\u212a2345678", "２2345678", "0BCDEFGH", "iBCDEFGH", "lBCDEFGH"} {
		code, ok := parseCode(typed)
		assert.That(t, !ok, "%q is %q", typed, code)
	}
}

func TestCodesAreEvenAndUnambiguous(t *testing.T) {
	assert.That(t, !strings.ContainsAny(alphabet, "01OIL"), "alphabet %q", alphabet)
	assert.Equal(t, len(alphabet), 31, "alphabet %q", alphabet)
	const codes = 31 * 1000
	source := rand.NewChaCha8([32]byte{1}) // with others, two of so many codes are the same one time in 1,800
	count, seen := map[rune]int{}, map[string]bool{}
	for range codes {
		code := codeFrom(source)
		require.That(t, isCode(code), "%q, seen %v", code, seen[code])
		require.That(t, !seen[code], "%q, seen %v", code, seen[code])
		seen[code] = true
		for _, r := range code {
			count[r]++
		}
	}
	for _, r := range alphabet { // 8000 each, and a deviation of 88
		require.That(t, count[r] >= 7500, "%c comes %d times", r, count[r])
		assert.That(t, count[r] <= 8500, "%c comes %d times", r, count[r])
	}
}

func TestQuestionsAreBounded(t *testing.T) {
	d, c := newStore(t)
	var first StoredQuestion
	for n := range maxPending - 1 { // the last one could only be that of somebody who has none: a half of two
		q := ask(t, d, by(byte(n+1)))
		if n == 0 {
			first = q
		}
	}
	_, err := d.Ask(by(200))
	assert.That(t, errors.Is(err, errTooMany), "one more: %v", err)
	assert.Equal(t, ask(t, d, by(1)).Code, first.Code, "one that is there")
	require.Value(d.Deny(first.Code))(t)
	ask(t, d, by(200)) // the user has made room
	c.pass(Life)
	ask(t, d, by(201))
}

// An agent that asks very much from many sessions takes no room from others, and has none approved.
func TestANewcomerGetsAShare(t *testing.T) {
	d, _ := newStore(t)
	asks := testenv.Count(300, 10_000)
	stored := 0
	for n := range asks {
		q := about(byte(n))
		q.Session = fmt.Sprint("crowd/", n/4, "-session")
		q.Digest[1], q.Call[1] = byte(n>>8), byte(n>>8)
		if _, err := d.Ask(q); err == nil {
			stored++
		}
	}
	assert.Equal(t, stored, maxOpen, "questions of one agent")
	for n := range 8 {
		q := about(byte(n))
		q.Session = "newcomer/1-session"
		ask(t, d, q)
	}
	list, _ := listed(t, d)
	own := 0
	for _, q := range list {
		if q.Session == "newcomer/1-session" {
			own++
		}
		assert.Equal(t, q.State, Pending, q.Session)
	}
	assert.Equal(t, own, maxOpen, "questions of the newcomer")
	assert.Equal(t, len(list), 2*maxOpen, "questions of both")
}

// TestAQuestionIsAskedAgainInTheLastPlace: a question about the same call on changed notes takes the place of the earlier
// one, also for an agent that has all of its questions open.
func TestAQuestionIsAskedAgainInTheLastPlace(t *testing.T) {
	d, _ := newStore(t)
	for n := range maxOpen {
		q := about(byte(n))
		q.Session = "asking/1-session"
		ask(t, d, q)
	}
	q := about(0)
	q.Session = "asking/1-session"
	q.Digest[1] = 1
	ask(t, d, q)
	list, _ := listed(t, d)
	assert.Equal(t, len(list), maxOpen, "open questions")
}

// by is a question that a session of its own asks.
func by(n byte) StoredQuestion {
	q := about(n)
	q.Session = fmt.Sprint("session ", n)
	return q
}

// TestSessionsOfAnAgentShareItsQuestions: an agent has eight questions open over all its sessions, and however many agents
// there are, another one gets a part of what they leave.
func TestSessionsOfAnAgentShareItsQuestions(t *testing.T) {
	d, _ := newStore(t)
	pending := 0
	var counts []int
	for agent := range 12 {
		own := 0
		for session := range 8 {
			for n := range 3 {
				q := about(byte(10*session + n))
				q.Session = fmt.Sprintf("agent%d/session-%d", agent, session)
				q.Digest[1] = byte(agent)
				if _, err := d.Ask(q); err == nil {
					own++
				}
			}
		}
		pending += own
		counts = append(counts, own)
	}
	assert.Equal(t, fmt.Sprint(counts), "[8 8 8 8 8 8 8 4 2 1 0 0]", "open questions of each agent")
	assert.That(t, pending < maxPending, "%d are open", pending)
}

// A session has eight questions open, whichever calls they are about; others have theirs.
func TestASessionHasEightOpenQuestions(t *testing.T) {
	d, c := newStore(t)
	first := ask(t, d, about(1))
	var open *StillOpen
	for n := range 70 {
		_, err := d.Ask(about(byte(n + 2)))
		if n < 7 {
			require.NoError(t, err)
			continue
		}
		require.That(t, errors.As(err, &open), "question %d: %v", n+2, err)
		require.Equal(t, open.Questions, 8, "question %d", n+2)
	}
	list, _ := listed(t, d)
	assert.That(t, len(list) == 8, "%d questions", len(list))
	other := about(2)
	other.Session = "another"
	ask(t, d, other)
	assert.Equal(t, ask(t, d, about(1)).Code, first.Code, "the same call")
	for _, answer := range []func(string) (StoredQuestion, error){d.Approve, d.Deny} {
		require.Value(answer(first.Code))(t)
		first = ask(t, d, about(30)) // an answered one is not open
	}
	last := ask(t, d, about(31))
	theirs := last
	theirs.Session = "another"
	var answered *Answered
	err := d.Withdraw(theirs)
	assert.That(t, errors.As(err, &answered), "the question of another session is withdrawn: %v", err)
	require.NoError(t, d.Withdraw(last))
	var unknown *Unknown
	err = d.Withdraw(last)
	assert.That(t, errors.As(err, &unknown), "withdrawn twice: %v", err)
	ask(t, d, about(32)) // neither is one that was withdrawn
	c.pass(Life)
	ask(t, d, about(4)) // neither is one that has expired
}

// A question about the same call on other notes takes the place of the first one,
// which no one can answer any more.
func TestAQuestionAboutTheSameCallTakesThePlace(t *testing.T) {
	d, _ := newStore(t)
	first, second := about(1), about(2)
	first.Call, second.Call = Digest{9}, Digest{9}
	old := ask(t, d, first)
	fresh := ask(t, d, second)
	list, _ := listed(t, d)
	require.Equal(t, len(list), 1)
	require.Equal(t, list[0].Code, fresh.Code)
	assert.That(t, fresh.Code != old.Code, "%+v", list)
	var unknown *Unknown
	_, err := d.Approve(old.Code)
	assert.That(t, errors.As(err, &unknown), "the first one: %v", err)
	for name, change := range map[string]func(*StoredQuestion){"another vault": func(q *StoredQuestion) { q.Vault = "Home" },
		"no call":      func(q *StoredQuestion) { q.Call = Digest{} },
		"another call": func(q *StoredQuestion) { q.Call = Digest{8} }} {
		other := about(3)
		other.Call = Digest{9}
		change(&other)
		other.Digest = Digest{byte(len(name))}
		before, _ := listed(t, d)
		ask(t, d, other)
		after, _ := listed(t, d)
		assert.Equal(t, len(after), len(before)+1, "%s: it takes the place", name)
	}
}

// A no is known by the call, whatever the notes are by then, for ten minutes from
// when it was said.
func TestANoIsForTheCall(t *testing.T) {
	d, c := newStore(t)
	q := about(1)
	q.Call = Digest{9}
	denied := func(vault string, call CallDigest, session string) bool {
		t.Helper()
		_, err := d.Redeem(vault, Digest{7}, call, session)
		ungranted, ok := errors.AsType[*Ungranted](err)
		require.That(t, ok, "%v", err)
		return ungranted.State == Denied
	}
	code := ask(t, d, q).Code
	assert.That(t, !denied(q.Vault, q.Call, q.Session), "asked, and denied")
	c.pass(Life - time.Second)
	require.Value(d.Deny(code))(t)
	c.pass(Life - time.Second)
	assert.That(t, denied(q.Vault, q.Call, q.Session), "denied, and not known")
	for i, got := range []bool{denied("other", q.Call, q.Session), denied(q.Vault, Digest{8}, q.Session),
		denied(q.Vault, Digest{}, q.Session), denied(q.Vault, q.Call, "other")} {
		assert.That(t, !got, "another one, %d, is denied", i)
	}
	if _, damaged := listed(t, d); len(damaged) > 0 {
		t.Errorf("%v", damaged[0])
	}
	c.pass(time.Second)
	assert.That(t, !denied(q.Vault, q.Call, q.Session), "ten minutes later it is denied")
}

func TestAnsweredQuestionsAreBoundedToo(t *testing.T) {
	d, _ := newStore(t)
	q := ask(t, d, by(1))
	for n := range maxKept {
		q.Code, q.State, q.Digest[1] = displayCode(codeFrom(crand.Reader)), Denied, byte(n)
		require.NoError(t, d.save(q))
	}
	_, err := d.Ask(by(200))
	assert.That(t, errors.Is(err, errTooMany), "%v", err)
}

func TestWhatCannotBeAsked(t *testing.T) {
	d, _ := newStore(t)
	for name, spoil := range map[string]func(*StoredQuestion){
		"no digest":             func(q *StoredQuestion) { q.Digest = Digest{} },
		"no session":            func(q *StoredQuestion) { q.Session = "" },
		"no vault":              func(q *StoredQuestion) { q.Vault = "" },
		"no command":            func(q *StoredQuestion) { q.Command = "" },
		"no text":               func(q *StoredQuestion) { q.Text = "" },
		"too long a text":       func(q *StoredQuestion) { q.Text = strings.Repeat("a", maxText+1) },
		"too long a name":       func(q *StoredQuestion) { q.Client = strings.Repeat("a", maxField+1) },
		"an escape sequence":    func(q *StoredQuestion) { q.Text = "\x1b[2Jsafe" },
		"a line that is redone": func(q *StoredQuestion) { q.Text = "delete\rread" },
		"a turned line":         func(q *StoredQuestion) { q.Text = "a\u202eb" },
		"a line end in a name":  func(q *StoredQuestion) { q.Client = "agent\nvault: Other" },
		"another line end":      func(q *StoredQuestion) { q.Effect = "reads\u2028" },
		"no UTF-8":              func(q *StoredQuestion) { q.Vault = "\xff" },
	} {
		q := about(1)
		spoil(&q)
		var invalid *Invalid
		got, err := d.Ask(q)
		require.That(t, errors.As(err, &invalid), "%s: %+v, %v", name, got, err)
		assert.Equal(t, got.Code, "", "%s", name)
	}
	_, err := os.Stat(d.dir)
	assert.That(t, os.IsNotExist(err), "a folder was made: %v", err)
}

func TestWhatTheCallerGivesForTheRestIsIgnored(t *testing.T) {
	d, _ := newStore(t)
	q := about(1)
	q.Code, q.State, q.Made = "../../evil", Approved, time.Unix(0, 0)
	asked := ask(t, d, q)
	assert.Equal(t, asked.State, Pending)
	assert.That(t, asked.Code != q.Code, "%+v", asked)
	assert.That(t, !asked.Made.Equal(q.Made), "%+v", asked)
	wantUngranted(t, d, q, Pending)
}

func TestTheLargestQuestionCanBeReadAgain(t *testing.T) {
	d, _ := newStore(t)
	q := about(1)
	q.Text = strings.Repeat("\n", maxText/2) + strings.Repeat("<", maxText/2)
	for _, field := range []*string{&q.Session, &q.Client, &q.Vault, &q.Command, &q.Effect} {
		*field = strings.Repeat("<", maxField)
	}
	asked := ask(t, d, q)
	_, data := fileOf(t, d, asked)
	assert.That(t, len(data) <= maxRecord, "%d bytes", len(data))
	list, damaged := listed(t, d)
	require.Equal(t, len(list), 1)
	require.Equal(t, len(damaged), 0)
	assert.That(t, reflect.DeepEqual(list[0], asked), "%d, %v", len(list), damaged)
}

func TestLookingMakesNothing(t *testing.T) {
	d, _ := newStore(t)
	listed(t, d)
	wantUngranted(t, d, about(1), Unasked)
	var unknown *Unknown
	_, err := d.Approve("2222-2222")
	assert.That(t, errors.As(err, &unknown), "%v", err)
	_, err = os.Stat(filepath.Dir(d.dir))
	assert.That(t, os.IsNotExist(err), "a folder was made: %v", err)
	for _, dir := range []string{"", "approvals", "./approvals"} {
		var unusable *Unusable
		_, err := OpenStore(dir, nil).Ask(about(1))
		assert.That(t, errors.As(err, &unusable), "%q: %v", dir, err)
		_, _, err = OpenStore(dir, nil).List()
		assert.That(t, errors.As(err, &unusable), "%q: %v", dir, err)
	}
}

func TestQuestionsAreListedByAge(t *testing.T) {
	d, c := newStore(t)
	for n := range 10 {
		ask(t, d, by(byte(n+1)))
		c.pass(time.Second)
	}
	list, _ := listed(t, d)
	for i, q := range list {
		assert.That(t, q.Digest[0] == byte(i+1), "%d is the %d.", q.Digest[0], i)
	}
}

func TestANoCountsMoreThanAYes(t *testing.T) {
	now := time.Now()
	yes, no := about(1), about(1)
	yes.State, no.State = Approved, Denied
	for _, live := range [][]StoredQuestion{{yes, no}, {no, yes}} {
		assert.Equal(t, (content{now: now, live: live}).find(yes.Vault, yes.Digest, yes.Session).State, Denied)
	}
}

// The store behaves as a table that is kept in parallel, whatever is done to it.
func TestTheStoreIsAsItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClock()
		dir := require.Value(os.MkdirTemp("", "desk"))(t)
		defer os.RemoveAll(dir)
		d := OpenStore(filepath.Join(dir, "approvals"), c.now)
		model := map[Digest]StoredQuestion{}
		forget := func() {
			for digest, q := range model {
				if !c.now().Before(q.Expires) {
					delete(model, digest)
				}
			}
		}
		pick := func(t *rapid.T) StoredQuestion { return by(rapid.ByteRange(1, 4).Draw(t, "call")) }
		answer := func(act func(string) (StoredQuestion, error), state State) func(t *rapid.T) {
			return func(t *rapid.T) {
				forget()
				q := model[pick(t).Digest]
				got, err := act(q.Code)
				require.That(t, (err == nil) == (q.State == Pending), "answering one that is %v: %v", q.State, err)
				if err == nil {
					require.Equal(t, got.State, state)
					require.Equal(t, got.Code, q.Code)
					model[q.Digest] = got
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"ask": func(t *rapid.T) {
				forget()
				q := require.Value(d.Ask(pick(t)))(t)
				before, known := model[q.Digest]
				require.That(t, !known || reflect.DeepEqual(before, q), "%+v, was %+v", q, before)
				require.That(t, known || q.State == Pending, "%+v, was %+v", q, before)
				model[q.Digest] = q
			},
			"approve": answer(d.Approve, Approved),
			"deny":    answer(d.Deny, Denied),
			"redeem": func(t *rapid.T) {
				q := pick(t)
				forget()
				grant, err := redeem(d, q)
				want := model[q.Digest].State == Approved
				require.Equal(t, grant.State == Approved, want)
				require.Equal(t, err == nil, want)
				if want {
					delete(model, q.Digest)
				}
			},
			"wait": func(t *rapid.T) { c.pass(time.Duration(rapid.Int64Range(0, int64(Life)).Draw(t, "wait"))) },
			"": func(t *rapid.T) {
				forget()
				list, damaged, err := d.List()
				require.NoError(t, err)
				require.Equal(t, len(damaged), 0)
				require.Equal(t, len(list), len(model))
				for _, q := range list {
					require.That(t, reflect.DeepEqual(model[q.Digest], q), "%+v, want %+v", q, model[q.Digest])
				}
			},
		})
	})
}

// An approval is taken back until it is used, and then the call is refused, whoever sends it. Nothing else can be.
func TestAnApprovalIsTakenBackUntilItIsUsed(t *testing.T) {
	d, _ := newStore(t)
	q := ask(t, d, about(1))
	var answered *Answered
	_, err := d.TakeBack(q.Code)
	assert.That(t, errors.As(err, &answered), "while it is pending: %v", err)
	require.Value(d.Approve(q.Code))(t)
	got := require.Value(d.TakeBack(q.Code))(t)
	assert.Equal(t, got.State, Withdrawn)
	wantUngranted(t, d, q, Withdrawn)
	_, err = d.Approve(q.Code)
	assert.That(t, errors.As(err, &answered), "approved again: %v", err)
	again := ask(t, d, about(1))
	assert.Equal(t, again.State, Withdrawn, "asked again")

	q = ask(t, d, by(2))
	require.Value(d.Approve(q.Code))(t)
	require.Value(redeem(d, q))(t)
	var unknown *Unknown
	_, err = d.TakeBack(q.Code)
	assert.That(t, errors.As(err, &unknown), "after it was used: %v", err)
}

// A question that is too long for its file has one for its lines, which goes with it, and which counts for nothing if it
// is changed.
func TestALongQuestionHasAFileForItsLines(t *testing.T) {
	d, c := newStore(t)
	long := about(1)
	for i := range 60_000 {
		long.Lines = append(long.Lines, Line{Kind: Added, New: i + 1, Text: fmt.Sprintf("line <%d> \"of\" many", i)})
	}
	files := func() (n int) {
		names, err := filepath.Glob(filepath.Join(d.dir, "*.lines"))
		require.NoError(t, err)
		return len(names)
	}
	ask(t, d, long)
	assert.Equal(t, files(), 1, "files of lines")
	list, damaged := listed(t, d)
	require.Equal(t, len(list), 1)
	require.Equal(t, len(damaged), 0)
	assert.Equal(t, len(list[0].Lines), 0, "lines that are read with the list")
	shown := require.Value(d.Shown(list[0]))(t)
	assert.That(t, slices.Equal(shown, long.Lines), "%d lines of %d, or others", len(shown), len(long.Lines))

	require.Value(d.Approve(list[0].Code))(t)
	shown = require.Value(d.Shown(list[0]))(t)
	assert.Equal(t, len(shown), len(long.Lines), "lines after the approval")

	path := d.linesPath(list[0].Code)
	text := require.Value(os.ReadFile(path))(t)
	text[len(text)/2] ^= 1
	require.NoError(t, os.WriteFile(path, text, 0o600))
	_, err := d.Shown(list[0])
	assert.That(t, err != nil, "a changed file is shown")

	require.Value(redeem(d, list[0]))(t)
	assert.Equal(t, files(), 0, "files of lines after it was used")

	ask(t, d, long)
	c.pass(2 * Life)
	listed(t, d)
	assert.Equal(t, files(), 0, "files of lines after it has expired")
	require.NoError(t, os.WriteFile(filepath.Join(d.dir, "23456789.lines"), nil, 0o600))
	listed(t, d)
	assert.Equal(t, files(), 0, "files of lines without a question")
}
