package scenario

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Identity returns what tells this scenario from every other: sha256: and the hash of all that it says, name and load
// included. Two measurements may be compared when their scenarios have the same identity. Numbers count by value: 20 and
// 20.0 are the same. The scenario must be sound.
func (s *Scenario) Identity() string {
	// encoding/json writes struct fields in their order and the keys of maps sorted, so that equal scenarios are equal text.
	// A field that is added later must be omitted while it has its default, or every old identity changes.
	text, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("identity of a scenario that does not validate: %v", err))
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
