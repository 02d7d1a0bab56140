package requirements

import (
	"fmt"
	"slices"
	"strings"
)

// Capabilities returns the closed set of capabilities of a role, those of both roles included; an empty role
// stands for all.
func (c *Catalogue) Capabilities(role Role) []Capability {
	var cs []Capability
	for _, k := range c.capabilities {
		if role == "" || k.Role == role || k.Role == Both {
			cs = append(cs, k)
		}
	}
	return cs
}

// Capability returns the capability of that name.
func (c *Catalogue) Capability(name string) (Capability, bool) {
	for _, k := range c.capabilities {
		if k.Name == name {
			return k, true
		}
	}
	return Capability{}, false
}

// CheckCapability returns an error that names the closed set, if a name that a target or a driver declares is
// not in it. The error wraps ErrUnknown.
func (c *Catalogue) CheckCapability(role Role, name string) error {
	var names []string
	for _, k := range c.Capabilities(role) {
		if k.Name == name {
			return nil
		}
		names = append(names, k.Name)
	}
	return fmt.Errorf("capability %q is %w: there are %s", name, ErrUnknown, strings.Join(names, ", "))
}

// Controls returns the ids that are not applicable where the capability is lacking, directly or because another one
// that they need implies it: bare ids of whole rows, and ids of variants where only those need it.
func (c *Catalogue) Controls(name string) []string {
	var ids []string
	for _, r := range c.rows {
		if c.anyImplies(r.Needs, name) {
			ids = append(ids, r.ID)
			continue
		}
		for _, v := range r.Variants {
			if c.anyImplies(v.Needs, name) {
				ids = append(ids, JoinID(r.ID, v.Name))
			}
		}
	}
	return ids
}

// Blocked says whether a row (or a variant of it, where one is named) is not applicable to a subject that lacks
// these capabilities, and by which of them. The one that is lacking is returned, not the one that implies it.
func (c *Catalogue) Blocked(r Row, variant string, lacks []string) (Capability, bool) {
	for _, lack := range lacks {
		if c.anyImplies(r.NeedsOf(variant), lack) {
			k, ok := c.Capability(lack)
			return k, ok
		}
	}
	return Capability{}, false
}

// anyImplies says whether one of the needs is the capability, or can't be had without it.
func (c *Catalogue) anyImplies(needs []string, name string) bool {
	return slices.ContainsFunc(needs, func(n string) bool {
		if n == name {
			return true
		}
		k, _ := c.Capability(n)
		return c.anyImplies(k.Implies, name)
	})
}
