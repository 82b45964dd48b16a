package base

import (
	"context"
	"encoding/json"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/bases"
	"vaultwicket/cmd/internal/vault/bases/formula"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/session"
)

// evaluate prints the value of one expression for a note.
func evaluate(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	t, err := v.Target(p)
	if err != nil {
		return answer.Reply{}, err
	}
	program, err := bases.ParseExpression(p["expr"])
	if err != nil {
		return answer.Reply{}, answer.Misuse("Invalid value for expr: %v", err)
	}
	files, err := baseFiles(v, t.Path.String())
	if err != nil {
		return answer.Reply{}, err
	}
	entry := files.Entry(t.Path.String())
	if entry == nil {
		return answer.Reply{}, answer.FileNotFound(t.Typed)
	}
	src := files.Source()
	if p.Has("base") {
		base, err := formulasOf(v, p["base"])
		if err != nil {
			return answer.Reply{}, err
		}
		src.Formulas = base.Formulas
	}
	got, err := evaluated(v.Ctx, src.Environment, entry, program)
	if err != nil {
		return answer.Reply{}, queryFailed(err)
	}
	if got.IsError() {
		return answer.Reply{}, answer.Failure("%s", got.Message())
	}
	if p["format"] == answer.FormatJSON {
		return answer.Text(valueJSON(got)), nil
	}
	return answer.Text(got.Text()), nil
}

func evaluated(ctx context.Context, env formula.Environment, e formula.Entry, program *formula.Program) (formula.Value, error) {
	session := formula.NewSession(ctx, env)
	got := session.Row(e).Eval(program)
	return got, session.Err()
}

// valueJSON is a value with its type and its text.
func valueJSON(v formula.Value) string {
	answer, err := json.Marshal(struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		Value json.RawMessage `json:"value"`
	}{v.Kind().String(), v.Text(), bases.TypedJSON(v)})
	if err != nil {
		return "null" // its parts are JSON already
	}
	return string(answer)
}

func formulasOf(v *session.Vault, text string) (*bases.Base, error) {
	path, err := v.PathOf(text)
	if err != nil || path.Ext() != baseExtension {
		return nil, answer.BaseNotFound(text)
	}
	base, _, err := readBase(v, path, "")
	return base, err
}
