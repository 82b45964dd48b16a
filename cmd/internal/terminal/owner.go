package terminal

import "strings"

// ForOwner rewrites a text for an agent, which mentions "the user", as a text for that user at a terminal. Quoted parts
// are not changed: they are names and text of notes.
func ForOwner(text string) string {
	parts := strings.Split(text, `"`)
	for i := 0; i < len(parts); i += 2 {
		parts[i] = forOwner.Replace(parts[i])
	}
	return strings.Join(parts, `"`)
}

// forOwner replaces phrases about the user with phrases to the user. If one phrase is the beginning of another, the
// longer one comes first.
var forOwner = strings.NewReplacer(
	"a file of the user's that", "a file of yours that",
	"the answers of the user", "your answers",
	"the answer of the user", "your answer",
	"no request of the user", "no request of yours",
	"the clipboard of the user", "your clipboard",
	"the questions to the user", "the questions to you",
	"requires user approval", "requires your approval",
	"waits for the owner", "waits for you",
	"the owner is not told", "you are not told",
	"the passkey is not the owner's", "the passkey is not yours",
	"by the owner", "by you",
	"ask the user what they want instead; ", "",
	"ask the user what they want instead", "decide what you want instead",
	"ask the user which", "decide which",
	"ask the user to ", "",
	"the user can make the state folder one of their own", "you can make the state folder one of your own",
	"tell them of", "see",
	"show the user the link in approval.link, or ", "",
	"the user's", "your",
	"the user is ", "you are ",
	"the user was ", "you were ",
	"the user has ", "you have ",
	"the user takes ", "you take ",
	"the user does ", "you do ",
	"the user", "you",
	"The user's", "Your",
	"The user is ", "You are ",
	"The user was ", "You were ",
	"The user has ", "You have ",
	"The user", "You",
)
