package allowlist

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"vaultwicket/tiers"
)

func TestDescribe(t *testing.T) {
	got, err := Describe("create")
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "create" || got.Summary == "" || got.Tier != tiers.V1 || got.Effect != tiers.Writes || got.Worst != tiers.Destroys ||
		got.Shows || got.Sends || got.Ours || got.Since != (tiers.Version{1, 12, 2}) {
		t.Errorf("got %+v", got)
	}
	var kinds []string
	for _, p := range got.Params {
		kinds = append(kinds, p.Name+" "+p.Kind)
		if p.Name == "overwrite" && p.Effect != tiers.Destroys || p.Name == "open" && !p.Shows || p.Name == "content" && (p.Effect != tiers.Unknown || p.Shows) {
			t.Errorf("got %+v", p)
		}
	}
	want := []string{"name file name", "path path", "content content", "template note name", "overwrite flag", "open flag", "newtab flag"}
	if !slices.Equal(kinds, want) {
		t.Errorf("got %q", kinds)
	}
}

func TestCommandsDescribesEveryRow(t *testing.T) {
	commands := Commands()
	for i, name := range Names() {
		one, err := Describe(name)
		if err != nil || !reflect.DeepEqual(one, commands[i]) {
			t.Errorf("%s: %+v, %v", name, one, err)
		}
		if commands[i].Effect.WorseThan(commands[i].Worst) {
			t.Errorf("%s: its worst effect is better than its plain one", name)
		}
	}
	if want := 115 + 11; len(commands) != want { // the help page and our extensions
		t.Errorf("%d commands", len(commands))
	}
}

// A table that its readers can change is no allowlist.
func TestADescriptionIsACopy(t *testing.T) {
	for range 2 {
		got, err := Describe("tasks")
		if err != nil {
			t.Fatal(err)
		}
		for i := range got.Params {
			if choices := got.Params[i].Choices; len(choices) > 0 && choices[0] != "json" {
				t.Fatalf("the table became %q", choices)
			}
			for j := range got.Params[i].Choices {
				got.Params[i].Choices[j] = "--copy"
			}
			got.Params[i].Name = "eval"
		}
		names := Names()
		names[0] = "eval"
		commands := Commands()
		commands[0].Tier = tiers.V0
		commands[0].Params[0].Refused = "x"
	}
	if _, err := Parse("tasks", Params{"format": Text("--copy")}); code(err) != CodeBadValue {
		t.Errorf("a changed description opened a value: %v", err)
	}
	if first := Names()[0]; first != "help" {
		t.Errorf("the first name became %q", first)
	}
}

// TestBriefLeavesOutWhatIsRare: the short signature has an ellipsis in place of rare
// parameters, unless they only show something in the app, and all required ones.
func TestBriefLeavesOutWhatIsRare(t *testing.T) {
	all := func(Param) bool { return true }
	for name, want := range map[string]string{
		"base:query": "base:query [file= path= view= where= select= sort= group= limit= …]",
		"create":     "create [name= path= content= template= overwrite]",
		"open":       "open [file= path=]",
		"read":       "read [file= path=]",
	} {
		c, err := Describe(name)
		if err != nil || c.Brief(all) != want {
			t.Errorf("%q, %v, want %q", c.Brief(all), err, want)
		}
	}
	for _, c := range Commands() {
		for _, p := range c.Params {
			if p.Rare && p.Required {
				t.Errorf("%s: %s is required and rare", c.Name, p.Name)
			}
		}
	}
}

func TestSignature(t *testing.T) {
	all := func(Param) bool { return true }
	harmless := func(p Param) bool { return !p.Effect.Mutates() || p.Effect == tiers.Unknown }
	tests := []struct {
		name    string
		allowed func(Param) bool
		want    string
	}{
		{"daily:read", all, "daily:read [date= offset=]"},
		{"help", all, "help [<command>]"},
		{"append", all, "append content= [file= path= inline heading=]"},
		{"search", all, "search query= [path= limit= format=text|json total case]"},
		{"task", all, "task [ref= file= path= line= status= toggle daily done todo]"},
		{"task", harmless, "task [ref= file= path= line= daily]"},
		{"publish:add", all, "publish:add [file= path=]"}, // changed is refused
		{"web", func(Param) bool { return false }, "web"},
	}
	for _, test := range tests {
		c, err := Describe(test.name)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Signature(test.allowed); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

func TestNearest(t *testing.T) {
	tests := []struct{ word, want string }{
		{"daily:raed", "daily:read"},  // neighbours swapped
		{"dailyread", "daily:read"},   // one left out
		{"daily:readd", "daily:read"}, // one too many
		{"daily:reat", "daily:read"},  // one replaced
		{"serach", "search"},
		{"read", "read"}, // the word itself
		{"Read", "read"}, // another case is one replaced
		{"tgas", "tags"},
		{"property-set", "property:set"},
		{"eval2", "eval"}, // restricted commands are named too
		{"xyz", ""},
		{"", ""},
		{"frobnicate", ""},
		{string(make([]byte, 5000)), ""},
	}
	for _, test := range tests {
		if got := Nearest(test.word, Names()); got != test.want {
			t.Errorf("%.20q: got %q, want %q", test.word, got, test.want)
		}
	}
	if got := Nearest("ab", []string{"ac", "ad"}); got != "ac" {
		t.Errorf("of two that are as near, the first: got %q", got)
	}
	if got := Nearest("sink", []string{"sync"}); got != "sync" {
		t.Errorf("four letters may differ in two places: got %q", got)
	}
	if got := Nearest("sin", []string{"syc"}); got != "" {
		t.Errorf("three letters may not: got %q", got)
	}
	long := strings.Repeat("x", 120)
	if got := Nearest(long, []string{long}); got != long {
		t.Errorf("a word as long as a message repeats: got %q", got)
	}
	if got := Nearest(long+"x", []string{long}); got != "" {
		t.Errorf("a longer word: got %q", got)
	}
	if got := Nearest("word", nil); got != "" {
		t.Errorf("of an empty list: %q", got)
	}
}

func TestDistanceIsSymmetric(t *testing.T) {
	words := []string{"", "a", "ab", "ba", "abc", "cab", "read", "daily:read", "raed"}
	for _, a := range words {
		for _, b := range words {
			if distance(a, b, 20) != distance(b, a, 20) || (distance(a, b, 20) == 0) != (a == b) {
				t.Errorf("%q and %q: %d, %d", a, b, distance(a, b, 20), distance(b, a, 20))
			}
		}
	}
	if got := distance("raed", "read", 20); got != 1 {
		t.Errorf("a swap costs %d", got)
	}
}
