package reports

import (
	"os"

	"charm.land/lipgloss/v2"
	"github.com/mattn/go-isatty"
)

// Terminal says whether a file is a terminal that a live line may be drawn on.
func Terminal(f *os.File) bool {
	fd := f.Fd()
	return (isatty.IsTerminal(fd) || isatty.IsCygwinTerminal(fd)) && os.Getenv("TERM") != "dumb"
}

// Color says whether a file gets colours: a terminal, unless the caller said --no-color or set NO_COLOR to anything.
func Color(f *os.File, noColor bool) bool {
	if noColor || os.Getenv("NO_COLOR") != "" || !Terminal(f) {
		return false
	}
	lipgloss.EnableLegacyWindowsANSI(f)
	return true
}

var verdictStyle = map[Verdict]lipgloss.Style{
	Pass:          lipgloss.NewStyle().Foreground(lipgloss.Green),
	Fail:          lipgloss.NewStyle().Foreground(lipgloss.Red).Bold(true),
	Warn:          lipgloss.NewStyle().Foreground(lipgloss.Yellow),
	Observed:      lipgloss.NewStyle().Foreground(lipgloss.Cyan),
	NotApplicable: lipgloss.NewStyle().Faint(true),
	NotReached:    lipgloss.NewStyle().Foreground(lipgloss.Magenta).Bold(true),
	Error:         lipgloss.NewStyle().Foreground(lipgloss.Magenta).Bold(true),
}

// paint colours a word by its verdict.
func paint(color bool, v Verdict, word string) string {
	if !color {
		return word
	}
	return verdictStyle[v].Render(word)
}

// bold is for the lines that count.
func bold(color bool, v Verdict, line string) string {
	if !color {
		return line
	}
	return verdictStyle[v].Bold(true).Render(line)
}
