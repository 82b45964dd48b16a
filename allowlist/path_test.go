package allowlist

import (
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// failureWords are the words by which the sentence of each kind of failure in
// testdata/paths.json is known.
var failureWords = map[string]string{
	"empty":            "is empty",
	"absolute":         "begins with a slash",
	"empty_segment":    "has an empty segment",
	"relative_segment": "have no relative segments",
	"hidden_segment":   "has the hidden segment",
	"blank_segment":    "which shows nothing",
	"backslash":        "contains a backslash",
	"colon":            "contains a colon",
	"device":           "a device name on Windows",
	"trailing":         "which ends in a dot or a blank",
	"short_name":       "a short name of Windows",
	"control":          "contains the control or invisible character",
	"nul":              "contains a NUL byte",
	"not_utf8":         "is not valid UTF-8",
	"too_long":         "is longer than 1024 bytes",
	"segment_too_long": "has a segment longer than 255 bytes",
	"slash":            "contains a slash; use path=",
	"unportable":       "is not allowed in the name of a note",
	"comment":          "begins a comment in a link",
	"ambiguous":        "could be a folder or a file",
	"no_line":          "has no line number",
	"number":           "invalid number",
	"number_range":     "want a whole number from 1 to",
}

var placeChecks = map[string]func(string) string{
	"path": pathProblem, "link": pathProblem, "title": titleProblem, "newpath": newPathProblem,
	"destination": destinationProblem, "ref": checkRef,
	"folder": func(s string) string { _, reason := canonicalFolder(s); return reason },
}

type pathVector struct {
	As, Value, Hex, Then, Kind string
	Repeat                     int
}

func (v pathVector) text(t *testing.T) string {
	if v.Hex != "" {
		return string(require.Value(hex.DecodeString(v.Hex))(t))
	}
	return strings.Repeat(v.Value, max(v.Repeat, 1)) + v.Then
}

func readPathVectors(t *testing.T) []pathVector {
	t.Helper()
	text := require.Value(os.ReadFile("testdata/paths.json"))(t)
	var file struct{ Vectors []pathVector }
	require.NoError(t, json.Unmarshal(text, &file))
	return file.Vectors
}

// The vectors go through the parser of a call, so nothing between the parameter and its
// check loosens it. What is accepted arrives byte for byte.
func TestPathVectors(t *testing.T) {
	parsers := map[string]struct {
		command, param string
		others         Params
	}{
		"path":        {"read", "path", nil},
		"link":        {"read", "file", nil},
		"folder":      {"files", "folder", nil},
		"title":       {"rename", "name", Params{"path": Text("A.md")}},
		"newpath":     {"create", "path", nil},
		"destination": {"move", "to", Params{"path": Text("A.md")}},
		"ref":         {"task", "ref", nil},
	}
	reached := map[string]bool{}
	for _, v := range readPathVectors(t) {
		parser, value := parsers[v.As], v.text(t)
		params := Params{parser.param: Text(value)}
		maps.Copy(params, parser.others)
		call, err := Parse(parser.command, params)
		reached[v.Kind] = true
		if v.Kind != "ok" {
			words := failureWords[v.Kind]
			assert.That(t, words != "", "%s %q: got %v, want the kind %s", v.As, value, err, v.Kind)
			assert.Equal(t, code(err), CodeBadValue, "%s %q: got %v, want the kind %s", v.As, value, err, v.Kind)
			assert.Contains(t, err.Error(), words, "%s %q: got %v, want the kind %s", v.As, value, err, v.Kind)
			continue
		}
		want := value
		if v.As == "folder" && value != "/" {
			want = strings.TrimSuffix(value, "/")
		}
		got, _ := call.Param(parser.param)
		assert.NoError(t, err, "%s %q", v.As, value)
		assert.Equal(t, got, want, "%s %q", v.As, value)
	}
	for kind := range failureWords {
		assert.That(t, reached[kind], "no vector fails for the kind %s", kind)
	}
}

// A reason shows what it is about: the segment, the character, what to write
// instead.
func TestAReasonAgainstAPathShowsWhere(t *testing.T) {
	long := strings.Repeat("ä", 130)
	for _, test := range []struct{ as, value, want string }{
		{"path", "a/\u202eb.md", "contains the control or invisible character U+202E"},
		{"path", "a\x00b", "contains the control or invisible character U+0000"},
		{"path", "\u2028", "contains the control or invisible character U+2028"},
		{"path", "a/\u200d/b", "has the segment \"\\u200d\", which shows nothing"},
		{"path", "a/..", `has the segment ".."; vault paths have no relative segments`},
		{"path", "a/.b/c", `has the hidden segment ".b"; files and folders that begin with a dot are not accessible`},
		{"path", "a/b ", `has the segment "b ", which ends in a dot or a blank that Windows drops`},
		{"path", "a/Nul.md", `has the segment "Nul.md", a device name on Windows`},
		{"path", "a/GIT~1", `has the segment "GIT~1", which looks like a short name of Windows for another file`},
		{"title", "a|b#", `contains '|', which is not allowed in the name of a note`},
		{"title", "#a", `contains '#', which is not allowed in the name of a note`},
		{"newpath", "a#/?b", `contains '?', which is not allowed in the name of a note`},
		{"destination", "a/v1.2/b", `could be a folder or a file; want "a/v1.2/b/" for the folder or "a/v1.2/b.md" for the note`},
		{"destination", "a", `could be a folder or a file; want "a/" for the folder or "a.md" for the note`},
		{"destination", "a/" + long[:200],
			`could be a folder or a file; want "` + excerpt.Short("a/"+long[:200]) + `/" for the folder or "` +
				excerpt.Short("a/"+long[:200]) + `.md" for the note`},
	} {
		assert.Equal(t, placeChecks[test.as](test.value), test.want, "%s %q", test.as, test.value)
	}
	assert.That(t, excerpt.Short("a/"+long[:200]) != "a/"+long[:200], "the longest value is not long enough to be clipped")
}

func TestFirstUnprintable(t *testing.T) {
	for s, want := range map[string]rune{"": -1, "a": -1, "a\u200c\u200d": -1, "\x00": 0, "a\x01\x00": 1, "é\u2029\u2028": '\u2029'} {
		assert.Equal(t, firstUnprintable(s), want, "%q", s)
	}
}

// The names of devices are these and no others. A path with one of the others is
// taken.
func TestDeviceNames(t *testing.T) {
	var devices, others []string
	for _, name := range []string{"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"} {
		devices = append(devices, name)
		others = append(others, name+"1", name+"~", "X"+name, name[1:], name[:len(name)-1])
	}
	for _, port := range []string{"COM", "LPT"} {
		for _, number := range strings.Split("0 1 2 3 4 5 6 7 8 9 ¹ ² ³", " ") {
			devices = append(devices, port+number)
			others = append(others, number, number+port, port+number+number, port+"x"+number)
		}
		others = append(others, port, port+"X", port+"⁴", port+"$", "X"+port+"1", port+"12", port+"¹²", port+"~")
	}
	for _, name := range devices {
		for _, spelling := range []string{name, strings.ToLower(name), name + ".md", name + ".tar.gz", name + " .md", name + "   .md"} {
			assert.That(t, isDeviceName(spelling), "%q is no device", spelling)
			assert.That(t, pathProblem("a/"+spelling) != "", "%q is no device", spelling)
		}
		others = append(others, "a."+name, "a "+name, " "+name)
	}
	for _, name := range others {
		assert.That(t, !isDeviceName(name), "%q is a device", name)
		assert.Equal(t, pathProblem("a/"+name), "", "%q is a device", name)
	}
}

// Only these characters, and two percent signs in a row, keep a name from being
// linked to.
func TestUnportableNames(t *testing.T) {
	const closed = `#^[]|*?"<>`
	for c := rune(' '); c <= '~'; c++ {
		for _, name := range []string{string(c), "a" + string(c), string(c) + "a"} {
			assert.Equal(t, unportable(name) != "", strings.ContainsRune(closed, c), "%q: refused", name)
		}
	}
	assert.That(t, unportable("a%%b") != "", "two percent signs in a row begin a comment, and no others")
	assert.Equal(t, unportable("a%b%c"), "", "two percent signs in a row begin a comment, and no others")
}

func TestShortNames(t *testing.T) {
	short := []string{"~1", "A~1.", "ABCDEF~1.abc", "ÄBCDEF~1.äöü", "A~12345", "~A~1"}
	for _, digit := range strings.Split("0123456789", "") {
		short = append(short, "A~"+digit, "A~1"+digit, "A~"+digit+"1.md")
	}
	for _, name := range short {
		assert.That(t, isShortName(name), "%q is no short name", name)
	}
	for _, name := range []string{"", "1", "A1", "A~", "~", "A~B", "A~1B", "A~B1", "A~1B1", "ABCDEFG~1", "ABCDEFGH~1",
		"ABCDEFG~1.md", "A~1.abcd", "A~1.a.b", "A~1..", "a.b~1", "A~1~B"} {
		assert.That(t, !isShortName(name), "%q is a short name", name)
	}
}

// Every parameter that names a place is of a kind that checks it. One that is
// read as plain text would let a path through.
func TestEveryPlaceHasAKindThatChecksIt(t *testing.T) {
	places := []kind{kindPath, kindNewPath, kindDestination, kindFolder, kindLink, kindBase, kindTitle, kindRef}
	// These names are no place, though they are called like one.
	other := []string{"tag name", "properties name", "property:set name", "property:add name",
		"property:remove-item name", "property:remove name", "property:read name", "base:set name",
		"base:add-view name", "base:set-formula name",
		"workspace:save name", "workspace:load name", "workspace:delete name", "theme name", "diff to", "daily:range to", "periodic:read to",
		"tag:rename name", "tag:rename to", "property:rename name", "property:rename to", "heading:rename to", "canvas:connect to"}
	eachRow(func(r *row) {
		for i := range r.params {
			p := &r.params[i]
			switch p.name {
			case "path", "file", "folder", "to", "ref", "name", "template":
			default:
				continue
			}
			known := slices.Contains(other, r.name+" "+p.name)
			assert.That(t, known != slices.Contains(places, p.kind) || isRestricted(r), "%s %s has the kind %v", r.name, p.name, p.kind)
		}
	})
}

// FuzzCanonicalPath: whatever is accepted stays inside the folder it is joined
// to, on every system, and is spelled in one way only.
func FuzzCanonicalPath(f *testing.F) {
	for _, seed := range []string{"A/B.md", "../x", "a/..", ".obsidian", "\u200d..", "C:x", `a\..\b`, "a//b", "/",
		"NUL", "a.", "OBSIDI~1", "é", "a\x00", "\xff", "Archive/", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if folder, reason := canonicalFolder(p); reason == "" {
			again, reason := canonicalFolder(folder)
			require.Equal(t, reason, "", "folder %q becomes %q and then %q", p, folder, again)
			require.Equal(t, again, folder, "folder %q becomes %q and then %q", p, folder, again)
		}
		for _, accepts := range placeChecks {
			if accepts(p) == "" {
				require.That(t, !strings.ContainsAny(p, "\\\x00"), "%q was accepted", p)
				require.NotContains(t, "/"+p+"/", "/../", "%q was accepted", p)
			}
		}
		if pathProblem(p) != "" {
			return
		}
		require.That(t, filepath.IsLocal(p), "%q is not local or not clean", p)
		require.Equal(t, filepath.ToSlash(filepath.Clean(p)), p, "%q is not local or not clean", p)
		for _, segment := range strings.FieldsFunc(p, func(r rune) bool { return r == '/' || r == '\\' }) {
			require.That(t, !strings.HasPrefix(segment, "."), "%q has the hidden segment %q", p, segment)
		}
		for _, separator := range []string{"/", `\`} {
			joined := strings.Join([]string{"vault", strings.ReplaceAll(p, "/", separator)}, separator)
			inside := filepath.Clean(strings.ReplaceAll(joined, `\`, "/"))
			require.That(t, strings.HasPrefix(inside, filepath.FromSlash("vault/")), "%q leaves the vault as %q", p, inside)
		}
	})
}

func TestRespelled(t *testing.T) {
	upper := func(path string) string { return strings.ToUpper(path) }
	for _, test := range []struct {
		command string
		params  map[string]string
		want    string
	}{
		{"read", map[string]string{"path": "a/b.md"}, "read path=A/B.MD"},
		{"read", map[string]string{"file": "a"}, "read file=a"},
		{"create", map[string]string{"path": "a/b.md", "content": "a/b.md"}, "create content=a/b.md path=A/B.MD"},
		{"files", map[string]string{"folder": "a/b"}, "files folder=A/B"},
		{"task", map[string]string{"ref": "a/b.md:3"}, "task ref=A/B.MD:3"},
		{"move", map[string]string{"path": "a/b.md", "to": "c/d.md"}, "move path=A/B.MD to=C/d.md"},
		{"move", map[string]string{"path": "a.md", "to": "d.md"}, "move path=A.MD to=d.md"},
		{"move", map[string]string{"path": "a.md", "to": "c/d/"}, "move path=A.MD to=C/D/"},
	} {
		params := Params{}
		for key, value := range test.params {
			params[key] = Text(value)
		}
		call := require.Value(Parse(test.command, params))(t)
		call = require.Value(call.In("Home"))(t)
		got, err := call.WithPaths(false, upper)
		require.Equal(t, err, nil, "%s: want %q", call, test.want)
		assert.Equal(t, sortedItems(got), "vault=Home "+test.want, "%s: want %q", call, test.want)
		same, err := call.WithPaths(false, func(path string) string { return path })
		require.Equal(t, err, nil, "%s becomes %s", call, same)
		assert.Equal(t, same.String(), call.String(), "%s becomes %s", call, same)
	}
}

// sortedItems returns a call with its parameters in the order of their names.
func sortedItems(c Call) string {
	items := c.Items()
	params := items[2:]
	for i := range params {
		for j := i + 1; j < len(params); j++ {
			if params[j] < params[i] {
				params[i], params[j] = params[j], params[i]
			}
		}
	}
	return strings.Join(items, " ")
}

// A path that leads to what may not be spelled out is refused like any other.
func TestRespelledToAHiddenPlace(t *testing.T) {
	call := require.Value(Parse("read", Params{"path": Text("x/app.json")}))(t)
	got, err := call.WithPaths(false, func(string) string { return ".obsidian/app.json" })
	assert.That(t, err != nil, "%s, %v", got, err)
	assert.That(t, !got.Valid(), "%s, %v", got, err)
}
