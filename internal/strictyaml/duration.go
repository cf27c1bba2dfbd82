package strictyaml

import (
	"fmt"
	"time"
)

// ParseDuration reads a duration that is not negative and has a unit: 500ms, 1.5s, 2m, 1h30m; or plain 0.
func ParseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration such as 500ms, 60s or 2m", text)
	}
	if d < 0 {
		return 0, fmt.Errorf("%q is negative", text)
	}
	return d, nil
}
