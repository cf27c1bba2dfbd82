package lambdatest

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
)

// runtimeAPI is what workers talk to: each under a path of its own.
func (l *Lambda) runtimeAPI() http.Handler {
	mux := http.NewServeMux()
	to := func(do func(s *sandbox, w http.ResponseWriter, r *http.Request)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			l.mu.Lock()
			s := l.sandboxes[r.PathValue("sandbox")]
			l.mu.Unlock()
			if s == nil {
				http.Error(w, "no such sandbox", http.StatusForbidden)
				return
			}
			do(s, w, r)
		}
	}
	mux.HandleFunc("GET /{sandbox}/2018-06-01/runtime/invocation/next", to((*sandbox).handOver))
	mux.HandleFunc("POST /{sandbox}/2018-06-01/runtime/invocation/{id}/response", to((*sandbox).respond))
	mux.HandleFunc("POST /{sandbox}/2018-06-01/runtime/invocation/{id}/error", to((*sandbox).fail))
	mux.HandleFunc("POST /{sandbox}/2018-06-01/runtime/init/error", to((*sandbox).refuse))
	return mux
}

// handOver gives the worker its next event, when there is one.
func (s *sandbox) handOver(w http.ResponseWriter, r *http.Request) {
	select {
	case i := <-s.next:
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Lambda-Runtime-Aws-Request-Id", i.id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(i.deadline.UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", arn(s.region, Name))
		_, _ = w.Write(i.event)
	case <-r.Context().Done():
	}
}

// respond takes an answer as it comes; what ended it early is in the trailers.
func (s *sandbox) respond(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	i := s.working(id)
	if i == nil {
		http.Error(w, `{"errorMessage":"Invalid request ID","errorType":"InvalidRequestID"}`, http.StatusBadRequest)
		return
	}
	buffer := make([]byte, 32<<10)
	for {
		n, err := r.Body.Read(buffer)
		i.answer.add(buffer[:n])
		if err == io.EOF {
			break
		}
		if err != nil {
			return // the process ends, and its end is what the caller is told
		}
	}
	var o outcome
	if kind := r.Trailer.Get("Lambda-Runtime-Function-Error-Type"); kind != "" {
		o = outcome{kind, "the worker ended its answer early"}
	}
	w.WriteHeader(http.StatusAccepted)
	s.over(id, o)
}

func (s *sandbox) fail(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusAccepted)
	s.over(r.PathValue("id"), said(r.Body))
}

// refuse takes why a worker cannot start. It is not told apart from one that ended, but for the reason.
func (s *sandbox) refuse(w http.ResponseWriter, r *http.Request) {
	s.kill(said(r.Body))
	w.WriteHeader(http.StatusAccepted)
}

// said reads the error that a worker reports.
func said(body io.Reader) outcome {
	var e struct{ ErrorType, ErrorMessage string }
	if err := json.NewDecoder(body).Decode(&e); err != nil {
		return outcome{"Runtime.Unknown", err.Error()}
	}
	return outcome{e.ErrorType, e.ErrorMessage}
}
