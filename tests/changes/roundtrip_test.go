package changes

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// roundTrips is how many texts each route is given. By default only the server gets each of
// them in every way: a process takes a hundred times longer than its call.
var roundTrips = map[string]int{"run": testenv.Count(8, 30), "mcp": testenv.Count(30, 200)}

// pieces are what texts go wrong on.
var pieces = []string{
	"a", "word ", "\n", "\r\n", "\r", "\n\n", `\n`, `\t`, `\r`, `\`, `\\`, `\\n`, `\"`, `"`, `'`, "\t", " ", "  \n", "\ufeff", "é", "e\u0301", "日本", "🌍",
	"👩‍👩‍👧", "𝒳", "\u2028", "\u2029", "\u0085", "\u200b", "\u202e", "\u00a0", "\ufffd", "\uffff", "\U0010ffff", "\x01",
	"\x1b[1m", "\x7f", "\x08", "\x0b\x0c", "---", "---\n", "a: 1\n",
	"=", "content=", "--", "--facts", "vault=", "$HOME", "`id`", "$(id)", "%s%n", "&&", ";", "|", "<b>", "&lt;",
	"{{date}}", "[[", "]]", "#", "- [ ] ", "null", "{\"a\":1}", "Error: ", "No active file.",
}

// textOf is a text of about a size, in bytes.
func textOf(random *rand.Rand, size int) string {
	var text strings.Builder
	for text.Len() < size {
		switch random.IntN(8) {
		case 0:
			r := rune(1 + random.IntN(0x10ffff))
			if r < 0xd800 || r > 0xdfff { // halves of a character are none
				text.WriteRune(r)
			}
		default:
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		if size > 4<<10 && random.IntN(4) == 0 { // large texts are made of long pieces
			text.WriteString(strings.Repeat(pieces[random.IntN(len(pieces))], random.IntN(200)))
		}
	}
	return text.String()
}

// sizeOf draws a size: as often of some bytes as of some thousands.
func sizeOf(random *rand.Rand, largest int) int {
	size := 1
	for size < largest && random.IntN(8) > 0 {
		size *= 2
	}
	return random.IntN(min(size, largest) + 1)
}

// route is a way through the gateway.
type route struct {
	name    string
	largest int // bytes of a text that reaches the gateway at all
	call    func(t *testing.T, command string, params map[string]string) gateway.Result
	read    func(t *testing.T, path string) (said gateway.Result, whole bool)
	bytes   func(t *testing.T, path string) string // as they are; nil where there is no way to have them
}

// throughRun is one process a call. A system takes no argument of more than
// 128 KiB, so that no larger text gets that far.
func throughRun(t *testing.T, vault string) route {
	home := t.TempDir()
	run := func(flags []string, words ...string) ([]byte, error) {
		c := exec.Command(harness.Binary, slices.Concat([]string{"run"}, flags, harness.EverythingEnabled(vault), words)...)
		c.Env = []string{"HOME=" + home}
		return c.Output()
	}
	return route{
		name: "run", largest: 100 << 10,
		call: func(t *testing.T, command string, params map[string]string) (said gateway.Result) {
			words := []string{command}
			for name, value := range params {
				words = append(words, name+"="+value)
			}
			out, err := run([]string{"--json"}, words...)
			var exit *exec.ExitError
			require.That(t, err == nil || errors.As(err, &exit), "%v", err)
			if err := json.Unmarshal(out, &said); err != nil {
				t.Fatalf("%s: %v", out, err)
			}
			return said
		},
		read: func(t *testing.T, path string) (said gateway.Result, whole bool) {
			out, err := run([]string{"--json"}, "read", "path="+path)
			require.Equal(t, err, nil, "%s", out)
			require.Equal(t, json.Unmarshal(out, &said), nil, "%s", out)
			return said, true
		},
		bytes: func(t *testing.T, path string) string {
			out := require.Value(run(nil, "read", "path="+path))(t)
			return string(out)
		},
	}
}

// throughMCP is one server for all calls.
func throughMCP(t *testing.T, vault string) route {
	s := harness.OpenSession(t, vault, t.TempDir())
	ask := func(t *testing.T, command string, params map[string]string) gateway.Result {
		said := require.Value(s.Ask(map[string]any{"command": command, "params": params}))(t)
		return said
	}
	return route{
		name: "mcp", largest: 1 << 20, call: ask,
		read: func(t *testing.T, path string) (gateway.Result, bool) {
			said := ask(t, "read", map[string]string{"path": path})
			return said, said.Truncated == nil
		},
	}
}

// refusedTexts are the codes with which a text may be refused.
var refusedTexts = []string{"bad_value", "missing_param", "content_unsafe", "content_too_long"}

// trip is one call and the note that it is to leave. The note is there before
// unless before is nil.
type trip struct {
	command string
	params  map[string]string
	before  *string
	after   string
}

const tripNote = "In/trip.md"

// tripsOf are the three ways to write a text.
func tripsOf(random *rand.Rand, text string) []trip {
	old := textOf(random, random.IntN(40))
	appended := old + text
	if bare := strings.TrimPrefix(old, "\ufeff"); bare != "" && !strings.HasSuffix(old, "\n") {
		appended = old + "\n" + text
		if 2*strings.Count(old, "\r\n") > strings.Count(old, "\n") {
			appended = old + "\r\n" + text
		}
	}
	// What is replaced is there once, and does not end within a line break.
	mark := []string{"⟦here⟧", `⟦\name⟧`, "⟦two\nlines⟧"}[random.IntN(3)]
	around := "first\n" + mark + "\nlast" + strings.ReplaceAll(textOf(random, random.IntN(40)), "⟦", "")
	return []trip{
		{"create", map[string]string{"path": tripNote, "content": text}, nil, text},
		{"append", map[string]string{"path": tripNote, "content": text}, &old, appended},
		{"note:replace", map[string]string{"path": tripNote, "old": mark, "new": text}, &around, strings.Replace(around, mark, text, 1)},
	}
}

// What is written can be read back byte for byte; or it is refused with a code,
// and nothing in the vault is touched.
func TestEveryTextMakesTheRoundTripOrIsRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	for _, open := range []func(*testing.T, string) route{throughRun, throughMCP} {
		vault := filepath.Join(t.TempDir(), "Vault")
		harness.WriteFile(t, filepath.Join(vault, "Other.md"), []byte("other\n"))
		route := open(t, vault)
		t.Run(route.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(5, 1))
			texts := []string{"", "x", "\n", "\r", `\n`, "\ufeff", "\x00", "a\x00b", strings.Repeat(`\`, 5000)}
			for range roundTrips[route.name] {
				texts = append(texts, textOf(random, sizeOf(random, min(route.largest, 200<<10))))
			}
			if route.name == "mcp" {
				for _, size := range []int{1 << 20, 1<<20 + 1, 5_000_000} {
					texts = append(texts, strings.Repeat("é\\n\n", size/5+1)[:size-size%5]+strings.Repeat("x", size%5))
				}
			}
			j := judge{vault: vault, route: route, refused: map[string]int{}}
			for i, text := range texts {
				trips := tripsOf(random, text)
				if len(text) >= 1<<20 || route.name == "run" && !testenv.Long() {
					trips = trips[i%3:][:1]
				}
				for _, trip := range trips {
					j.make(t, trip, text)
				}
			}
			t.Logf("%d calls through %s wrote up to %d bytes, %d of them texts with a backslash and a letter; refused: %v",
				j.written, route.name, j.largest, j.delicate, j.refused)
			assert.That(t, j.written >= roundTrips[route.name], "too little was written or refused to mean anything")
			assert.That(t, len(j.refused) != 0, "too little was written or refused to mean anything")
			assert.That(t, j.delicate != 0, "too little was written or refused to mean anything")
		})
	}
}

// judge makes trips and counts them.
type judge struct {
	vault                      string
	route                      route
	written, largest, delicate int
	refused                    map[string]int
}

func (j *judge) make(t *testing.T, trip trip, text string) {
	t.Helper()
	if j.route.name == "run" && strings.ContainsRune(text, 0) {
		return // no system passes such an argument on
	}
	name := filepath.Join(j.vault, filepath.FromSlash(tripNote))
	if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if trip.before != nil {
		harness.WriteFile(t, name, []byte(*trip.before))
	}
	then := harness.TreeOf(t, j.vault)
	said := j.route.call(t, trip.command, trip.params)
	if !said.OK {
		j.refused[harness.CodeOf(said)]++
		if !j.mayRefuse(trip, text, harness.CodeOf(said)) {
			t.Errorf("%s of %d bytes, %.80q: refused with %q", trip.command, len(text), text, harness.CodeOf(said))
		}
		assert.That(t, harness.TreeOf(t, j.vault) == then, "%s of %d bytes, %.80q: refused, and the vault is another", trip.command, len(text), text)
		return
	}
	j.written++
	j.largest = max(j.largest, len(text))
	if delicate(text) {
		j.delicate++
	}
	got, err := os.ReadFile(name)
	if slices.Contains(said.Notices, lineEndsNotice) {
		trip.after = withLineEndsOf(trip.after, string(got)) // the text got those of the note, and that was told
	}
	require.Equal(t, err, nil,
		"%s of %d bytes, %.200q: there is %.300q, want %.300q", trip.command, len(text), text, got, trip.after)
	require.Equal(t, string(got), trip.after,
		"%s of %d bytes, %.200q: there is %.300q", trip.command, len(text), text, got)
	assert.Equal(t, said.Hash, harness.HashOfText(trip.after), "%s: the hash", trip.command)
	j.readBack(t, trip)
}

const lineEndsNotice = "the note has CRLF line ends, and the text was given the same"

// withLineEndsOf returns got if it differs from want in line ends alone, else want.
func withLineEndsOf(want, got string) string {
	short := strings.NewReplacer("\r\n", "\n")
	if short.Replace(want) == short.Replace(got) {
		return got
	}
	return want
}

// readBack reads a note. Like the app, read ends a text without a final line
// break with one. The hash is that of the bytes; what is shown of them is fit to
// be shown, which texts of ordinary characters are as they are.
func (j *judge) readBack(t *testing.T, trip trip) {
	t.Helper()
	printed := trip.after
	if !strings.HasSuffix(printed, "\n") {
		printed += "\n"
	}
	shown, _ := sanitize.Text(printed)
	assert.That(t, !isOrdinary(printed) || shown == printed, "%.200q is shown as %.200q", printed, shown)
	said, whole := j.route.read(t, tripNote)
	assert.Equal(t, said.Hash, harness.HashOfText(trip.after), "%s: read has the hash", trip.command)
	assert.Equal(t, whole, len(shown) <= 1<<20, "%s: read back %.300q, want %.300q", trip.command, said.Stdout, shown)
	assert.That(t, !whole || said.Stdout == shown,
		"%s: read back %.300q, want %.300q", trip.command, said.Stdout, shown)
	if j.route.bytes == nil || j.written%3 > 0 && !testenv.Long() {
		return
	}
	assert.Equal(t, j.route.bytes(t, tripNote), printed, "%s: read prints", trip.command)
}

// isOrdinary reports whether a text contains nothing that a reader could not see.
func isOrdinary(text string) bool {
	odd := func(r rune) bool {
		return (r < ' ' || r > '~') && !strings.ContainsRune("\n\téé日本🌍𝒳", r)
	}
	return strings.IndexFunc(strings.ReplaceAll(text, "\r\n", "\n"), odd) < 0
}

// mayRefuse says which texts may be refused, and with which codes.
func (j *judge) mayRefuse(trip trip, text, code string) bool {
	switch {
	case code == "access_denied": // properties that cannot be understood would hide the note
		return strings.HasPrefix(strings.TrimPrefix(text, "\ufeff"), "---")
	case text == "", strings.ContainsRune(text, 0):
		return slices.Contains(refusedTexts, code)
	case len(text) > 4<<20:
		return code == "-32600" || slices.Contains(refusedTexts, code)
	case len(text) > 1<<20:
		return slices.Contains(refusedTexts, code)
	case delicate(text) && delicate(trip.params["old"]):
		return code == "content_unsafe" // only one of two values can travel on standard input
	}
	return false
}

// delicate reports whether a client would take a text for another one: it contains a
// backslash in front of n, t or r.
func delicate(text string) bool {
	return strings.Contains(text, `\n`) || strings.Contains(text, `\t`) || strings.Contains(text, `\r`)
}

func TestMain(m *testing.M) { harness.Main(m) }
