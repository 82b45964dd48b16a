package eval

import (
	"time"

	"vaultwicket/cmd/internal/vault/bases/value"
)

// noFile stands where an expression is about no file.
var noFile value.Entry = nothing{}

type nothing struct{}

func (nothing) Path() string                        { return "" }
func (nothing) Size() int64                         { return 0 }
func (nothing) Created() time.Time                  { return time.Time{} }
func (nothing) Modified() time.Time                 { return time.Time{} }
func (nothing) Property(string) (value.Value, bool) { return value.Value{}, false }
func (nothing) Properties() value.Value             { return value.Value{} }
func (nothing) Tags() value.Value                   { return value.OfList(nil) }
func (nothing) Links() value.Value                  { return value.OfList(nil) }
func (nothing) Embeds() value.Value                 { return value.OfList(nil) }
