// Command client stands for the official CLI: it answers at once, with no more
// work than printing, so that what is measured is not its own. Reads of the daily note
// hang, also by its path. The folder of its vault is its own.
package main

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	for _, arg := range os.Args[1:] {
		if arg == "version" {
			os.Stdout.WriteString("1.12.7 (installer 1.12.7)\n")
			return
		}
		if arg == "info=path" {
			program, _ := os.Executable() // without it there is no answer, and no call
			os.Stdout.WriteString(filepath.Dir(program) + "\n")
			return
		}
		if strings.HasPrefix(arg, "daily") || strings.HasPrefix(arg, "path=2") { // such as path=2026-12-01.md
			time.Sleep(time.Hour)
		}
	}
	os.Stdout.WriteString("Ideas/Tides.md\n" + strings.Repeat("Two high waters a day, fifty minutes later each time.\n", 20))
}
