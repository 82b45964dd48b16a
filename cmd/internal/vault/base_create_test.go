package vault

import "testing"

func TestBaseCreate(t *testing.T) {
	h := build(t, map[string]string{"b/Books.base": "views: []\n", "a.md": "", "taken.md": "", "taken 1.md": ""})
	h.steps([]turn{
		{"by the name of the base", "base:create file=Books name=Dune content=x", done, "Created: Dune.md\n"},
		{"a taken name gets a number", "base:create path=b/Books.base name=taken", done, "Created: taken 2.md\n"},
		{"without a name, and with a view that nobody knows", "base:create path=b/Books.base view=None open newtab", done, "Created: Untitled.md\n"},
		{"a name may bring its extension", "base:create path=b/Books.base name=x.md", done, "Created: x.md\n"},
		{"a dot in a name", "base:create path=b/Books.base name=v1.2", done, "Created: v1.2.md\n"},
		{"a base that is not there", "base:create path=c.base name=x", failed, "Error: Base file not found: c.base\n"},
		{"nor by its name", "base:create file=None name=x", failed, "Error: Base file not found: None.base\n"},
		{"a note is no base", "base:create path=a.md name=x", failed, "Error: Not a base file: a.md\n"},
		{"no base at all", "base:create name=x", failed, "Error: No active file. Use file=<name> or path=<path> to specify a file.\n"},
		{"a name with a folder", "base:create path=b/Books.base name=c/x", wrong, "Error: Invalid value for name: c/x. It is a name without a folder.\n"},
		{"a name that no note can have", "base:create path=b/Books.base name=.x", failed, "Error: File \".x.md\" cannot be made: path \".x.md\": has a hidden segment.\n"},
	})
	if h.get("Dune.md") != "x" || h.get("taken.md") != "" || h.get("taken 2.md") != "" {
		t.Errorf("the notes are %q, %q", h.get("Dune.md"), h.get("taken 2.md"))
	}
	h.put(".obsidian/app.json", `{"newFileLocation":"current"}`)
	h.expect(done, "Created: here.md\n", "base:create", "file=Books", "name=here")
	h.put(".obsidian/app.json", `{"newFileLocation":"folder","newFileFolderPath":"In"}`)
	h.expect(done, "Created: there.md\n", "base:create", "file=Books", "name=there")
	if h.get("b/here.md") != "" || h.get("In/there.md") != "" {
		t.Error("they are made in other folders")
	}
}
