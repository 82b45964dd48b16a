package trust

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// MachineFile returns the path of the settings that the administrator has made for everybody on
// this machine, which no variable of the environment changes. The error is that of Windows, which
// is asked for the folder of such files.
func MachineFile() (string, error) {
	folder, err := machineFolder()
	return filepath.Join(folder, "vaultwicket", "config.toml"), err
}

// ReadMachineFile reads a file as [ReadFile] does, and only if administrators alone own and can
// write it and everything on its path: not even the user of this process. The error is an
// [*Unsafe] or that of the system, [fs.ErrNotExist] if there is no such file.
func ReadMachineFile(name string) ([]byte, fs.FileInfo, error) {
	if _, err := os.Lstat(name); err != nil {
		return nil, nil, err
	}
	err := Walk(name, func(_, entry string, info fs.FileInfo) error {
		if reason := notOfMachine(entry, info); reason != "" {
			return &Unsafe{fmt.Sprintf("%q %s", entry, reason), "the administrator of this machine can correct it or remove the file"}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return ReadFile(name)
}
