package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/dshconform/dshconform/fixtures/refclient"
)

// troubleVariable makes the test's own executable a driver: that of the reference client, which gets into trouble when
// it is asked for that many prompts: "4:dies". Where a file is named behind, it is made when it hangs.
const troubleVariable = "DSHCONFORM_TEST_TROUBLE"

func driveWithTrouble(trouble string) int {
	in := &troubledReader{}
	at, kind, _ := strings.Cut(trouble, ":")
	in.kind, in.file, _ = strings.Cut(kind, ":")
	var err error
	if in.at, err = strconv.Atoi(at); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return refclient.Run(context.Background(), refclient.Options{Stdin: in, Stdout: os.Stdout, Stderr: os.Stderr})
}

type troubledReader struct {
	kind, file  string
	at, prompts int
}

func (r *troubledReader) Read(p []byte) (int, error) {
	n, err := os.Stdin.Read(p)
	r.prompts += bytes.Count(p[:n], []byte(`"call":"prompt"`))
	if r.prompts < r.at {
		return n, err
	}
	switch r.kind {
	case "dies":
		fmt.Fprintln(os.Stderr, "the driver's last words")
		os.Exit(7)
	case "hangs":
		if r.file != "" {
			if err := os.WriteFile(r.file, nil, 0o600); err != nil {
				return 0, err
			}
		}
		select {}
	case "echoes":
		_, err = os.Stdout.Write(p[:n])
	case "junk":
		_, err = fmt.Println("Loading the model…")
	case "refuses":
		_, err = fmt.Printf(`{"id":%s,"error":{"class":"driver","message":"no module named sdk"}}`+"\n", idOf(p[:n]))
	}
	return n, err
}

func idOf(command []byte) []byte {
	_, id, _ := bytes.Cut(command, []byte(`"id":`))
	id, _, _ = bytes.Cut(id, []byte(","))
	return id
}
