package usage

import (
	"testing"
	"time"
)

func TestCPU(t *testing.T) {
	before, err := CPU()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for now := before; now < before+0.05; now, err = CPU() {
		if err != nil || now < before {
			t.Fatalf("from %v to %v CPU seconds, error %v", before, now, err)
		}
		if time.Since(began) > time.Minute {
			t.Fatal("a busy loop of a minute used less than 50 ms of CPU time")
		}
	}
}
