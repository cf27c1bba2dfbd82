package app

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
)

func TestHolderOfAPort(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", ":0"} {
		ln, err := net.Listen("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		port := uint64(ln.Addr().(*net.TCPAddr).Port)
		if got, want := holder(port), fmt.Sprintf("process %d (", os.Getpid()); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", at, got, want)
		}
		ln.Close()
		if got := holder(port); got != "" {
			t.Errorf("%s: got %q after it was closed", at, got)
		}
	}
}
