//go:build !windows

package private

import (
	"fmt"
	"os"
)

// remedy is a command that takes the rights of others away.
func (e *Unsafe) remedy() string {
	mode := "600"
	if info, err := os.Stat(e.Path); err == nil && info.IsDir() {
		mode = "700"
	}
	return fmt.Sprintf("chmod %s %q", mode, e.Path)
}
