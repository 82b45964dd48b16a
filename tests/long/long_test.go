package long

import "testing"

func TestTheShardsTogetherAreEverything(t *testing.T) {
	t.Setenv("LONG_TESTS", "")
	count, mine := 0, Shard(t, 4)
	for item := range 100 {
		if mine(item) {
			count++
		}
	}
	if count != 25 || Count(100, 1000) != 100 {
		t.Errorf("%d of 100 items, %d of 1000 calls", count, Count(100, 1000))
	}
	t.Setenv("LONG_TESTS", "1")
	if mine := Shard(t, 4); !mine(0) || !mine(1) || !mine(2) || !mine(3) || Count(100, 1000) != 1000 {
		t.Error("not everything is done")
	}
}
