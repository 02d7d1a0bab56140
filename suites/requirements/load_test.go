package requirements

import (
	"testing"
	"testing/fstest"

	. "github.com/onsi/gomega"
)

const (
	tinyIndex   = "families:\n  - server-x\n"
	tinySources = "sources:\n  - {id: J, title: t, from: f, text: x}\n  - {id: S, title: t, from: f, text: x}\n"
	tinyCaps    = "capabilities:\n  - {name: model, role: server, sentence: s, lacking: no model}\n  - {name: driver, role: client, sentence: s, lacking: no driver}\n"
	tinyRevs    = "revisions:\n  - {name: \"2026.12\", about: first}\n  - {name: \"2027.02\", about: second}\n"
	tinyHead    = "family: XXX\nrole: server\ntitle: t\nabout: a\nrows:\n"
	tinyRow     = "  - id: S-XXX-01\n    level: MUST\n    profiles: [all]\n    source: [J]\n    since: \"2026.12\"\n    sentence: A.\n    tested: t\n    breaks: b\n"
)

func tiny(family string) fstest.MapFS {
	return fstest.MapFS{
		"index.yaml": {Data: []byte(tinyIndex)}, "sources.yaml": {Data: []byte(tinySources)},
		"capabilities.yaml": {Data: []byte(tinyCaps)}, "revisions.yaml": {Data: []byte(tinyRevs)},
		"server-x.yaml": {Data: []byte(family)},
	}
}

func TestLoaderRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ family, want string }{
		"unknown key":        {tinyHead + tinyRow + "    colour: red\n", `server-x.yaml:14:5: unknown field "colour"`},
		"unknown level":      {tinyHead + "  - {id: S-XXX-01, level: MAY, profiles: [all], source: [J], since: \"2026.12\", sentence: A., tested: t, breaks: b}\n", `server-x.yaml:6:27: S-XXX-01: level "MAY"`},
		"malformed id":       {tinyHead + "  - id: S-XXX-1\n", `server-x.yaml:6:9: the id "S-XXX-1"`},
		"other family":       {tinyHead + "  - id: S-YYY-01\n    level: MUST\n", "does not start with S-XXX-"},
		"twice":              {tinyHead + tinyRow + tinyRow, "server-x.yaml:14:9: S-XXX-01 stands here twice"},
		"no tested":          {tinyHead + "  - id: S-XXX-01\n    level: MUST\n    profiles: [all]\n    source: [J]\n    since: \"2026.12\"\n    sentence: A.\n    breaks: b\n", "says how it is tested"},
		"unknown profile":    {tinyHead + "  - id: S-XXX-01\n    level: MUST\n    profiles: [direct]\n    source: [J]\n    sentence: A.\n    tested: t\n    breaks: b\n", "profiles are [all]"},
		"unknown source":     {tinyHead + "  - id: S-XXX-01\n    level: MUST\n    profiles: [all]\n    source: [RFC]\n    sentence: A.\n    tested: t\n    breaks: b\n", `server-x.yaml:9:14: S-XXX-01: there is no source "RFC"`},
		"unknown revision":   {tinyHead + "  - id: S-XXX-01\n    level: MUST\n    profiles: [all]\n    source: [J]\n    since: \"2020.01\"\n    sentence: A.\n    tested: t\n    breaks: b\n", "there are 2026.12, 2027.02"},
		"S without why":      {tinyHead + "  - id: S-XXX-01\n    level: MUST\n    profiles: [all]\n    source: [S]\n    since: \"2026.12\"\n    sentence: A.\n    tested: t\n    breaks: b\n", "does not say why"},
		"unknown capability": {tinyHead + tinyRow + "    needs: [wings]\n", `server-x.yaml:14:12: S-XXX-01: capability "wings" is not in the catalogue`},
		"a client's":         {tinyHead + tinyRow + "    needs: [driver]\n", `capability "driver" is not in the catalogue: there are model`},
		"variant's name":     {tinyHead + tinyRow + "    variants: [{name: A B}]\n", `the variant "A B" is not kebab-case`},
		"variant twice":      {tinyHead + tinyRow + "    variants: [{name: a}, {name: a}]\n", "the variant a stands here twice"},
		"no YAML":            {"family: [\n", "server-x.yaml:1:"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := LoadFS(tiny(tc.family))
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

func TestLoaderRefusesAFileThatNobodyNames(t *testing.T) {
	fsys := tiny(tinyHead + tinyRow)
	fsys["server-forgotten.yaml"] = &fstest.MapFile{Data: []byte(tinyHead)}
	_, err := LoadFS(fsys)
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("server-forgotten.yaml is not in the index")))
}

func TestRevisions(t *testing.T) {
	g := NewWithT(t)
	rows := tinyRow +
		"    variants:\n      - {name: old, sentence: o}\n      - {name: new, sentence: n, since: \"2027.02\"}\n" +
		"  - {id: S-XXX-02, level: SHOULD, profiles: [receipt], source: [J], since: \"2026.12\", sentence: A., tested: t, breaks: b, revised: [{in: \"2027.02\", what: stricter}]}\n" +
		"  - {id: S-XXX-03, level: MUST, profiles: [receipt, directional], source: [J], since: \"2027.02\", sentence: A., tested: t, breaks: b}\n"
	c, err := LoadFS(tiny(tinyHead + rows))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Revision()).To(Equal("2027.02"))
	g.Expect(c.CheckRevision("2026.12")).To(Succeed())
	g.Expect(c.CheckRevision("1999.01")).To(MatchError(ErrUnknown))

	for id, newer := range map[string]bool{
		"S-XXX-01": false, "S-XXX-01/old": false, "S-XXX-01/new": true, "S-XXX-02": true, "S-XXX-03": true, "S-XXX-09": false,
	} {
		g.Expect(c.Newer(id, "2026.12")).To(Equal(newer), id)
		g.Expect(c.Newer(id, "2027.02")).To(BeFalse(), id)
		g.Expect(c.Newer(id, "")).To(BeFalse(), "nothing is frozen")
	}
	log := c.Changelog()
	g.Expect(log[0].Added).To(Equal([]string{"S-XXX-01/new", "S-XXX-03"}))
	g.Expect(log[0].Revised).To(Equal([]RevisedRow{{ID: "S-XXX-02", What: "stricter"}}))
	g.Expect(log[1].Added).To(Equal([]string{"S-XXX-01", "S-XXX-02"}))
	row, _, _ := c.Find("S-XXX-03")
	g.Expect(row.Profiles).To(Equal([]string{Directional, Receipt}), "profiles stand in their usual order")
}
