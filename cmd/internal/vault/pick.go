package vault

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}
