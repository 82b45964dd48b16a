package confine

import (
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// leastLevel is the first level of Landlock at which a file may be moved from
// one allowed folder to another (Linux 5.19). Below it a vault in which notes
// cannot be moved would be worse than one without the second wall.
const leastLevel = 2

// To locks the process, for good, into the folders and what lies below them,
// and out of the network as far as the kernel can. A folder that is missing is
// left out: it cannot be made afterwards either. What is open stays open.
//
// The zone of the machine's clock is read before, because that is a file.
func To(folders []string) State {
	level, err := llsys.LandlockGetABIVersion()
	switch {
	case err != nil:
		return Unconfined("this kernel has no Landlock, or it is switched off")
	case level < leastLevel:
		return Unconfined("the Landlock of this kernel is too old, Linux 5.19 is needed")
	}
	_ = time.Now().Local().String()
	rules := []landlock.Rule{landlock.RWDirs(folders...).WithRefer().IgnoreIfMissing()}
	// The newest level that the library knows, less what the kernel does not.
	if err := landlock.V11.BestEffort().Restrict(rules...); err != nil {
		return Unconfined(err.Error())
	}
	return State{level: level}
}
