package shares

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

// TestANewcomerAlwaysGetsAShare: whatever others take, somebody new gets something, as long as there are pieces for a part
// of what they leave.
func TestANewcomerAlwaysGetsAShare(t *testing.T) {
	for _, part := range []Part{Half, {Of: 3, Parts: 4}} {
		pool := NewPool(1<<10, part)
		left := int64(1 << 10)
		for n := range 5 {
			who := Payer(fmt.Sprint(n))
			got := int64(0)
			for pool.Take(who, 1) {
				got++
			}
			want := left * part.Of / part.Parts
			assert.Equal(t, got, want, "%v: newcomer %d", part, n)
			left -= got
		}
	}
}

// TestAPoolCountsWhatItGives takes and gives back in any order: the limits hold, and at the end all of it is there again.
func TestAPoolCountsWhatItGives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := NewPool(100, Half)
		own := map[Payer][]int64{}
		for _, step := range rapid.SliceOf(rapid.IntRange(0, 59)).Draw(t, "steps") {
			who := Payer(fmt.Sprint(step % 3))
			n := int64(step/3 + 1)
			if taken := own[who]; step%2 == 0 && len(taken) > 0 {
				pool.Give(who, taken[0])
				own[who] = taken[1:]
				continue
			}
			if pool.Take(who, n) {
				own[who] = append(own[who], n)
			}
			total := int64(0)
			for who, taken := range own {
				sum := int64(0)
				for _, n := range taken {
					sum += n
				}
				require.That(t, sum == pool.Of(who), "%s has %d of %d", who, pool.Of(who), sum)
				total += sum
			}
			require.That(t, total <= 100, "%d are given out", total)
		}
		for who, taken := range own {
			for _, n := range taken {
				pool.Give(who, n)
			}
		}
		require.That(t, pool.Largest() == "", "%s has something", pool.Largest())
	})
}

func TestPayers(t *testing.T) {
	for _, same := range [][2]Payer{
		{Agent("a/session-1"), Agent("a/session-2")}, {Agent("session-1"), Agent("session-2")}, {Network("192.0.2.1"), Network("::ffff:192.0.2.1")},
		{Network("2001:db8::1"), Network("2001:db8::ffff:0:0:1")}, {Network("fe80::1%eth0"), Network("fe80::2%eth1")},
	} {
		assert.Equal(t, same[0], same[1], "one payer")
	}
	for _, other := range [][2]Payer{
		{Agent("a/session-1"), Agent("b/session-1")}, {Agent("vaultwicket-1"), Agent("vaultwicket-2")}, {Agent("x"), Agent("x/x")},
		{Network("192.0.2.1"), Network("192.0.2.2")}, {Network("2001:db8::1"), Network("2001:db8:0:1::1")}, {Network("x"), Agent("x")},
	} {
		assert.That(t, other[0] != other[1], "%s twice", other[0])
	}
}

// TestNobodyHasMoreThanTheMostOfOne: a bound for one payer counts although the others leave more.
func TestNobodyHasMoreThanTheMostOfOne(t *testing.T) {
	pool := NewPool(1<<10, Part{Of: 1, Parts: 2, Most: 8})
	for n := range 20 {
		assert.Equal(t, pool.Take("one", 1), n < 8, "piece %d", n)
	}
	assert.Equal(t, pool.Take("other", 9), false, "more than that at once")
	assert.Equal(t, pool.Take("other", 8), true, "as much as that")
}
