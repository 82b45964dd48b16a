package consent

import "context"

// Reply is what came of a question.
type Reply uint8

const (
	// NoWay is the zero value: the person cannot be asked in this way.
	NoWay Reply = iota
	// No: the user declined.
	No
	// Later: the person is being asked, and the caller sends the call again with
	// the answer.
	Later
	// Yes to this call.
	Yes
	// YesHere to this call, and to those that change notes in the same folder
	// until the session ends, but for destructive ones.
	YesHere
	// Dismissed: the user closed the question without an answer.
	Dismissed
	// Misfit: the client says yes with something that the form has not asked for.
	Misfit
	// Void: what came is no answer to this question, so the user has not declined.
	Void
)

// Asker asks a person and waits for the answer, no longer than ctx lasts.
type Asker func(ctx context.Context, q Question) Reply
