package eval

import (
	"vaultwicket/cmd/internal/vault/bases/value"
	"vaultwicket/cmd/internal/vault/moment"
)

func dateMethods() map[string]function {
	of := func(f func(*call, value.Moment) value.Value) func(*call) value.Value {
		return func(c *call) value.Value {
			m, _ := c.on.Moment()
			return f(c, m)
		}
	}
	return map[string]function{
		"date": {run: of(func(_ *call, m value.Moment) value.Value { return value.OfMoment(m.Day()) })},
		"time": {run: of(func(_ *call, m value.Moment) value.Value { return value.OfText(m.Time.Format("15:04:05")) })},
		"format": {params: []param{{"format", value.String}}, required: 1, run: of(func(c *call, m value.Moment) value.Value {
			return value.Bounded(moment.Format(m.Time, c.arg(0).Text()))
		})},
		"relative": {run: of(func(c *call, m value.Moment) value.Value { return value.OfText(m.Relative(c.row.Now)) })},
	}
}
