// Package docs gives the program the pages that it writes or shows.
package docs

import _ "embed" // for the pages

// Driver is the page of the driver protocol.
//
//go:embed driver.md
var Driver []byte
