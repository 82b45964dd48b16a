// Package wire plays sessions of MCP byte for byte: every .txtar file of this folder is
// one on standard input and output, every file of the folder http one over HTTP. The
// flag -update writes what the server answers into the files.
package wire
