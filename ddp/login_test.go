package ddp

import (
	"encoding/json"
	"testing"
)

// What Meteor's clients send. The digest is of the text sesame.
func TestLoginParams(t *testing.T) {
	const digest = "d0c04f4b1951e4aeaaec8223ed2039e542f3aae805a6fa7f6d794e5afff5d272"
	for _, tt := range []struct{ got, want string }{
		{string(ResumeParams(`to"ken`)), `[{"resume":"to\"ken"}]`},
		{string(PasswordParams("ann", "sesame")), `[{"user":{"username":"ann"},"password":{"digest":"` + digest + `","algorithm":"sha-256"}}]`},
		{string(PasswordParams("ann@app.test", "sesame")), `[{"user":{"email":"ann@app.test"},"password":{"digest":"` + digest + `","algorithm":"sha-256"}}]`},
	} {
		if tt.got != tt.want || !json.Valid([]byte(tt.got)) {
			t.Errorf("got %s, want %s", tt.got, tt.want)
		}
	}
}
