package bundle

import (
	"archive/zip"
	"bytes"
	"io"
	"testing"
)

func TestWrite(t *testing.T) {
	files := map[string]File{"manifest.json": {Content: []byte("{}")}, "server/a": {Content: []byte("program"), Program: true}, "LICENSE": {Content: []byte("text")}}
	var first, second bytes.Buffer
	for _, b := range []*bytes.Buffer{&first, &second} {
		if err := Write(b, files); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two bundles of the same files differ")
	}
	z, err := zip.NewReader(bytes.NewReader(first.Bytes()), int64(first.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if len(z.File) != 3 || z.File[0].Name != "LICENSE" || z.File[2].Name != "server/a" {
		t.Errorf("the entries are %v", z.File)
	}
	for _, f := range z.File {
		want := files[f.Name]
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if content, err := io.ReadAll(r); err != nil || !bytes.Equal(content, want.Content) {
			t.Errorf("%s is %q (%v)", f.Name, content, err)
		}
		if f.Mode() != mode(want) || !f.Modified.Equal(epoch) {
			t.Errorf("%s has the mode %v and the time %v", f.Name, f.Mode(), f.Modified)
		}
	}
}
