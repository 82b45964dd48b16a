package clients

import (
	"os"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// An entry is of vaultwicket by the name of its command, also that of a download, or because it starts the file of this process.
func TestWhichCommandsStartThisProgram(t *testing.T) {
	this := require.Value(os.Executable())(t)
	for _, command := range []string{"vaultwicket", "/opt/vaultwicket", `C:\Tools\Vaultwicket.exe`,
		"/home/u/vaultwicket-linux-amd64", "vaultwicket_1.0.0", "vaultwicket.old", this} {
		assert.That(t, startsThisProgram(command), "%q is another program", command)
	}
	for _, command := range []string{"", "npx", "/opt/vaultwicket/node", "vault", "vaultwickets", "my-vaultwicket", this + "x", ".exe"} {
		assert.That(t, !startsThisProgram(command), "%q is this program", command)
	}
}
