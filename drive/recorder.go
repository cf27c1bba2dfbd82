package drive

import (
	"sync"
	"time"

	"github.com/ddpgate/ddpgate/metric"
)

// What is recorded for each session, before the methods' latencies in a recorder's order.
const (
	histSession = iota
	histWait
	histLag
	histConnect
	histReady
	histVisible
	histForeign
	fixedHists
)

var histNames = [fixedHists]string{"session", "session.wait", "lag", "connect", "ready", "visible", "foreign"}

// histResult and histUpdated index the latencies of method m.
func histResult(m int) int  { return fixedHists + 2*m }
func histUpdated(m int) int { return fixedHists + 2*m + 1 }

// A recorder keeps what sessions report. Its histograms are split into a few shards, so that sessions seldom wait for each
// other and memory does not grow with them. It is safe for concurrent use.
type recorder struct {
	methods []string
	shards  []shard
}

type shard struct {
	sync.Mutex
	hists   []*metric.Histogram // made when first needed
	results []Size              // by method
}

func newRecorder(methods []string, shards int) *recorder {
	r := &recorder{methods: methods, shards: make([]shard, shards)}
	for i := range r.shards {
		r.shards[i].hists = make([]*metric.Histogram, fixedHists+2*len(methods))
		r.shards[i].results = make([]Size, len(methods))
	}
	return r
}

func (s *shard) hist(i int) *metric.Histogram {
	if s.hists[i] == nil {
		s.hists[i] = metric.NewHistogram()
	}
	return s.hists[i]
}

func (s *shard) record(hist int, d time.Duration) {
	s.Lock()
	s.hist(hist).Record(d.Seconds())
	s.Unlock()
}

// answer records a method's result: how long it took to come, and its size.
func (s *shard) answer(method int, d time.Duration, bytes int) {
	s.Lock()
	s.hist(histResult(method)).Record(d.Seconds())
	s.results[method].add(Size{1, int64(bytes), int64(bytes)})
	s.Unlock()
}

func (s *shard) censor(hist int) {
	s.Lock()
	s.hist(hist).Censor()
	s.Unlock()
}

// merged returns one histogram for each name, once no session reports any more.
func (r *recorder) merged() map[string]*metric.Histogram {
	out := make(map[string]*metric.Histogram)
	for i := range r.shards {
		for j, h := range r.shards[i].hists {
			if h == nil {
				continue
			}
			name := r.name(j)
			if out[name] == nil {
				out[name] = metric.NewHistogram()
			}
			out[name].Merge(h)
		}
	}
	return out
}

// sizes returns the sizes of the results of each method that had any, once no session reports any more.
func (r *recorder) sizes() map[string]Size {
	out := make(map[string]Size)
	for i := range r.shards {
		for m, size := range r.shards[i].results {
			if size.Count > 0 {
				size.add(out[r.methods[m]])
				out[r.methods[m]] = size
			}
		}
	}
	return out
}

func (r *recorder) name(hist int) string {
	if hist < fixedHists {
		return histNames[hist]
	}
	name := r.methods[(hist-fixedHists)/2]
	if (hist-fixedHists)%2 == 1 {
		name += ".updated"
	}
	return name
}
