//go:build !unix

package baseline

import "errors"

func limitFiles(uint64) error { return errors.ErrUnsupported }
