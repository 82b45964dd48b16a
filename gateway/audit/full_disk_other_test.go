//go:build !linux && !darwin

package audit

func limitFiles(string) {}
