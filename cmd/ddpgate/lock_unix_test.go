//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A load whose ddpgate is at work is not taken over; one whose ddpgate is gone is.
func TestHold(t *testing.T) {
	file := filepath.Join(t.TempDir(), "0123.json")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	first, err := hold(file)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := hold(file); !errors.Is(err, errHeld) {
		t.Errorf("held twice: %v, %v", again, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := hold(file)
	if err != nil {
		t.Fatalf("nobody is at it any more, and still %v", err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
}
