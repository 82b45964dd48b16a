package httpguard

// fileLimit returns how many files the process may have open. Windows has no such limit.
func fileLimit() (files int, isLimited bool) { return 0, false }
