package doctor

import (
	"context"
	"errors"
	"fmt"

	"vaultwicket/policy"
)

func (m Machine) settings(_ context.Context, r *Report) {
	if m.Invalid != nil {
		fix := "correct the setting; \"vaultwicket config show\" tells where each comes from"
		var says hinted
		if errors.As(m.Invalid, &says) && says.Hint() != "" {
			fix = says.Hint()
		}
		r.problem("settings-invalid", m.Invalid.Error(), "no command runs with invalid settings", fix)
		return
	}
	s := m.Settings
	r.ok("settings", fmt.Sprintf("tier %s, mutations %s", s.Policy.Ceiling, onOff(s.Policy.Mutations)))
	if !s.Enabled {
		r.warn("disabled", "every call is refused", "the setting enabled is false", "remove it, or set it to true")
	}
	if s.Policy.Mutations && s.Policy.Confirm == policy.ConfirmNever {
		r.warn("unasked-changes", "an agent may delete and overwrite notes without approval",
			"the setting confirm is never; what an agent reads can tell it to", `set confirm to "destructive" or "writes"`)
	}
	if s.Policy.Mutations && s.Policy.Publish {
		r.warn("publishing", "an agent may publish notes to the web", "the setting allow-publish is true: what is published cannot be taken back", "remove allow-publish unless it is needed")
	}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
