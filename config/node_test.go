package config

import (
	"strings"
	"testing"
)

// To take Node's own figures costs time, so both arms do or neither.
func TestNodeInOneArm(t *testing.T) {
	const app = "app: {command: [node, main.js], node: true}\nbase: {dir: other"
	if c, err := Parse(File, []byte(app+"}\n"), nil); err != nil || !c.App.Node || !c.Base.Node {
		t.Errorf("got %+v, %v", c, err)
	}
	_, err := Parse(File, []byte(app+", node: false}\n"), nil)
	if err == nil || !strings.Contains(err.Error(), "ddpgate.yml:2:") || !strings.Contains(err.Error(), "both arms or in none") {
		t.Errorf("got %v", err)
	}
	if _, err := Parse(File, []byte("app: {url: \"http://localhost\", node: true}\n"), nil); err == nil || !strings.Contains(err.Error(), "node: ") {
		t.Errorf("got %v", err)
	}
}
