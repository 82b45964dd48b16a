package allowlist

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// fuzzRequest makes a request of what the fuzzer has: a name, and words that
// are read as JSON where they are, else as key=value.
func fuzzRequest(name, words string) (string, Params) {
	var object map[string]any
	decoder := json.NewDecoder(strings.NewReader(words))
	decoder.UseNumber()
	if decoder.Decode(&object) == nil {
		params := Params{}
		for key, value := range object {
			switch v := value.(type) {
			case string:
				params[key] = Text(v)
			case bool:
				params[key] = Flag(v)
			case json.Number:
				params[key] = Number(v.String())
			default:
				params[key] = Value{}
			}
		}
		return name, params
	}
	params := Params{}
	for word := range strings.SplitSeq(words, "|") {
		key, value, found := strings.Cut(word, "=")
		params[key] = Flag(true)
		if found {
			params[key] = Text(value)
		}
	}
	return name, params
}

func seeds(f *testing.F) {
	eachRow(func(r *row) {
		var words []string
		for i := range r.params {
			p := &r.params[i]
			if p.kind == kindFlag {
				words = append(words, p.name)
				continue
			}
			words = append(words, p.name+"="+p.sample().text)
		}
		f.Add(r.name, strings.Join(words, "|"))
		f.Add(r.name, strings.Join(words[:min(len(words), 1)], "|"))
	})
	f.Add("read", `{"path":"A.md"}`)
	f.Add("read", `{"path=A.md x":"1"}`)
	f.Add("search", `{"query":"a|b","limit":5,"total":false,"case":null}`)
	f.Add("read", "path=../../etc/passwd")
	f.Add("read", "vault=Other|path=A.md")
	f.Add("create", "name=A|content=a\x00b")
	f.Add("create", "name=A|--copy")
	f.Add("append", `path=A.md|content=\n\t=`)
	f.Add("help", "command=--copy")
	f.Add("delete:permanent", "path=A.md")
	f.Add("", "")
}

// FuzzParse: a refused request has no argument list; every item of an accepted
// one begins with a name from the table or with vault=, contains no NUL and does
// not begin with a dash; and the call can be made again from its parameters.
func FuzzParse(f *testing.F) {
	seeds(f)
	names := Names()
	f.Fuzz(func(t *testing.T, name, words string) {
		name, params := fuzzRequest(name, words)
		call, err := Parse(name, params)
		if err != nil {
			require.That(t, !call.Valid(), "a refused request left %v, %v", call, err)
			require.That(t, call.Items() == nil, "a refused request left %v, %v", call, err)
			require.That(t, code(err) != "?", "a refused request left %v, %v", call, err)
			require.That(t, err.Error() != "", "a refused request left %v, %v", call, err)
			return
		}
		aimed := require.Value(call.In("Work"))(t)
		r := find(name)
		for i, item := range aimed.Items() {
			key, _, _ := strings.Cut(item, "=")
			known := i == 0 && item == "vault=Work" || i == 1 && item == r.name || r.param(key) != nil || i == 2 && slices.Contains(names, item)
			require.That(t, known, "item %d is %q", i, item)
			require.That(t, !strings.HasPrefix(item, "-"), "item %d is %q", i, item)
			require.That(t, !strings.ContainsRune(item, 0), "item %d is %q", i, item)
		}
		again, err := Parse(name, call.Params())
		require.Equal(t, err, nil, "%q parsed again: %q", call.Items(), again.Items())
		require.EqualSlices(t, again.Items(), call.Items(), "%q parsed again", call.Items())
		require.Equal(t, call.Effect(), again.Effect(), "%v parsed again has another effect", call)
		require.Equal(t, call.Shows(), again.Shows(), "%v parsed again has another effect", call)
	})
}

// FuzzArgvRoundTrip: each item split at its first equals sign, the way the
// client does it, gives back exactly what was asked for, on every carrier.
func FuzzArgvRoundTrip(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, name, words string) {
		name, params := fuzzRequest(name, words)
		call, err := Parse(name, params)
		if err != nil {
			return
		}
		for _, carrier := range carriers {
			line, err := call.Line(carrier)
			if err != nil {
				require.That(t, line.Argv == nil, "a refused line contains %q, %v", line.Argv, err)
				require.That(t, code(err) != "?", "a refused line contains %q, %v", line.Argv, err)
				continue
			}
			require.Equal(t, line.Argv[0], name, "the line of %s begins with", name)
			got := Params{}
			for _, item := range line.Argv[1:] {
				key, value, found := strings.Cut(item, "=")
				switch {
				case found:
					got[key] = Text(value)
				case find(name).param(key) != nil && find(name).param(key).kind == kindFlag:
					got[key] = Flag(true)
				default:
					got["command"] = Text(item)
				}
			}
			if line.StdinParam != "" {
				got[line.StdinParam] = Text(line.Stdin)
			}
			require.That(t, reflect.DeepEqual(got, call.Params()), "%q reads as %v, want %v", line.Argv, got, call.Params())
			require.That(t, carrier.embedded || !isRewritten(strings.Join(line.Argv, "|")), "%q would be rewritten", line.Argv)
		}
	})
}
