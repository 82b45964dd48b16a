package answer

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/kept"
)

// longListing has rows of about 40 bytes, and some that are longer than a chunk.
func longListing(rows int) Listing {
	return Listing{Columns: []string{"name", "text"}, Rows: rows, Cell: func(b []byte, row, column int) []byte {
		if column == 0 {
			return fmt.Appendf(b, "note %06d.md", row)
		}
		if row%1000 == 999 {
			return append(b, strings.Repeat("long ", chunkSize/4)...)
		}
		return append(b, "some \"text\" of it"...)
	}}
}

// A part is the start of the answer up to the end of a row, and the whole is kept.
func TestAPartIsOfWholeRows(t *testing.T) {
	lines := longListing(4000)
	text := printed(t, lines.Reply(FormatTSV))
	tests := map[string]struct {
		reply func() Reply
		lines bool
		end   string // of the part, without the line break
	}{
		"tsv":                   {func() Reply { return lines.Reply(FormatTSV) }, true, ""},
		"csv":                   {func() Reply { return lines.Reply(FormatCSV) }, false, ""},
		"json":                  {func() Reply { return lines.Reply(FormatJSON) }, false, "}"},
		"text":                  {func() Reply { return Text(text) }, true, ""},
		"text without its end":  {func() Reply { return Text(strings.TrimSuffix(text, "\n")) }, true, ""},
		"text with empty lines": {func() Reply { return Text(text + "\n\n") }, true, ""},
	}
	for name, tt := range tests {
		whole := printed(t, tt.reply())
		for _, first := range []int{1, 100, 33 << 10, 200 << 10} {
			said := tt.reply()
			kept, ok := said.Divide(Part{Bytes: first, Lines: tt.lines})
			if !ok || kept.Size != len(bytes.Join(kept.Pieces, nil)) {
				t.Fatalf("%s: not divided at %d: %d bytes", name, first, kept.Size)
			}
			part := printed(t, said)
			if tt.end != "" {
				part = strings.TrimSuffix(part, "\n")
			}
			if len(part) < first || len(part) == len(whole) || !strings.HasPrefix(whole, part) || !strings.HasSuffix(part, cmp.Or(tt.end, "\n")) {
				t.Errorf("%s: the part of at least %d bytes has %d and ends with %q", name, first, len(part), part[max(0, len(part)-20):])
			}
			if got := printed(t, Pieces(kept.Pieces)); got != whole {
				t.Errorf("%s: what is kept is not the answer: %d bytes, not %d", name, len(got), len(whole))
			}
			want := 4000
			if tt.lines {
				want = strings.Count(whole, "\n")
			}
			if kept.Rows != want {
				t.Errorf("%s: %d rows, want %d", name, kept.Rows, want)
			}
		}
	}
}

// What is not divided is printed as it would be anyway.
func TestWhatIsNotDivided(t *testing.T) {
	short, tooLarge := longListing(5), longListing(1000)
	tooLarge.Rows = 1000 * (kept.MaxBytes/(chunkSize/4*5) + 2)
	for name, tt := range map[string]struct {
		reply func() Reply
		part  Part
	}{
		"nothing is asked for":        {func() Reply { return longListing(100).Reply(FormatTSV) }, Part{Lines: true}},
		"a short listing":             {func() Reply { return short.Reply(FormatJSON) }, Part{Bytes: 1000}},
		"one that ends with the part": {func() Reply { return short.Reply(FormatTSV) }, Part{Bytes: 140, Lines: true}},
		"a listing that is too large": {func() Reply { return tooLarge.Reply(FormatTSV) }, Part{Bytes: 1000, Lines: true}},
		"a text that is too large":    {func() Reply { return Text(strings.Repeat("x\n", kept.MaxBytes)) }, Part{Bytes: 1000, Lines: true}},
		"text without rows":           {func() Reply { return Text(strings.Repeat("x\n", 1000)) }, Part{Bytes: 10}},
		"one long line":               {func() Reply { return Text(strings.Repeat("x", 1000) + "\n") }, Part{Bytes: 10, Lines: true}},
		"a failure":                   {func() Reply { return Reply{Status: ExitFailed, Text: strings.Repeat("x\n", 1000)} }, Part{Bytes: 10, Lines: true}},
		"an image":                    {func() Reply { return Reply{Image: "image/png", Text: "x\n" + strings.Repeat("y\n", 1000)} }, Part{Bytes: 1, Lines: true}},
		"a note":                      {func() Reply { return Reply{Body: &disk.File{}, Text: strings.Repeat("x\n", 1000)} }, Part{Bytes: 10, Lines: true}},
	} {
		said := tt.reply()
		if whole, ok := said.Divide(tt.part); ok {
			t.Errorf("%s: divided, and %d bytes are kept", name, whole.Size)
		}
		if said.Body != nil {
			continue
		}
		if got, want := printed(t, said), printed(t, tt.reply()); got != want {
			t.Errorf("%s: %d bytes are printed, not %d", name, len(got), len(want))
		}
	}
}

func printed(t *testing.T, r Reply) string {
	t.Helper()
	var out strings.Builder
	if status := r.Print(&out); status != r.Status {
		t.Fatalf("printing ends with status %d", status)
	}
	return out.String()
}
