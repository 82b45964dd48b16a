package audit

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"vaultwicket/tests/long"
	"vaultwicket/tests/require"

	"pgregory.net/rapid"

	_ "vaultwicket/tests/sameseed"
)

// TestAnySequenceVerifies writes, reopens, rotates and crashes in any order. The
// log is whole at any time, has what was promised, and whatever single byte is
// changed in any of its files is found.
func TestAnySequenceVerifies(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp("", "audit")
		require.NoError(t, err)
		defer os.RemoveAll(dir)
		l := Open(filepath.Join(dir, "log"), Limits{FileSize: int64(rapid.IntRange(1, 4000).Draw(rt, "file size")), Files: rapid.IntRange(1, 6).Draw(rt, "files")})
		defer func() { _ = l.Close() }()
		written, torn := 0, false
		check := func() {
			r, err := Verify(l.folder.dir)
			require.That(rt, err == nil && r.Broken == nil && (r.Torn > 0) == torn, "%+v, %v, torn %v", r, err, torn)
			promised := 0
			for line, err := range List(l.folder.dir, Filter{Kind: "end"}) {
				require.NoError(rt, err)
				if line.Call != "" {
					promised++
				}
			}
			require.That(rt, r.First > 1 || promised == written, "%d lines, want %d", promised, written)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"write": func(rt *rapid.T) {
				line := sample(written)
				line.Client = rapid.String().Draw(rt, "client")
				require.NoError(rt, l.Write(line, rapid.Bool().Draw(rt, "durable")))
				written, torn = written+1, false
			},
			"reopen": func(rt *rapid.T) {
				_ = l.Close()
				l = Open(l.folder.dir, l.limits)
			},
			"other limits": func(rt *rapid.T) {
				l.limits = Limits{FileSize: int64(rapid.IntRange(1, 4000).Draw(rt, "file size")), Files: rapid.IntRange(1, 6).Draw(rt, "files")}
			},
			"crash": func(rt *rapid.T) {
				if written == 0 {
					rt.Skip("nothing is there")
				}
				torn = crash(rt, l) || torn
			},
			"": func(rt *rapid.T) { check() },
		})
		if written > 0 {
			flipOne(rt, l)
		}
	})
}

// crash leaves the beginning of a line after the end, as long as it is none.
func crash(rt *rapid.T, l *Log) (torn bool) {
	data := rapid.SliceOfN(rapid.SampledFrom([]byte("{\"seq\":1,\x00\xff} ")), 0, 40).Draw(rt, "torn")
	file, err := os.OpenFile(l.folder.file(currentFile), os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = file.Write(data)
		_ = file.Close()
	}
	require.NoError(rt, err)
	return len(data) > 0
}

// flipOne changes one byte of one file, looks whether that is found, and changes
// it back. What is torn at the very end is no part of the log yet.
func flipOne(rt *rapid.T, l *Log) {
	names, err := filepath.Glob(l.folder.file("*[ly]"))
	if err != nil || len(names) < 2 {
		rt.Fatal(names, err)
	}
	names = append(names, l.folder.file(headFile))
	name := rapid.SampledFrom(names).Draw(rt, "name")
	data, err := os.ReadFile(name)
	require.NoError(rt, err)
	r, _ := Verify(l.folder.dir)
	end := len(data)
	if filepath.Base(name) == currentFile {
		end -= int(r.Torn)
	}
	if end == 0 {
		return
	}
	at := rapid.IntRange(0, end-1).Draw(rt, "at")
	changed := bytes.Clone(data)
	changed[at] = byte(rapid.IntRange(0, 255).Filter(func(b int) bool { return byte(b) != data[at] }).Draw(rt, "to"))
	require.NoError(rt, os.WriteFile(name, changed, 0o600))
	if r, err := Verify(l.folder.dir); err != nil || r.Broken == nil {
		rt.Fatalf("byte %d of %s was %q and is %q: %+v, %v", at, filepath.Base(name), data[at], changed[at], r, err)
	}
	require.NoError(rt, os.WriteFile(name, data, 0o600))
}

// TestEveryByteIsWatched changes every single byte of a small log.
func TestEveryByteIsWatched(t *testing.T) {
	l := newLog(t, Limits{FileSize: 1400})
	writeAll(t, l, 1, 3)
	tear(t, l)
	l = again(t, l)
	writeAll(t, l, 4, 4)
	if r := verified(t, l); r.Gaps != 1 || r.Files < 2 {
		t.Fatalf("%+v", r)
	}
	mine := long.Shard(t, 4)
	for _, name := range []string{rotatedName(1), currentFile, headFile, keyFile} {
		data := readFile(t, l, name)
		for at := range data {
			if !mine(at) {
				continue
			}
			for _, flip := range []byte{1, data[at] ^ '\n'} {
				if flip == 0 {
					continue
				}
				data[at] ^= flip
				writeFile(t, l, name, data)
				r := verified(t, l)
				require.That(t, r.Broken != nil, "byte %d of %s: %+v", at, name, r)
				data[at] ^= flip
			}
		}
		writeFile(t, l, name, data)
	}
	if r := verified(t, l); r.Broken != nil {
		t.Errorf("%+v", r)
	}
}
