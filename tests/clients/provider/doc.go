// Package provider has an authorization server of another project's library, ory/fosite, give tokens
// to a client of a vaultwicket, which checks them as JWT and by introspection.
package provider
