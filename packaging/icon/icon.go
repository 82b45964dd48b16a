// Package icon draws the icon of vaultwicket as a PNG. The one source is icon.svg; the
// package reads the part of SVG that this file uses, and refuses the rest.
//
// What it draws is the same on every machine: all geometry is in integers.
//
//go:generate go test -run TestTheFileIsFresh -update .
package icon

import (
	"bytes"
	_ "embed"
	"image"
	"image/color"
	"image/png"
)

//go:embed icon.svg
var source []byte

// Size is the width and height in pixels that clients ask for.
const Size = 512

// Draw returns the icon with a width and height in pixels. The error names what icon.svg
// has that cannot be drawn.
func Draw(size int) (image.Image, error) {
	shapes, side, err := parse(source)
	if err != nil {
		return nil, err
	}
	picture := image.NewNRGBA(image.Rect(0, 0, size, size))
	for y := range size {
		for x := range size {
			picture.SetNRGBA(x, y, pixel(shapes, side, size, x, y))
		}
	}
	return picture, nil
}

// PNG returns [Draw] as a file.
func PNG(size int) ([]byte, error) {
	picture, err := Draw(size)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	err = encoder.Encode(&out, picture)
	return out.Bytes(), err
}

// Same reports whether a file is a PNG with the pixels of [Draw]. The bytes may differ: how
// pixels are compressed is a matter of the library's version.
func Same(file []byte, size int) (bool, error) {
	want, err := Draw(size)
	if err != nil {
		return false, err
	}
	got, err := png.Decode(bytes.NewReader(file))
	if err != nil || got.Bounds() != want.Bounds() {
		return false, err
	}
	for y := range size {
		for x := range size {
			if color.NRGBAModel.Convert(got.At(x, y)) != want.At(x, y) {
				return false, nil
			}
		}
	}
	return true, nil
}
