package appvaults

import (
	"slices"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// What a user reads of a path that was copied from the other side of the Windows Subsystem for Linux.
func TestPathsOfAnotherSystem(t *testing.T) {
	wsl := map[string]string{"/proc/version": wslVersion, "/proc/mounts": wslMounts}
	debian := map[string]string{"WSL_DISTRO_NAME": "Debian"}
	for _, test := range []struct {
		system System
		named  string
		want   string
	}{
		{systemOf("linux", nil, wsl), `C:\Users\me\Notes`, `"C:\\Users\\me\\Notes" is a path of Windows; here it is "/mnt/c/Users/me/Notes"`},
		{systemOf("linux", nil, wsl), `c:/Notes/`, `"c:/Notes/" is a path of Windows; here it is "/mnt/c/Notes"`},
		{systemOf("linux", nil, wsl, "/data/my disk/Notes"), `D:\Notes`, `"D:\\Notes" is a path of Windows; here it is "/data/my disk/Notes"`},
		{systemOf("linux", debian, wsl), `\\wsl$\Debian\home\me\Notes`, `"\\\\wsl$\\Debian\\home\\me\\Notes" is a path of Windows; here it is "/home/me/Notes"`},
		{systemOf("linux", debian, wsl), `\\wsl$\Other\home`, `"\\\\wsl$\\Other\\home" is a path of Windows, and not of this distribution`},
		{systemOf("linux", nil, wsl), `\\server\share\Notes`, `"\\\\server\\share\\Notes" is a path of Windows, and not of this distribution`},
		{systemOf("linux", nil, nil), `C:\Notes`, `"C:\\Notes" is a path of Windows`},
		{systemOf("darwin", nil, nil), `C:\Notes`, `"C:\\Notes" is a path of Windows`},
		{systemOf("linux", nil, wsl), "/home/me/Notes", ""},
		{systemOf("linux", nil, wsl), "./Notes", ""},
		{systemOf("linux", nil, wsl), "Work", ""},
		{systemOf("linux", nil, wsl), "", ""},
		{systemOf("windows", nil, nil), "/mnt/c/Users/me/Notes", `"/mnt/c/Users/me/Notes" is a path of Linux; here it is "C:\\Users\\me\\Notes"`},
		{systemOf("windows", nil, nil), "/mnt/d", `"/mnt/d" is a path of Linux; here it is "D:\\"`},
		{systemOf("windows", nil, nil), "/home/me/Notes", `"/home/me/Notes" is a path of Linux; here it is "\\\\wsl.localhost\\DISTRIBUTION\\home\\me\\Notes"`},
		{systemOf("windows", nil, nil), "C:Notes", `"C:Notes" depends on the working folder of the drive; write "C:\\Notes"`},
		{systemOf("windows", nil, nil), "c:", `"c:" depends on the working folder of the drive; write "c:\\"`},
		{systemOf("windows", nil, nil), `C:\Notes`, ""},
		{systemOf("windows", nil, nil), `C:/Notes`, ""},
		{systemOf("windows", nil, nil), `\\?\C:\Notes`, ""},
		{systemOf("windows", nil, nil), `\\server\share`, ""},
		{systemOf("windows", nil, nil), "/Notes", ""},
		{systemOf("windows", nil, nil), `.\Notes`, ""},
		{systemOf("windows", nil, nil), "Work", ""},
	} {
		test.system.Exists = func(string) bool { return false }
		assert.Equal(t, test.system.Foreign(test.named), test.want, "%q on %s", test.named, test.system.OS)
	}
	there := systemOf("linux", nil, wsl)
	there.Exists = func(path string) bool { return slices.Contains([]string{`C:\Notes`}, path) }
	assert.Equal(t, there.Foreign(`C:\Notes`), "", "a folder of that very name")
}
