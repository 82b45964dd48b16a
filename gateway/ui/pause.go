package ui

import (
	"vaultwicket/gateway/admission"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/state/paths"
)

// pause has every server deny every call.
func (p *page) pause(r request) view {
	if !paths.MakePrivate(p.State) {
		return view{goTo: backTo(r)}.failed(failure.New(failure.CodeState, "it must be a folder that only you can access", "not paused: the state folder cannot be used"))
	}
	if err := admission.Pause(p.State, p.Now()); err != nil {
		return view{goTo: backTo(r)}.failed(failure.New(failure.CodeState, `try "vaultwicket pause" in a terminal`, "not paused: %v", err))
	}
	return view{goTo: backTo(r)}
}

// resume ends a pause.
func (p *page) resume(r request) view {
	if _, err := admission.Resume(p.State); err != nil {
		return view{goTo: backTo(r)}.failed(failure.New(failure.CodeState, "delete the file", "still paused: %v", err))
	}
	return view{goTo: backTo(r)}
}

// backTo returns the view that a form was sent from, which is in every view.
func backTo(r request) string {
	switch from := r.PostForm.Get("from"); from {
	case "activity", "approvals", "changes", "policy", "health", "settings":
		return from
	}
	return ""
}
