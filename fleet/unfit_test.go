package fleet

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A call that cannot go well as things are set up is told from one that met a fault of the service.
func TestUnfit(t *testing.T) {
	for _, tt := range []struct {
		status int
		kind   string
		unfit  bool
	}{
		{http.StatusNotFound, "ResourceNotFoundException", true},
		{http.StatusForbidden, "AccessDeniedException", true},
		{http.StatusTooManyRequests, "TooManyRequestsException", false},
		{http.StatusInternalServerError, "ServiceException", false},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Amzn-Errortype", tt.kind)
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(`{"Message":"no"}`))
			}))
			defer server.Close()
			t.Setenv("AWS_ENDPOINT_URL_LAMBDA", server.URL)
			t.Setenv("AWS_ACCESS_KEY_ID", "id")
			t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
			f := &Fleet{Places: []Place{&Function{Name: "w", In: "eu-central-1"}}, Count: 1, Version: "test"}
			err := f.Hello(t.Context(), "http://192.0.2.1")
			if err == nil {
				t.Fatal("the call went well")
			}
			if is := errors.As(err, new(*UnfitError)); is != tt.unfit {
				t.Errorf("unfit: %v, want %v: %v", is, tt.unfit, err)
			}
		})
	}
	t.Run("no credentials", func(t *testing.T) {
		for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"} {
			t.Setenv(name, "")
		}
		t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
		t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/no/such/file")
		t.Setenv("AWS_CONFIG_FILE", "/no/such/file")
		f := &Fleet{Places: []Place{&Function{Name: "w", In: "eu-central-1"}}, Count: 1, Version: "test"}
		if err := f.Hello(t.Context(), "http://192.0.2.1"); !errors.As(err, new(*UnfitError)) {
			t.Errorf("got %v", err)
		}
	})
}

// What a worker refuses is to be mended too.
func TestWorkerThatRefuses(t *testing.T) {
	f := local(t, 1)
	f.Version = "another"
	if err := f.Hello(t.Context(), "http://192.0.2.1"); !errors.As(err, new(*UnfitError)) {
		t.Errorf("got %v", err)
	}
}
