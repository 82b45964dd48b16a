package arguments

// Output is the JSON Schema of the results of obsidianCli and of the typed tools. It fits
// results, failures and dry runs. Clients built on one of the SDKs drop a result that does
// not fit, so it requires no more than what all three have. It is in every list of tools
// once for each, so it names the fields that clients use most and no more.
const Output = `{"type":"object","properties":{` +
	`"ok":{"type":"boolean"},"stdout":{"type":"string"}},` +
	`"required":["ok"],"additionalProperties":true}`
