package value

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// ParseNumber reads a number as JavaScript converts a text to one: blanks at
// the ends do not count, the whole rest has to be a number, and nothing is 0.
func ParseNumber(text string) (float64, bool) {
	text = strings.TrimFunc(text, IsSpace)
	switch text {
	case "":
		return 0, true
	case "Infinity", "+Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	if len(text) > 2 && text[0] == '0' {
		if base := map[byte]int{'x': 16, 'o': 8, 'b': 2}[text[1]|0x20]; base != 0 {
			return parseInteger(text[2:], base)
		}
	}
	if strings.Trim(text, "0123456789+-.eE") != "" {
		return 0, false // strconv knows more than JavaScript
	}
	number, err := strconv.ParseFloat(text, 64)
	return number, err == nil || math.IsInf(number, 0)
}

func parseInteger(digits string, base int) (float64, bool) {
	n, ok := new(big.Int).SetString(digits, base)
	if !ok || strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
		return 0, false
	}
	number, _ := new(big.Float).SetInt(n).Float64()
	return number, true
}

// Round rounds half towards positive infinity, to a number of decimals.
func Round(number float64, decimals int) float64 {
	if decimals == 0 {
		return roundHalfUp(number)
	}
	scale := math.Pow(10, float64(decimals))
	if rounded := roundHalfUp(number*scale) / scale; !math.IsNaN(rounded) {
		return rounded
	}
	return number
}

// roundHalfUp is Math.round: 0.49999999999999994 is nearer to 0, although adding
// a half to it gives 1.
func roundHalfUp(number float64) float64 {
	floor := math.Floor(number)
	if number-floor >= 0.5 {
		return floor + 1
	}
	return floor
}

// Fixed writes a number with so many decimals, at most 100: the exact value is
// rounded, halves away from zero. Numbers from 1e21 on are written in short.
func Fixed(number float64, decimals int) string {
	if math.IsNaN(number) || math.IsInf(number, 0) || math.Abs(number) >= 1e21 {
		return OfNumber(number).Text()
	}
	exact := new(big.Rat).SetFloat64(number)
	return exact.FloatString(decimals)
}
