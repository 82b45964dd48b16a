package icon

import (
	"bytes"
	"flag"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the file")

// TestTheFileIsFresh compares the PNG of the MCP bundle with the drawing, pixel by pixel.
func TestTheFileIsFresh(t *testing.T) {
	file := filepath.Join("..", "mcpb", "icon.png")
	content, _ := os.ReadFile(file)
	fresh, err := Same(content, Size)
	if err != nil && len(content) > 0 && !*update {
		t.Fatal(err)
	}
	if !fresh && *update {
		if content, err = PNG(Size); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
		fresh, err = Same(content, Size)
	}
	if !fresh || err != nil {
		t.Errorf("%s is stale (%v); go generate ./packaging/... writes it", file, err)
	}
	if len(content) > 20<<10 {
		t.Errorf("%s has %d bytes", file, len(content))
	}
}

// The icon is a green square with a white gate, and nothing at its corners.
func TestPixels(t *testing.T) {
	picture, err := Draw(64)
	if err != nil {
		t.Fatal(err)
	}
	green, white := color.NRGBA{0x2f, 0x6b, 0x4f, 255}, color.NRGBA{255, 255, 255, 255}
	for at, want := range map[[2]int]color.NRGBA{
		{0, 0}: {}, {63, 0}: {}, {0, 63}: {}, {63, 63}: {}, {32, 4}: green, {4, 32}: green, {28, 36}: green,
		{16, 30}: white, {46, 30}: white, {31, 40}: white, {32, 49}: white,
	} {
		if got := picture.At(at[0], at[1]); got != want {
			t.Errorf("the pixel %v is %v, want %v", at, got, want)
		}
	}
	// Edges are between the colours.
	if got := color.NRGBAModel.Convert(picture.At(18, 25)).(color.NRGBA); got == green || got == white || got.A != 255 {
		t.Errorf("the edge of a post is %v", got)
	}
}

// A picture that differs in one pixel is another one.
func TestOnePixelIsSeen(t *testing.T) {
	file, err := PNG(32)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := Same(file, 32); !same || err != nil {
		t.Errorf("its own picture: %v, %v", same, err)
	}
	if same, _ := Same(file, 33); same {
		t.Error("a picture of another size is the same")
	}
	if same, err := Same(file[:len(file)/2], 32); same || err == nil {
		t.Error("half a file is the same")
	}
	before := source
	defer func() { source = before }()
	source = bytes.Replace(source, []byte("#ffffff"), []byte("#fffffe"), 1)
	if same, err := Same(file, 32); same || err != nil {
		t.Errorf("in another colour: %v, %v", same, err)
	}
}

// What cannot be drawn is refused, and not left out.
func TestOtherDrawingsAreRefused(t *testing.T) {
	if _, _, err := parse(source); err != nil {
		t.Fatal(err)
	}
	for _, change := range []struct{ from, to string }{
		{`0 0 64 64`, `0 0 64 32`},
		{`0 0 64 64`, `1 0 64 64`},
		{`<rect`, `<circle r="3"/><rect`},
		{`<rect`, `<rect opacity=".5"`},
		{`stroke-width="3"`, `stroke-width="3.001"`},
		{`stroke-width="3"`, `stroke-width="wide"`},
		{`stroke-linecap="round"`, ``},
		{`fill="none"`, `fill="red"`},
		{`#ffffff`, `white`},
		{`h44`, `H44`},
		{`h44`, `h44 1`},
		{`h44`, `q44`},
		{`</svg>`, ``},
	} {
		text := strings.Replace(string(source), change.from, change.to, 1)
		if text == string(source) {
			t.Fatalf("the icon has no %s", change.from)
		}
		if _, _, err := parse([]byte(text)); err == nil {
			t.Errorf("%s in place of %s is drawn", change.to, change.from)
		}
	}
}
