package disk

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"vaultwicket/cmd/internal/vault/disk/system"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
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
	require.That(t, err == nil && want.Size == int64(len("text of a/b/one.md")) && want.Modified != 0, "%+v, %v", want, err)
	known := want.Changed != 0 && want.Inode != 0
	assert.That(t, runtime.GOOS != "linux" || known, "the system did not tell: %+v", want)
	check := func(how string, got system.Stamp, err error) {
		t.Helper()
		assert.That(t, err == nil && got == want, "%s: %+v, %v, want %+v", how, got, err, want)
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
		if err != nil || info.Size() != want.Size || info.ModTime().UnixNano() != want.Modified || !info.Mode().IsRegular() || info.Name() != "one.md" || info.IsDir() {
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
			before, err := folder.Stamp(mustPath(t, "n.md"))
			require.NoError(t, err)
			// The clock of the file system may stop for a moment.
			for range 1_000_000 {
				require.NoError(t, change(full))
				require.NoError(t, os.Chtimes(full, time.Time{}, time.Unix(0, before.Modified)))
				after, err := folder.Stamp(mustPath(t, "n.md"))
				require.That(t, err == nil && after.Modified == before.Modified && after.Size == before.Size, "%+v, %v", after, err)
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
	for _, name := range []string{"four.md", "a/b/one.md", "a/b/two.md", "a/b/none.md", "a/b/one.md", "none/x.md", "a/three.md", "a/b", "c/five.md", "four.md"} {
		path := mustPath(t, name)
		want, wantErr := folder.Stamp(path)
		got, err := looks.Stamp(path)
		assert.That(t, got == want && (err == nil) == (wantErr == nil) && IsMissing(err) == IsMissing(wantErr), "%s: %+v, %v, want %+v, %v", name, got, err, want, wantErr)
	}
	if _, err := looks.Stamp(mustPath(t, "c/five.md")); err != nil {
		t.Fatal(err)
	}
	looks.Close()
	looks.Close()
	if got, err := looks.Stamp(mustPath(t, "c/five.md")); err != nil || got.Size == 0 {
		t.Errorf("after it was closed: %+v, %v", got, err)
	}
}
