//go:build !linux && !darwin

package mapped

import "errors"

func mapPart(int, int64) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmap([]byte) {}
