package server

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/model"
)

// A server may serve all that waits in one turn.
func TestOrderOfQueuedPromptsAtTheModel(t *testing.T) {
	g := NewWithT(t)
	var scripts []model.Script
	for _, tag := range []string{"one", "two", "three"} {
		scripts = append(scripts, model.NewScript(tag, model.Text(tag)))
	}
	call := func(places ...int) (c model.Call) {
		for _, i := range places {
			c.Messages = append(c.Messages, model.Message{Role: "user", Texts: []string{scripts[i-1].Prompt("Go.")}})
		}
		return c
	}
	g.Expect(orderOf([]model.Call{call(1), call(1, 2), call(1, 2, 3)}, scripts)).To(Equal([]int{1, 2, 3}), "a turn each")
	g.Expect(orderOf([]model.Call{call(), call(1, 2, 3)}, scripts)).To(Equal([]int{1, 2, 3}), "one turn for all")
	g.Expect(orderOf([]model.Call{call(2, 1), call(2, 1, 3)}, scripts)).To(Equal([]int{2, 1, 3}), "one turn for two, in another order")
	g.Expect(orderOf([]model.Call{call(3), call(3, 1)}, scripts)).To(Equal([]int{3, 1}))
}
