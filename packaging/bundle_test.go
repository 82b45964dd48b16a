package packaging

import (
	"archive/zip"
	"bytes"
	"debug/macho"
	"encoding/binary"
	"io"
	"io/fs"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestWrite(t *testing.T) {
	files := map[string]BundleFile{"manifest.json": {Content: []byte("{}")},
		"server/a": {Content: []byte("program"), Program: true}, "LICENSE": {Content: []byte("text")}}
	var first, second bytes.Buffer
	for _, b := range []*bytes.Buffer{&first, &second} {
		require.NoError(t, WriteBundle(b, files))
	}
	assert.That(t, bytes.Equal(first.Bytes(), second.Bytes()), "two bundles of the same files differ")
	z, err := zip.NewReader(bytes.NewReader(first.Bytes()), int64(first.Len()))
	require.NoError(t, err)
	require.Equal(t, len(z.File), 3, "the entries are %v", z.File)
	require.Equal(t, z.File[0].Name, "LICENSE", "the entries are %v", z.File)
	assert.Equal(t, z.File[2].Name, "server/a", "the entries are %v", z.File)
	for _, f := range z.File {
		want := files[f.Name]
		r := require.Value(f.Open())(t)
		if content, err := io.ReadAll(r); err != nil || !bytes.Equal(content, want.Content) {
			t.Errorf("%s is %q (%v)", f.Name, content, err)
		}
		if f.Mode() != map[bool]fs.FileMode{true: 0o755, false: 0o644}[want.Program] || !f.Modified.Equal(epoch) {
			t.Errorf("%s has the mode %v and the time %v", f.Name, f.Mode(), f.Modified)
		}
	}
}

// machProgram is the head of a program of macOS, and some bytes.
func machProgram(cpu macho.Cpu, size int) []byte {
	var b []byte
	for _, v := range []uint32{macho.Magic64, uint32(cpu), 3, uint32(macho.TypeExec), 0, 0, 0, 0} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return append(b, bytes.Repeat([]byte{byte(cpu)}, size)...)
}

func TestUniversal(t *testing.T) {
	intel, arm := machProgram(macho.CpuAmd64, 20_000), machProgram(macho.CpuArm64, 5)
	one := require.Value(Universal(intel, arm))(t)
	other, err := Universal(arm, intel)
	require.Equal(t, err, nil, "the order of the programs makes a difference (%v)", err)
	assert.That(t, bytes.Equal(one, other), "the order of the programs makes a difference (%v)", err)
	fat, err := macho.NewFatFile(bytes.NewReader(one))
	require.NoError(t, err)
	require.That(t, len(fat.Arches) == 2, "there are %d programs", len(fat.Arches))
	for i, want := range [][]byte{intel, arm} {
		a := fat.Arches[i]
		got, err := io.ReadAll(io.NewSectionReader(bytes.NewReader(one), int64(a.Offset), int64(a.Size)))
		require.Equal(t, err, nil, "program %d is %d bytes at %d (%v)", i, a.Size, a.Offset, err)
		assert.That(t, bytes.Equal(got, want), "program %d is %d bytes at %d (%v)", i, a.Size, a.Offset, err)
		assert.Equal(t, a.Offset%(1<<alignBits), 0, "program %d is %d bytes at %d (%v)", i, a.Size, a.Offset, err)
		assert.Equal(t, a.Align, alignBits, "program %d is %d bytes at %d (%v)", i, a.Size, a.Offset, err)
	}
	last := fat.Arches[1]
	assert.That(t, int(last.Offset+last.Size) == len(one), "the file has %d bytes, its last program ends at %d", len(one), last.Offset+last.Size)
}

func TestUniversalTakesProgramsOfMacOS(t *testing.T) {
	arm := machProgram(macho.CpuArm64, 5)
	for name, programs := range map[string][][]byte{"another system": {arm, []byte("\x7fELF and more")}, "twice": {arm, arm}, "nothing": {arm, nil}, "none": {}} {
		if _, err := Universal(programs...); err == nil {
			t.Errorf("%s: there is a file", name)
		}
	}
}
