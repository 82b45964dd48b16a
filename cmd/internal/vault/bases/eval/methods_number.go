package eval

import (
	"math"

	"vaultwicket/cmd/internal/vault/bases/value"
)

func numberMethods() map[string]function {
	of := func(f func(float64) float64) function {
		return function{run: func(c *call) value.Value { return value.OfNumber(f(c.on.Num())) }}
	}
	digits := []param{{"digits", value.Number}}
	return map[string]function{
		"abs": of(math.Abs), "ceil": of(math.Ceil), "floor": of(math.Floor),
		"round": {params: digits, run: func(c *call) value.Value {
			return value.OfNumber(value.Round(c.on.Num(), int(max(-maxDigits, min(c.arg(0).Num(), maxDigits)))))
		}},
		"toFixed": {params: []param{{"precision", value.Number}}, required: 1, run: func(c *call) value.Value {
			n := c.arg(0).Num()
			if !(n >= 0 && n <= maxDigits) {
				return value.Failure("toFixed() digits argument must be between 0 and 100")
			}
			return value.OfText(value.Fixed(c.on.Num(), int(n)))
		}},
	}
}

// maxDigits is what JavaScript takes for a number of decimals.
const maxDigits = 100
