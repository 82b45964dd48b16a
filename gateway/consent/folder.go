package consent

// inFolder calls do with what read makes of the names of the files in a folder. use is a method of [ownerfiles.RecordFolder], which
// holds the lock of the folder meanwhile; without a folder the names are nil. Its errors are those of use, read and do.
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
