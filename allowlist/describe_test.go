package allowlist

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

func TestDescribe(t *testing.T) {
	got := require.Value(Describe("create"))(t)
	if got.Name != "create" || got.Summary == "" || got.Tier != tiers.V1 || got.Effect != tiers.Writes || got.Worst != tiers.Destroys ||
		got.Shows || got.Sends || got.EmbeddedOnly || got.Since != tiers.Release(1, 12, 2) {
		t.Errorf("got %+v", got)
	}
	var kinds []string
	for _, p := range got.Params {
		kinds = append(kinds, p.Name+" "+p.Kind)
		if p.Name == "overwrite" && p.Effect != tiers.Destroys || p.Name == "open" && !p.Shows ||
			p.Name == "content" && (p.Effect != tiers.Unknown || p.Shows) {
			t.Errorf("got %+v", p)
		}
	}
	want := []string{"name file name", "path path", "content content", "template note name", "overwrite flag", "open flag", "newtab flag", "links choice"}
	assert.That(t, slices.Equal(kinds, want), "got %q", kinds)
}

func TestCommandsDescribesEveryRow(t *testing.T) {
	commands := slices.Collect(Commands())
	for i, name := range Names() {
		one, err := Describe(name)
		require.Equal(t, err, nil, "%s", name)
		assert.That(t, reflect.DeepEqual(one, commands[i]), "%s: %+v, %v", name, one, err)
		assert.That(t, !commands[i].Effect.WorseThan(commands[i].Worst), "%s: its worst effect is better than its plain one", name)
	}
	if want := 115 + 53; len(commands) != want { // the help page and our extensions
		t.Errorf("%d commands", len(commands))
	}
}

// A table that its readers can change is no allowlist.
func TestADescriptionIsACopy(t *testing.T) {
	for range 2 {
		got := require.Value(Describe("tasks"))(t)
		for i := range got.Params {
			choices := got.Params[i].Choices
			require.That(t, !slices.Contains(choices, "--copy"), "the table became %q", choices)
			for j := range got.Params[i].Choices {
				got.Params[i].Choices[j] = "--copy"
			}
			got.Params[i].Name = "eval"
		}
		names := Names()
		names[0] = "eval"
		commands := slices.Collect(Commands())
		commands[0].Tier = tiers.V0
		commands[0].Params[0].Refused = "x"
	}
	_, err := Parse("tasks", Params{"format": Text("--copy")})
	assert.Equal(t, code(err), CodeBadValue, "a changed description opened a value: %v", err)
	assert.Equal(t, Names()[0], "help", "the first name became")
}

func TestBriefLeavesOutWhatIsRare(t *testing.T) {
	all := func(Param) bool { return true }
	for name, want := range map[string]string{
		"base:query": "base:query [file= path= view= where= select= sort= limit= …]",
		"create":     "create [name= path= content= template= overwrite …]",
		"open":       "open [file= path=]",
		"read":       "read [file= path= …]",
	} {
		c, err := Describe(name)
		require.Equal(t, err, nil, "want %q", want)
		assert.Equal(t, c.Signature(all, BriefSignature), want)
	}
	for c := range Commands() {
		for _, p := range c.Params {
			assert.That(t, !p.Rare || !p.Required, "%s: %s is required and rare", c.Name, p.Name)
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
		{"help", all, "help [command=]"},
		{"append", all, "append content= [file= path= inline heading= create-heading]"},
		{"search", all, "search query= [path= limit= format=text|json total case]"},
		{"task", all, "task [ref= file= path= line= text= status= toggle daily done todo date=]"},
		{"task", harmless, "task [ref= file= path= line= text= daily]"},
		{"publish:add", all, "publish:add [file= path=]"}, // changed is refused
		{"web", func(Param) bool { return false }, "web"},
	}
	for _, test := range tests {
		c := require.Value(Describe(test.name))(t)
		assert.Equal(t, c.Signature(test.allowed, FullSignature), test.want)
	}
}

// Text that a call brings goes into a note, unless the name of its file says otherwise.
func TestTextInto(t *testing.T) {
	for line, want := range map[string]string{
		"append|path=pic.PNG|content=x": "image", "prepend|file=a.pdf|content=x": "pdf",
		"create|path=B.canvas|content=x": "canvas", "create|path=B.base|template=T": "base",
		"create|name=film.mp4":       "video",
		"append|path=A.md|content=x": "note", "create|name=v1.2|content=x": "note", "append|file=A|content=x": "note",
		"move|path=pic.png|to=B/": "note", "attachment:read|path=pic.png": "note", "daily:append|content=x": "note",
	} {
		words := strings.Split(line, "|")
		call, err := ParseWords(words[0], words[1:])
		got := call.TextInto()
		assert.NoError(t, err, "%s", line)
		assert.Equal(t, got, want, "%s", line)
	}
	assert.Equal(t, (Call{}).TextInto(), "note", "the zero call")
}
