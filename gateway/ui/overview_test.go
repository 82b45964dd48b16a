package ui

import (
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway/ui/activity"
	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// The sentence of a day counts as one speaks.
func TestTheSentenceOfADay(t *testing.T) {
	agents := []dayOf{
		{Agent: activity.Agent{Name: "ann", Calls: 1, Denied: 1}},
		{Agent: activity.Agent{Name: "bob", Calls: 11, Denied: 11}},
		{Agent: activity.Agent{Name: "cy", Calls: 4, Read: 1, Denied: 2}, Changed: 3},
		{Agent: activity.Agent{Name: "dan", Calls: 21}},
	}
	want := "ann was refused once; bob was refused 11 times; cy read 1 note, changed 3 and was refused 2 times; dan made 21 calls; 1 question waits for you."
	assert.Equal(t, sentence(agents, 1), want, "the sentence")
}
