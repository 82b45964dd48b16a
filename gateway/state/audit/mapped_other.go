//go:build !linux && !darwin

package audit

import "errors"

func mapPart(int, int64) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmap([]byte) {}
