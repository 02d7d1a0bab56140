//go:build !linux

package client

import (
	"context"
	"errors"
)

// canMeasure is whether Usage works on this platform.
const canMeasure = false

// Usage can't be told on this platform.
func (*Driver) Usage(context.Context) (Usage, error) {
	return Usage{}, errors.New("a process can't be measured on this platform")
}
