package parity

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/suites/requirements"
)

func seen(pairs ...string) *view {
	v := newView()
	for i := 0; i < len(pairs); i += 2 {
		v.set(pairs[i], value{text: pairs[i+1]})
	}
	return v
}

func listed(items ...item) *view {
	v := newView()
	v.set("call.events", value{list: items, lists: true})
	return v
}

func TestCompare(t *testing.T) {
	a, b, c := item{"turn/start", "{1}"}, item{"turn/end", "{2}"}, item{"turn/end", "{3}"}
	for name, tc := range map[string]struct {
		views []*view
		want  []difference
		same  []string
	}{
		"the same":        {[]*view{seen("call", "succeeds"), seen("call", "succeeds")}, nil, []string{"call"}},
		"another value":   {[]*view{seen("call", "succeeds"), seen("call", "hangs")}, []difference{{"call", map[string]string{"x": "succeeds", "y": "hangs"}}}, nil},
		"a field of one":  {[]*view{seen("call", "fails", "call.error.class", "closed"), seen("call", "fails")}, nil, []string{"call"}},
		"of two of three": {[]*view{seen("k", "1"), seen("call", "fails"), seen("k", "2")}, []difference{{"k", map[string]string{"x": "1", "z": "2"}}}, nil},
		"an element less": {[]*view{listed(a, b), listed(b)}, []difference{{"call.events", map[string]string{"x": "2: turn/start, turn/end", "y": "1: turn/end"}}}, nil},
		"another element": {[]*view{listed(a, b), listed(a, c)}, []difference{{"call.events[1]", map[string]string{"x": "{2}", "y": "{3}"}}}, nil},
		"no elements":     {[]*view{listed(), listed(a, a)}, []difference{{"call.events", map[string]string{"x": "none", "y": "2: turn/start ×2"}}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got := compare([]string{"x", "y", "z"}[:len(tc.views)], tc.views)
			g.Expect(got.differences).To(Equal(tc.want))
			g.Expect(got.same).To(Equal(tc.same))
		})
	}
}

// What is cut is told apart all the same.
func TestShownTellsLongTextsApart(t *testing.T) {
	g := NewWithT(t)
	long := strings.Repeat("运", 5000)
	g.Expect(shown(long + "a")).NotTo(Equal(shown(long + "b")))
	g.Expect(shown(long)).To(HavePrefix("运运"))
	g.Expect(len([]rune(shown(long)))).To(BeNumerically("<", 2*mostShown))
}

// Every scenario of the catalogue is played, in every profile that it has.
func TestEveryScenarioIsPlayed(t *testing.T) {
	g := NewWithT(t)
	c, err := requirements.Load()
	g.Expect(err).NotTo(HaveOccurred())
	done := Implemented(c)
	rows := c.Rows(requirements.Parity)
	g.Expect(rows).NotTo(BeEmpty())
	for _, r := range rows {
		g.Expect(done[r.ID]).To(BeTrue(), r.ID)
		g.Expect(r.Level).To(Equal(requirements.Observe), "%s: nothing is right or wrong between clients", r.ID)
	}
}
