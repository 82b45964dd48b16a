package ui

import (
	"slices"
	"testing"

	"vaultwicket/gateway/difference"
)

func TestTheLastNewlineIsNoChangeOfItsLine(t *testing.T) {
	kept := sideRow{Kind: "same", LeftLine: 2, RightLine: 2, Left: "b", Right: "b", LeftNoEnd: true}
	for after, want := range map[string][]sideRow{
		"a\nb\n":    {kept},
		"a\nb\nc\n": {kept, {Kind: "added", RightLine: 3, Right: "c"}},
		"a\nB\n":    {{Kind: "changed", LeftLine: 2, RightLine: 2, Left: "b", Right: "B", LeftNoEnd: true}},
	} {
		if rows := sidesOf(difference.Of([]byte("a\nb"), []byte(after))); !slices.Equal(rows[1:], want) {
			t.Errorf("%q: %+v, want %+v", after, rows[1:], want)
		}
	}
}
