package runner

import (
	"testing"
)

// The calibration load is a fixed piece of work that ends well, and leaves nothing behind.
func TestCalibrate(t *testing.T) {
	seconds, err := calibrate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.3f s", seconds)
	if !(seconds > 0.05 && seconds < 60) {
		t.Errorf("got %v s of CPU", seconds)
	}
}
