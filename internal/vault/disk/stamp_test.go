package disk

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestAStampIsSettledTwoSecondsAfterTheLastChange(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) int64 { return now.Add(d).UnixNano() }
	for name, test := range map[string]struct {
		stamp system.Stamp
		want  bool
	}{
		"nothing is known":              {system.Stamp{}, false},
		"exactly two seconds":           {system.Stamp{Modified: at(-2 * time.Second)}, true},
		"a nanosecond less":             {system.Stamp{Modified: at(-2*time.Second + 1)}, false},
		"long ago":                      {system.Stamp{Modified: at(-24 * time.Hour)}, true},
		"before 1970":                   {system.Stamp{Modified: -5e9, Size: 1}, true},
		"in the future":                 {system.Stamp{Modified: at(time.Hour)}, false},
		"a time that was put back":      {system.Stamp{Modified: at(-time.Hour), Changed: at(-time.Second)}, false},
		"a change that is old as well":  {system.Stamp{Modified: at(-time.Hour), Changed: at(-2 * time.Second)}, true},
		"a time that was put forward":   {system.Stamp{Modified: at(time.Hour), Changed: at(-time.Hour)}, false},
		"put forward by days":           {system.Stamp{Modified: at(48 * time.Hour), Changed: at(-time.Hour)}, true},
		"put forward a second ago":      {system.Stamp{Modified: at(48 * time.Hour), Changed: at(-time.Second)}, false},
		"days ahead, no time of change": {system.Stamp{Modified: at(48 * time.Hour), Inode: 7}, false},
		"both in the future":            {system.Stamp{Modified: at(48 * time.Hour), Changed: at(time.Hour)}, false},
		"both days ahead":               {system.Stamp{Modified: at(72 * time.Hour), Changed: at(48 * time.Hour)}, false},
		"an empty file":                 {system.Stamp{Modified: at(-time.Hour), Inode: 7}, true},
	} {
		assert.Equal(t, test.stamp.Settled(now), test.want, "%s", name)
	}
}

func TestAllStampsOfAnUntouchedFileAreEqual(t *testing.T) {
	folder := tree(t, "a/b/one.md")
	path := mustPath(t, "a/b/one.md")
	want, err := folder.Stamp(path)
	require.Equal(t, err, nil, "%+v", want)
	require.Equal(t, want.Size, int64(len("text of a/b/one.md")), "%+v", want)
	require.That(t, want.Modified != 0, "%+v", want)
	known := want.Changed != 0 && want.Inode != 0
	assert.That(t, runtime.GOOS != "linux" || known, "the system did not tell: %+v", want)
	check := func(how string, got system.Stamp, err error) {
		t.Helper()
		require.Equal(t, err, nil, "%s: want %+v", how, want)
		assert.Equal(t, got, want, "%s", how)
	}
	_, got, err := folder.ReadStamped(path)
	check("a read by path", got, err)
	info, err := folder.Stat(path)
	check("stat", system.StampOf(info), err)
	err = folder.Walk(Path{}, func(e Entry) {
		if e.IsDir {
			return
		}
		got, err := e.Stamp()
		check("an entry", got, err)
		_, got, err = e.Read()
		check("a read of an entry", got, err)
		info, err := e.Info()
		if err != nil || info.Size() != want.Size || info.ModTime().UnixNano() != want.Modified ||
			!info.Mode().IsRegular() || info.Name() != "one.md" || info.IsDir() {
			t.Errorf("info: %+v, %v", info, err)
		}
	})
	assert.That(t, err == nil, "%v", err)
}

// touched are changes that keep the size of a file and its time.
var touched = map[string]func(path string) error{
	"written in place": func(path string) error { return os.WriteFile(path, []byte("new"), 0o644) },
	"replaced": func(path string) error {
		if err := os.WriteFile(path+".new", []byte("new"), 0o644); err != nil {
			return err
		}
		return os.Rename(path+".new", path)
	},
}

func TestAStampTellsAChangeWhoseTimeWasPutBack(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("the system tells size and time alone")
	}
	for name, change := range touched {
		t.Run(name, func(t *testing.T) {
			dir := planted(t, map[string]string{"n.md": "old"})
			folder, full := openFolder(t, dir), filepath.Join(dir, "n.md")
			before := require.Value(folder.Stamp(mustPath(t, "n.md")))(t)
			// The clock of the file system may stop for a moment.
			for range 1_000_000 {
				require.NoError(t, change(full))
				require.NoError(t, os.Chtimes(full, time.Time{}, time.Unix(0, before.Modified)))
				after, err := folder.Stamp(mustPath(t, "n.md"))
				require.Equal(t, err, nil, "%+v", after)
				require.Equal(t, after.Modified, before.Modified, "%+v", after)
				require.Equal(t, after.Size, before.Size, "%+v", after)
				if after != before {
					return
				}
			}
			t.Error("the stamp stayed the same")
		})
	}
}

// One that looks at many files says of each what a look at it alone says, in any order.
func TestAStamperLooksAsTheFolderDoes(t *testing.T) {
	folder := tree(t, "a/b/one.md", "a/b/two.md", "a/three.md", "four.md", "c/five.md")
	looks := folder.Stamper()
	defer looks.Close()
	for _, name := range []string{"four.md", "a/b/one.md", "a/b/two.md", "a/b/none.md", "a/b/one.md", "none/x.md",
		"a/three.md", "a/b", "c/five.md", "four.md"} {
		path := mustPath(t, name)
		want, wantErr := folder.Stamp(path)
		got, err := looks.Stamp(path)
		assert.Equal(t, got, want, "%s: %v, %v", name, err, wantErr)
		assert.Equal(t, err == nil, wantErr == nil, "%s: %v, want %+v, %v", name, err, want, wantErr)
		assert.Equal(t, IsMissing(err), IsMissing(wantErr), "%s: %v, want %+v, %v", name, err, want, wantErr)
	}
	require.Value(looks.Stamp(mustPath(t, "c/five.md")))(t)
	looks.Close()
	looks.Close()
	got, err := looks.Stamp(mustPath(t, "c/five.md"))
	require.Equal(t, err, nil, "after it was closed: %+v", got)
	assert.That(t, got.Size != 0, "after it was closed: %+v", got)
}

// scene is an opened file to which something happens after a number of reads.
type scene struct {
	text      string
	stamps    []system.Stamp // what each look answers; the last one from then on
	at, looks int
	chunk     int // most bytes of one read; 0 for no limit
	reads     int
	broken    int // the read that fails, counted from 1
	grows     string
}

func (s *scene) stamp() (system.Stamp, error) {
	state := s.stamps[min(s.looks, len(s.stamps)-1)]
	s.looks++
	if state.Inode == 0 {
		return system.Stamp{}, errFault
	}
	return state, nil
}

func (s *scene) Read(text []byte) (int, error) {
	if s.reads++; s.reads == s.broken {
		return 0, errFault
	}
	if s.at == len(s.text) && s.grows != "" {
		s.text, s.grows = s.text+s.grows, ""
	}
	if s.at == len(s.text) {
		return 0, io.EOF
	}
	if s.chunk > 0 {
		text = text[:min(len(text), s.chunk)]
	}
	n := copy(text, s.text[s.at:])
	s.at += n
	return n, nil
}

func TestAStampedReadIsOneStateOfTheFileOrUnknown(t *testing.T) {
	size := func(n, time int64) system.Stamp {
		return system.Stamp{Size: n, Modified: time, Changed: time, Inode: 1}
	}
	fails := system.Stamp{}
	for name, test := range map[string]struct {
		file  scene
		want  string
		known bool
		reads int
		err   error
	}{
		"one read":                        {scene{text: "12345", stamps: []system.Stamp{size(5, 1)}}, "12345", true, 1, nil},
		"short reads":                     {scene{text: "12345", stamps: []system.Stamp{size(5, 1)}, chunk: 2}, "12345", true, 3, nil},
		"an empty file":                   {scene{stamps: []system.Stamp{size(0, 1)}}, "", true, 1, nil},
		"a file made up while it is read": {scene{text: "12345", stamps: []system.Stamp{size(0, 1)}}, "12345", false, 2, nil},
		"it became shorter":               {scene{text: "123", stamps: []system.Stamp{size(5, 1), size(3, 2)}}, "123", false, 3, nil},
		"it became shorter, and back":     {scene{text: "123", stamps: []system.Stamp{size(5, 1)}}, "123", false, 3, nil},
		"it became longer":                {scene{text: "12345", grows: "67", stamps: []system.Stamp{size(5, 1), size(7, 2)}}, "1234567", false, 3, nil},
		"it was written in place":         {scene{text: "12345", stamps: []system.Stamp{size(5, 1), size(5, 2)}}, "12345", false, 2, nil},
		"it outgrew the limit": {scene{text: "12345", grows: "67890",
			stamps: []system.Stamp{size(5, 1), size(10, 2)}}, "", false, 2, &SizeError{"n.md", 9, 8}},
		"it is larger than the limit":       {scene{text: "123456789", stamps: []system.Stamp{size(9, 1)}}, "", false, 0, &SizeError{"n.md", 9, 8}},
		"it is as large as the limit":       {scene{text: "12345678", stamps: []system.Stamp{size(8, 1)}}, "12345678", true, 1, nil},
		"the first look fails":              {scene{text: "12345", stamps: []system.Stamp{fails}}, "", false, 0, errFault},
		"the second look fails":             {scene{text: "12345", stamps: []system.Stamp{size(5, 1), fails}}, "", false, 1, errFault},
		"the first read fails":              {scene{text: "12345", stamps: []system.Stamp{size(5, 1)}, broken: 1}, "", false, 1, errFault},
		"a later read fails":                {scene{text: "12345", stamps: []system.Stamp{size(5, 1)}, chunk: 2, broken: 2}, "", false, 2, errFault},
		"the read after it had grown fails": {scene{text: "12345", stamps: []system.Stamp{size(5, 1), size(7, 2)}, broken: 2}, "", false, 2, errFault},
	} {
		t.Run(name, func(t *testing.T) {
			first := test.file.stamps[0]
			text, state, err := readStamped(&test.file, "n.md", nil, 8)
			assert.Equal(t, string(text), test.want, "read %q in %d reads", text, test.file.reads)
			assert.Equal(t, test.file.reads, test.reads, "read %q in %d reads", text, test.file.reads)
			if want := (system.Stamp{}); test.known && state != first || !test.known && state != want {
				t.Errorf("stamp %+v", state)
			}
			var got, want *SizeError
			if errors.As(test.err, &want) {
				require.That(t, errors.As(err, &got), "error %v, want %v", err, want)
				assert.Equal(t, *got, *want, "error %v, want %v", err, want)
				return
			}
			assert.That(t, errors.Is(err, test.err), "error %v, want %v", err, test.err)
		})
	}
}

func TestReadIntoUsesTheMemoryItIsGiven(t *testing.T) {
	dir := planted(t, map[string]string{"long.md": strings.Repeat("long ", 1000), "short.md": "short", "empty.md": ""})
	for kind, at := range places(t, openFolder(t, dir)) {
		buf, _, err := at.read("long.md", make([]byte, 3, 7))
		require.Equal(t, err, nil, "%s: %d bytes", kind, len(buf))
		require.Equal(t, string(buf), strings.Repeat("long ", 1000), "%s: %d bytes", kind, len(buf))
		for name, want := range map[string]string{"short.md": "short", "empty.md": ""} {
			text, stamp, err := at.read(name, buf)
			require.Equal(t, err, nil, "%s: %s contains %q, %+v", kind, name, text, stamp)
			assert.Equal(t, string(text), want, "%s: %s contains %q, %+v", kind, name, text, stamp)
			assert.Equal(t, stamp.Size, int64(len(want)), "%s: %s contains %q, %+v", kind, name, text, stamp)
			assert.That(t, &text[:1][0] == &buf[0], "%s: %s was read into other memory", kind, name)
		}
		long, _, err := at.read("long.md", buf)
		require.Equal(t, err, nil, "%s: what just fits: %d bytes", kind, len(long))
		assert.Equal(t, string(long), strings.Repeat("long ", 1000), "%s: what just fits: %d bytes", kind, len(long))
		assert.Equal(t, &long[0], &buf[0], "%s: what just fits: %d bytes", kind, len(long))
	}
}

func TestAReadBesideAWriterNeverLiesAboutTheSize(t *testing.T) {
	dir := planted(t, map[string]string{"n.md": "a"})
	for kind, at := range places(t, openFolder(t, dir)) {
		var done atomic.Bool
		var writer sync.WaitGroup
		defer writer.Wait()
		writer.Go(func() {
			defer done.Store(true)
			for i := range 300 {
				text := strings.Repeat(string(rune('a'+i%26)), 1+i*997%20_000)
				assert.NoError(t, os.WriteFile(filepath.Join(dir, "n.md"), []byte(text), 0o644))
			}
		})
		var buf []byte
		for !done.Load() {
			text, state, err := at.read("n.md", buf)
			if err != nil || state != (system.Stamp{}) && state.Size != int64(len(text)) {
				t.Fatalf("%s: %d bytes, %+v, %v", kind, len(text), state, err)
			}
			buf = text
		}
		writer.Wait()
	}
}
