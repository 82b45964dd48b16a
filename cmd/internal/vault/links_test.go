package vault

import (
	"testing"

	"vaultwicket/cmd/internal/vault/command"
)

// linked is a vault with every kind of link.
func linked(t testing.TB) *testVault {
	return build(t, map[string]string{
		"A.md":           "[[B]] and [[B|again]] and ![[pic.png]] and [[Nowhere]] and [[nowhere/else.md#h]]\n`[[Code]]`",
		"B.md":           "---\nup: \"[[A]]\"\n---\n[[#Own]] and [text](A.md) and [out](https://example.org)",
		"Folder/C.md":    "[[Nowhere]]",
		"Folder/D.md":    "no links",
		"pic.png":        "x",
		"Board.canvas":   `{"nodes":[{"id":"1","type":"file","file":"Folder/C.md"},{"id":"2","type":"text","text":"[[B]]"}],"edges":[]}`,
		"Broken.canvas":  `{"nodes":`,
		"LICENSE":        "x",
		".hidden/Z.md":   "[[A]]",
		"Folder/list.md": "- [[C]]\n- [[C]]",
	})
}

func TestBacklinks(t *testing.T) {
	h := linked(t)
	h.expect(command.ExitDone, "A.md\nB.md\nBoard.canvas\n", "backlinks", "path=B.md")
	h.expect(command.ExitDone, "A.md\t2\nB.md\t1\nBoard.canvas\t1\n", "backlinks", "file=B", "counts")
	h.expect(command.ExitDone, "B.md\t2\n", "backlinks", "path=A.md", "counts")
	h.expect(command.ExitDone, "3\n", "backlinks", "path=B.md", "total", "format=json")
	h.expect(command.ExitDone, "[\n  {\n    \"file\": \"Board.canvas\",\n    \"count\": \"1\"\n  },\n  {\n    \"file\": \"Folder/list.md\",\n    \"count\": \"2\"\n  }\n]\n",
		"backlinks", "path=Folder/C.md", "counts", "format=json")
	h.expect(command.ExitDone, "[\n  {\n    \"file\": \"A.md\"\n  }\n]\n", "backlinks", "path=pic.png", "format=json")
	h.expect(command.ExitDone, "No backlinks found.\n", "backlinks", "path=Folder/D.md")
	h.expect(command.ExitDone, "No backlinks found.\n", "backlinks", "path=Folder/D.md", "format=json")
	h.expect(command.ExitDone, "0\n", "backlinks", "path=Folder/D.md", "total")
	h.expect(command.ExitFailed, "Error: File \"Nowhere.md\" not found.\n", "backlinks", "path=Nowhere.md")
	h.expect(command.ExitFailed, "Error: File \".hidden/Z.md\" not found.\n", "backlinks", "path=.hidden/Z.md")
}

func TestLinks(t *testing.T) {
	h := linked(t)
	h.expect(command.ExitDone, "B.md\nNowhere (unresolved)\nnowhere/else (unresolved)\npic.png\n", "links", "path=A.md")
	h.expect(command.ExitDone, "A.md\nB.md\n", "links", "path=B.md")
	h.expect(command.ExitDone, "4\n", "links", "path=A.md", "total")
	h.expect(command.ExitDone, "No links found.\n", "links", "path=Folder/D.md")
	h.expect(command.ExitDone, "No links found.\n", "links", "path=Board.canvas")
	h.expect(command.ExitDone, "No links found.\n", "links", "path=pic.png")
	h.expect(command.ExitFailed, "Error: File \"E\" not found.\n", "links", "file=E")
}

func TestUnresolved(t *testing.T) {
	h := linked(t)
	h.expect(command.ExitDone, "Nowhere\nnowhere/else\n", "unresolved")
	h.expect(command.ExitDone, "Nowhere\t2\nnowhere/else\t1\n", "unresolved", "counts")
	h.expect(command.ExitDone, "Nowhere\tA.md, Folder/C.md\nnowhere/else\tA.md\n", "unresolved", "verbose")
	h.expect(command.ExitDone, "2\n", "unresolved", "total")
	h.expect(command.ExitDone, "[\n  {\n    \"link\": \"Nowhere\",\n    \"count\": \"2\",\n    \"sources\": \"A.md, Folder/C.md\"\n  },\n"+
		"  {\n    \"link\": \"nowhere/else\",\n    \"count\": \"1\",\n    \"sources\": \"A.md\"\n  }\n]\n", "unresolved", "counts", "verbose", "format=json")
	build(t, nil).expect(command.ExitDone, "No unresolved links found.\n", "unresolved", "format=json")
}

func TestOrphansAndDeadEnds(t *testing.T) {
	h := linked(t)
	h.expect(command.ExitDone, "Board.canvas\nBroken.canvas\nFolder/D.md\nFolder/list.md\nLICENSE\n", "orphans")
	h.expect(command.ExitDone, "5\n", "orphans", "total")
	h.expect(command.ExitDone, "Broken.canvas\nFolder/C.md\nFolder/D.md\nLICENSE\npic.png\n", "deadends")
	build(t, nil).expect(command.ExitDone, "No orphan files found.\n", "orphans")
	build(t, nil).expect(command.ExitDone, "No dead-end files found.\n", "deadends")
	build(t, map[string]string{"Self.md": "[[Self]]"}).expect(command.ExitDone, "No orphan files found.\n", "orphans")
}

func TestAnUnreadableNoteSpoilsNothing(t *testing.T) {
	h := build(t, map[string]string{"A.md": "[[B]]", "B.md": "b\xff[[A]]", "C.md": "[[A"})
	h.expect(command.ExitDone, "B.md\n", "backlinks", "path=A.md")
}
