package parity

import (
	"fmt"
	"slices"
	"strings"
)

// view is what the caller of one client saw in a scenario, in the order in which it
// came up.
type view struct {
	order  []string
	fields map[string]value
}

// value is that of one field: a text, or a list.
type value struct {
	text  string
	list  []item
	lists bool

	part   string // of the scenario
	ends   bool   // it is how a call ends
	frames bool   // it is what the SDK wrote
}

// item is an element of a list. Lists are compared by the names first: which elements
// there are says more than what they hold.
type item struct{ name, whole string }

func newView() *view { return &view{fields: map[string]value{}} }

// end notes how a call of a part ends.
func (v *view) end(part, call, how string) {
	v.set(part+call, value{text: how, part: part, ends: true})
}

func (v *view) set(field string, x value) {
	if _, known := v.fields[field]; known {
		panic("the field " + field + " is seen twice") // a mistake in a scenario
	}
	v.order = append(v.order, field)
	v.fields[field] = x
}

// difference is a field that two clients show differently.
type difference struct {
	field  string
	values map[string]string // by client
}

// compared is what became of views: the fields that two clients or more have, and
// those that differ.
type compared struct {
	same        []string // fields
	differences []difference
}

// compare looks at each field among those that have it. Where calls of a part end
// differently, what the clients write in it differs in consequence, and is left out.
func compare(names []string, views []*view) (c compared) {
	parted := map[string]bool{}
	for _, frames := range []bool{false, true} {
		for _, field := range fieldsOf(views) {
			var who []string
			var values []value
			for i, v := range views {
				if x, ok := v.fields[field]; ok && x.frames == frames && !(frames && parted[x.part]) {
					who, values = append(who, names[i]), append(values, x)
				}
			}
			if len(who) < 2 {
				continue
			}
			ds := differ(field, who, values)
			if len(ds) == 0 {
				c.same = append(c.same, field)
			}
			if len(ds) > 0 && values[0].ends {
				parted[values[0].part] = true
			}
			c.differences = append(c.differences, ds...)
		}
	}
	return c
}

// fieldsOf are all fields, those of the first view first.
func fieldsOf(views []*view) (fields []string) {
	seen := map[string]bool{}
	for _, v := range views {
		for _, f := range v.order {
			if !seen[f] {
				seen[f] = true
				fields = append(fields, f)
			}
		}
	}
	return fields
}

// differ gives the differences of one field. Of two lists with the same names it gives
// the first element whose content differs, and no more: one that is shifted shifts all.
func differ(field string, who []string, values []value) []difference {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = v.short()
	}
	if !allSame(texts) {
		return []difference{{field, named(who, texts)}}
	}
	if !values[0].lists {
		return nil
	}
	for at := range values[0].list {
		for i, v := range values {
			texts[i] = shown(v.list[at].whole)
		}
		if !allSame(texts) {
			return []difference{{fmt.Sprintf("%s[%d]", field, at), named(who, texts)}}
		}
	}
	return nil
}

func allSame(texts []string) bool {
	return !slices.ContainsFunc(texts, func(t string) bool { return t != texts[0] })
}

func named(who, texts []string) map[string]string {
	m := map[string]string{}
	for i, name := range who {
		m[name] = texts[i]
	}
	return m
}

// short is the value as a report shows it: of a list how many elements it has and
// their names, those that repeat once.
func (v value) short() string {
	if !v.lists {
		return shown(v.text)
	}
	if len(v.list) == 0 {
		return "none"
	}
	var parts []string
	for i := 0; i < len(v.list); {
		n := 1
		for i+n < len(v.list) && v.list[i+n].name == v.list[i].name {
			n++
		}
		part := v.list[i].name
		if n > 1 {
			part += fmt.Sprintf(" ×%d", n)
		}
		parts = append(parts, part)
		i += n
	}
	return shown(fmt.Sprintf("%d: %s", len(v.list), strings.Join(parts, ", ")))
}
