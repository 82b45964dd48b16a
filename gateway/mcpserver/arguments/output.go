package arguments

// Output is the JSON Schema of the results of obsidianCli and of the typed tools. It fits
// results, failures and dry runs. Clients built on one of the SDKs drop a result that does
// not fit, so it requires no more than what all three have.
const Output = `{"type":"object","properties":{` +
	`"ok":{"type":"boolean"},"command":{"type":"string"},"stdout":{"type":"string"},` +
	`"error":{"type":"object","properties":{"code":{"type":"string"},"message":{"type":"string"},"hint":{"type":"string"}},` +
	`"required":["code","message"],"additionalProperties":true}},` +
	`"required":["ok","command"],"additionalProperties":true}`
