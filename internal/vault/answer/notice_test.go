package answer

import (
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// Bytes, which may be those of a note, and a text that was not judged are not printed by a notice or an error, and neither is
// a path of the machine.
func TestAMessageHasNoTextThatWasNotJudged(t *testing.T) {
	const secret = "hunter2"
	format := "%v %s"
	for name, untold := range map[string]any{
		"bytes":    []byte(secret),
		"unjudged": guard.NewUnjudged([]byte(secret)),
		"error":    &fs.PathError{Op: "open", Path: "/home/" + secret, Err: syscall.EIO},
	} {
		for form, text := range map[string]string{
			"notice":  Remark("%v %s", untold, untold).String(),
			"failure": Failure(format, untold, untold).Error(),
			"misuse":  Misuse(format, untold, untold).Error(),
			"hinted":  MisuseWithHint("", format, untold, untold).Error(),
			"in part": PartlyApplied.InPart(Part{}, format, untold, untold).Error(),
		} {
			assert.NotContains(t, text, secret, "%s of %s", form, name)
			assert.NotContains(t, text, fmt.Sprint([]byte(secret)), "%s of %s", form, name)
		}
	}
}

func TestNoticesAreJoined(t *testing.T) {
	first, second := Remark("%d notes", 2), Remark("more")
	for _, c := range []struct {
		joined Notice
		want   string
	}{
		{Notice{}.And(), ""},
		{Notice{}.And(Notice{}, Remark("%s", "")), ""},
		{first.And(), "2 notes"},
		{Notice{}.And(first, Notice{}, second), "2 notes; more"},
		{Text("done").Noting(first).Noting(Notice{}).Noting(second).Notice, "2 notes; more"},
	} {
		assert.Equal(t, c.joined.String(), c.want)
	}
}
