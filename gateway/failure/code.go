package failure

// Class says whose move it is after a failure.
type Class uint8

const (
	// Bug is the zero value: an internal error, and any code that is not listed.
	Bug Class = iota
	// BadRequest: the caller can ask differently.
	BadRequest
	// Refused: a person can change a setting.
	Refused
	// Surroundings: something on the machine is not as it should be.
	Surroundings
	// Answered: the program ran and said no.
	Answered
	// Halted: the program was stopped.
	Halted
)

// Code is one of the stable error codes, with its class.
type Code struct {
	Name  string
	Class Class
}

// Codes lists every error code that a result can carry. Programs rely on
// them: a code is never renamed, and a new one is added at the end of its class.
func Codes() []Code { return append([]Code(nil), codes...) }

var codes = []Code{
	{"unknown_command", BadRequest}, {"unknown_param", BadRequest}, {"missing_param", BadRequest},
	{"bad_value", BadRequest}, {"conflicting_params", BadRequest}, {"target_required", BadRequest},
	{"content_unsafe", BadRequest}, {"content_too_long", BadRequest}, {"bad_request", BadRequest},

	{"tier_closed", Refused}, {"restricted_command", Refused}, {"command_disabled", Refused},
	{"mutations_off", Refused}, {"access_denied", Refused}, {"unconfirmed", Refused},
	{"rate_limited", Refused}, {"paused", Refused},

	{"cli_not_found", Surroundings}, {"cli_unsuitable", Surroundings}, {"cli_too_old", Surroundings},
	{"cli_disabled", Surroundings}, {"cli_crashed", Surroundings}, {"app_not_running", Surroundings},
	{"vault_not_found", Surroundings}, {"vault_starting", Surroundings},
	{"unsupported_platform", Surroundings}, {"needs_app", Surroundings}, {"state_unavailable", Surroundings},

	{"not_found", Answered}, {"already_exists", Answered}, {"ambiguous", Answered},
	{"conflict", Answered}, {"not_configured", Answered}, {"empty_output", Answered},
	{"not_applied", Answered}, {"cli_error", Answered},

	{"timeout", Halted}, {"cancelled", Halted}, {"outcome_unknown", Halted}, {"output_limit", Halted},

	{"internal", Bug},
}

// ClassOf returns the class of a code, Bug for a code that is not listed.
func ClassOf(code string) Class {
	for _, c := range codes {
		if c.Name == code {
			return c.Class
		}
	}
	return Bug
}
