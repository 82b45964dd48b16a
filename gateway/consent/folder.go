package consent

// inFolder reads the content of a folder, and calls do with it. use is a method of [ownerfiles.RecordFolder] that calls
// its argument with the names of the files, holding the lock of the folder; without a folder, the names are nil. The
// errors are those of use, read and do.
func inFolder[C any](
	use func(func(names []string) error) error,
	read func(names []string) (C, error),
	do func(C) error,
) error {
	return use(func(names []string) error {
		content, err := read(names)
		if err != nil {
			return err
		}
		return do(content)
	})
}
