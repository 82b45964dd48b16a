package markdown

import (
	"fmt"
	"strings"
	"testing"
)

func TestPartsStayWhatTheyAre(t *testing.T) {
	var p parts
	var got, want []string
	for i := range 5000 {
		text := fmt.Sprint(i, strings.Repeat("x", i%97))
		if i%1000 == 500 {
			text += strings.Repeat("long", partsSize)
		}
		buf := []byte(text)
		got, want = append(got, p.add(buf)), append(want, text)
		clear(buf)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("part %d is %.40q, want %.40q", i, got[i], want[i])
		}
	}
	if p.add(nil) != "" {
		t.Error("a part of nothing is something")
	}
}
