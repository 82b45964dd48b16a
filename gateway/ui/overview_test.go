package ui

import (
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// The sentence of a day counts as one speaks.
func TestTheSentenceOfADay(t *testing.T) {
	agents := []dayOf{
		{agentFigures: agentFigures{Name: "ann", Calls: 1, Denied: 1}},
		{agentFigures: agentFigures{Name: "bob", Calls: 11, Denied: 11}},
		{agentFigures: agentFigures{Name: "cy", Calls: 4, Read: 1, Denied: 2}, Changed: 3},
		{agentFigures: agentFigures{Name: "dan", Calls: 21}},
	}
	want := "ann was refused once; bob was refused 11 times; cy read 1 note, changed 3 and was refused 2 times; dan made 21 calls; 1 question waits for you."
	assert.Equal(t, sentence(agents, 1), want, "the sentence")
}
