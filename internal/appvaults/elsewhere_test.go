package appvaults

import (
	"io/fs"
	"runtime"
	"slices"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

const (
	wslVersion = "Linux version 5.15.167.4-microsoft-standard-WSL2 (root@x) (gcc) #1 SMP\n"
	wslMounts  = "none / ext4 rw 0 0\nC:\\134 /mnt/c 9p rw,aname=drvfs;path=C:\\134;uid=1000 0 0\nD: /data/my\\040disk drvfs rw 0 0\nX:\\134 /mnt/x ext4 rw 0 0\n"
)

func systemOf(os string, env, files map[string]string, vaults ...string) System {
	return System{OS: os, Getenv: func(name string) string { return env[name] }, IsVault: func(folder string) bool { return slices.Contains(vaults, folder) },
		Read: func(name string) ([]byte, error) {
			text, found := files[name]
			if !found {
				return nil, fs.ErrNotExist
			}
			return []byte(text), nil
		}}
}

func TestAFolderOfAnAppElsewhere(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the systems are seen from Unix: here their paths are paths")
	}
	kernel := map[string]string{"/proc/version": wslVersion, "/proc/mounts": wslMounts}
	rooted := map[string]string{"/proc/version": wslVersion,
		"/etc/wsl.conf": "# root = /no\n[boot]\nroot = /boot\n[automount]\nenabled = true\nroot = /win/  # drives\n[user]\nroot=/user\n"}
	quoted := map[string]string{"/proc/version": wslVersion, "/etc/wsl.conf": "[ Automount ]\r\nRoot=\"/\"\r\n"}
	unmounted := map[string]string{"/proc/version": wslVersion}
	debian := map[string]string{"WSL_DISTRO_NAME": "Debian"}
	for _, test := range []struct {
		name, named string
		system      System
		want        string
	}{
		{"a drive", `C:\Users\me\Notes`, systemOf("linux", nil, kernel, "/mnt/c/Users/me/Notes"), "/mnt/c/Users/me/Notes"},
		{"a drive, with slashes and in a small letter", `c:/Users/me/Notes/`, systemOf("linux", nil, kernel, "/mnt/c/Users/me/Notes"), "/mnt/c/Users/me/Notes"},
		{"a long path", `\\?\C:\Users\me\Notes`, systemOf("linux", nil, kernel, "/mnt/c/Users/me/Notes"), "/mnt/c/Users/me/Notes"},
		{"a drive that is mounted elsewhere", `D:\Notes`, systemOf("linux", nil, kernel, "/data/my disk/Notes"), "/data/my disk/Notes"},
		{"a mount that is none of a drive", `X:\Notes`, systemOf("linux", nil, kernel, "/mnt/x/Other"), ""},
		{"by the environment alone", `C:\Notes`,
			systemOf("linux", map[string]string{"WSL_INTEROP": "/run/WSL/1_interop"}, nil, "/mnt/c/Notes"),
			"/mnt/c/Notes"},
		{"another root", `C:\Notes`, systemOf("linux", nil, rooted, "/win/c/Notes"), "/win/c/Notes"},
		{"the root itself", `C:\Notes`, systemOf("linux", nil, quoted, "/c/Notes"), "/c/Notes"},
		{"the whole drive", `E:\`, systemOf("linux", nil, unmounted, "/mnt/e"), "/mnt/e"},
		{"a drive that is not mounted", `E:\Notes`, systemOf("linux", nil, unmounted), ""},
		{"a folder that is no vault", `C:\Users`, systemOf("linux", nil, kernel, "/mnt/c/Users/me/Notes"), ""},
		{"a way up", `C:\Users\..\me`, systemOf("linux", nil, kernel, "/mnt/c/me", "/mnt/c/Users/../me"), ""},
		{"the distribution", `\\wsl$\Debian\home\me\Notes`, systemOf("linux", debian, kernel, "/home/me/Notes"), "/home/me/Notes"},
		{"the distribution, by its newer name", `\\wsl.localhost\debian\home\me\Notes`, systemOf("linux", debian, kernel, "/home/me/Notes"), "/home/me/Notes"},
		{"the distribution, by a long path", `\\?\UNC\wsl$\Debian\home\me\Notes`, systemOf("linux", debian, kernel, "/home/me/Notes"), "/home/me/Notes"},
		{"the distribution, whose name is not known here", `\\wsl$\Debian\home\me\Notes`, systemOf("linux", nil, kernel, "/home/me/Notes"), "/home/me/Notes"},
		{"another distribution", `\\wsl$\Ubuntu\home\me\Notes`, systemOf("linux", debian, kernel, "/home/me/Notes"), ""},
		{"a share of another machine", `\\nas\notes`, systemOf("linux", debian, kernel, "/notes", "/mnt/notes"), ""},
		{"no path", `Notes`, systemOf("linux", debian, kernel, "/mnt/c/Notes", "Notes"), ""},
		{"a path of a Mac", `/Users/me/Notes`, systemOf("linux", debian, kernel, "/Users/me/Notes"), ""},
		{"two lines", "C:\\Notes\nx", systemOf("linux", debian, kernel, "/mnt/c/Notes", "/mnt/c/Notes\nx"), ""},
		{"Linux without Windows", `C:\Notes`, systemOf("linux", nil, map[string]string{"/proc/version": "Linux version 6.1.0"}, "/mnt/c/Notes"), ""},
		{"a Mac with a variable", `C:\Notes`, systemOf("darwin", debian, kernel, "/mnt/c/Notes"), ""},
		{"Windows", `C:\Notes`, systemOf("windows", debian, kernel, "/mnt/c/Notes"), ""},
	} {
		assert.Equal(t, test.system.Here(test.named), test.want, "%s: %q is here", test.name, test.named)
	}
}

// A folder that this system has is that folder, whether it is a vault or not.
func TestAFolderOfAnAppHere(t *testing.T) {
	folder := t.TempDir()
	assert.Equal(t, systemOf("linux", nil, nil).Here(folder), folder, "a folder of this system")
	assert.Equal(t, systemOf("linux", nil, nil).Here("."), "", "a relative path")
}

func TestWhatASystemIs(t *testing.T) {
	for name, test := range map[string]struct {
		system         System
		wsl, container bool
	}{
		"plain":                 {systemOf("linux", nil, nil), false, false},
		"WSL":                   {systemOf("linux", nil, map[string]string{"/proc/version": wslVersion}), true, false},
		"Docker":                {systemOf("linux", nil, map[string]string{"/.dockerenv": ""}), false, true},
		"Podman":                {systemOf("linux", nil, map[string]string{"/run/.containerenv": ""}), false, true},
		"systemd":               {systemOf("linux", map[string]string{"container": "lxc"}, nil), false, true},
		"a container below WSL": {systemOf("linux", nil, map[string]string{"/proc/version": wslVersion, "/.dockerenv": ""}), true, true},
	} {
		assert.Equal(t, test.system.IsWSL(), test.wsl, "%s: is WSL", name)
		assert.Equal(t, test.system.IsContainer(), test.container, "%s: is a container", name)
	}
	for named, want := range map[string]bool{`C:\Notes`: true, `c:/Notes`: true, `\\wsl$\x\y`: true,
		`\\nas\notes`: true, "/home/me": false, "Notes": false, "": false} {
		assert.Equal(t, IsOfWindows(named), want, "%q is of Windows", named)
	}
}
