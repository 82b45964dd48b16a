package bundle

import (
	"bytes"
	"debug/macho"
	"encoding/binary"
	"io"
	"testing"
)

// program is the head of a program of macOS, and some bytes.
func program(cpu macho.Cpu, size int) []byte {
	var b []byte
	for _, v := range []uint32{macho.Magic64, uint32(cpu), 3, uint32(macho.TypeExec), 0, 0, 0, 0} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return append(b, bytes.Repeat([]byte{byte(cpu)}, size)...)
}

func TestUniversal(t *testing.T) {
	intel, arm := program(macho.CpuAmd64, 20_000), program(macho.CpuArm64, 5)
	one, err := Universal(intel, arm)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Universal(arm, intel)
	if err != nil || !bytes.Equal(one, other) {
		t.Errorf("the order of the programs makes a difference (%v)", err)
	}
	fat, err := macho.NewFatFile(bytes.NewReader(one))
	if err != nil {
		t.Fatal(err)
	}
	if len(fat.Arches) != 2 {
		t.Fatalf("there are %d programs", len(fat.Arches))
	}
	for i, want := range [][]byte{intel, arm} {
		a := fat.Arches[i]
		got, err := io.ReadAll(io.NewSectionReader(bytes.NewReader(one), int64(a.Offset), int64(a.Size)))
		if err != nil || !bytes.Equal(got, want) || a.Offset%(1<<alignment) != 0 || a.Align != alignment {
			t.Errorf("program %d is %d bytes at %d (%v)", i, a.Size, a.Offset, err)
		}
	}
	if last := fat.Arches[1]; int(last.Offset+last.Size) != len(one) {
		t.Errorf("the file has %d bytes, its last program ends at %d", len(one), last.Offset+last.Size)
	}
}

func TestUniversalTakesProgramsOfMacOS(t *testing.T) {
	arm := program(macho.CpuArm64, 5)
	for name, programs := range map[string][][]byte{"another system": {arm, []byte("\x7fELF and more")}, "twice": {arm, arm}, "nothing": {arm, nil}} {
		if _, err := Universal(programs...); err == nil {
			t.Errorf("%s: there is a file", name)
		}
	}
}
