package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// processFlags say how a subject's process is run.
type processFlags struct {
	env, inherit []string
	timeoutScale float64
}

func (f *processFlags) addTo(set *pflag.FlagSet, subject string) {
	set.StringArrayVar(&f.env, "env", nil, "`NAME=VALUE` for the "+subject+"'s environment, repeated for several")
	set.StringSliceVar(&f.inherit, "inherit-env", nil, "`NAME` of a variable of yours to pass on, repeated for several")
	set.Float64Var(&f.timeoutScale, "timeout-scale", 1, "`factor` for all deadlines")
}

// checkProcess finds what is wrong in them.
func (f *processFlags) checkProcess() error {
	if err := checkVariables(f.env); err != nil {
		return fmt.Errorf("%w (--inherit-env NAME passes on one of yours)", err)
	}
	for i, name := range f.inherit {
		if f.inherit[i] = strings.TrimSpace(name); f.inherit[i] == "" || strings.Contains(name, "=") {
			return misuse("--inherit-env takes the name of a variable, not %q", name)
		}
	}
	if !(f.timeoutScale > 0 && f.timeoutScale <= 1000) { // NaN is neither
		return misuse("--timeout-scale takes a number between 0 and 1000, not %v", f.timeoutScale)
	}
	return nil
}

// checkVariables finds what is wrong in --env.
func checkVariables(env []string) error {
	for _, entry := range env {
		if name, _, ok := strings.Cut(entry, "="); !ok || name == "" {
			return misuse("--env %q is not of the form NAME=VALUE", entry)
		}
	}
	return nil
}
