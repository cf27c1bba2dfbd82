package meter

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The metrics that a process has in Prometheus' own client libraries.
const (
	usualCPU     = "process_cpu_seconds_total"
	usualRAM     = "process_resident_memory_bytes"
	startMetric  = "process_start_time_seconds"
	scrapeLimit  = 2 * time.Second
	largestReply = 8 << 20 // bytes
)

// An Endpoint is where a process tells its CPU time and memory in Prometheus' text format.
type Endpoint struct {
	URL string
	CPU string // the counter of CPU seconds; empty is process_cpu_seconds_total
	RAM string // the gauge of resident bytes; empty is process_resident_memory_bytes
	// Token, when set, is sent as a bearer token.
	Token string
}

// A remote meters one endpoint.
type remote struct {
	Endpoint
	role      int
	client    *http.Client
	first     float64 // CPU seconds when the metering began
	last      float64
	started   float64 // by its own clock; 0 if it does not say
	broken    error   // why it is not asked any more
	restarted bool
	end       time.Time // of the last answer
}

func newRemote(role int, e Endpoint) *remote {
	if e.CPU == "" {
		e.CPU = usualCPU
	}
	if e.RAM == "" {
		e.RAM = usualRAM
	}
	return &remote{Endpoint: e, role: role, client: &http.Client{Timeout: scrapeLimit, Transport: &http.Transport{DisableKeepAlives: true}}}
}

// begin asks for the first time.
func (r *remote) begin() error {
	told, err := r.ask()
	if err != nil {
		return err
	}
	r.first, r.last, r.started, r.end = told[r.CPU], told[r.CPU], told[startMetric], time.Now()
	return nil
}

// take adds what the endpoint tells. Once it did not answer, or its process is another one, it is not asked again.
func (r *remote) take(to *reading) {
	if r.broken != nil {
		to.used[r.role] = r.last - r.first
		return
	}
	told, err := r.ask()
	switch {
	case err != nil:
		r.broken = err
	case told[r.CPU] < r.last || told[startMetric] != r.started:
		r.restarted = true
		r.broken = fmt.Errorf("the process behind %s was restarted", r.URL)
	default:
		r.last, r.end = told[r.CPU], time.Now()
		to.ram[r.role], to.alive[r.role] = told[r.RAM], true
	}
	to.used[r.role] = r.last - r.first
}

// ask returns the figures. Both that are wanted are there if there is no error.
func (r *remote) ask() (map[string]float64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, nil)
	if err != nil {
		return nil, err
	}
	if r.Token != "" {
		request.Header.Set("Authorization", "Bearer "+r.Token)
	}
	response, err := r.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", r.URL, response.Status)
	}
	told, names, err := parseMetrics(io.LimitReader(response.Body, largestReply), r.CPU, r.RAM, startMetric)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.URL, err)
	}
	for _, name := range []string{r.CPU, r.RAM} {
		if _, found := told[name]; !found {
			return nil, fmt.Errorf("%s has no metric %s; there are %s", r.URL, name, some(names))
		}
	}
	return told, nil
}

// some lists names, for people.
func some(names []string) string {
	switch {
	case len(names) == 0:
		return "none at all"
	case len(names) > mostShown:
		return strings.Join(names[:mostShown], ", ") + fmt.Sprintf(" and %d more", len(names)-mostShown)
	}
	return strings.Join(names, ", ")
}

// parseMetrics reads Prometheus' text format and returns the metrics that are wanted, summed over their labels, and the names of all that there
// are, in order. What is no number of that format is an error.
func parseMetrics(in io.Reader, wanted ...string) (told map[string]float64, names []string, err error) {
	told = make(map[string]float64)
	seen := make(map[string]bool)
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		name, rest := line, ""
		if i := strings.IndexAny(line, "{ \t"); i >= 0 {
			name, rest = line[:i], line[i:]
		}
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
		if !slices.Contains(wanted, name) {
			continue
		}
		value, err := sampleValue(rest)
		if err != nil {
			return nil, nil, fmt.Errorf("metric %s: %w", name, err)
		}
		told[name] += value
	}
	slices.Sort(names)
	return told, names, lines.Err()
}

// sampleValue returns the number of a sample: what comes after its labels, before its timestamp.
func sampleValue(rest string) (float64, error) {
	if strings.HasPrefix(rest, "{") {
		quoted := false
		end := -1
		for i := 0; i < len(rest) && end < 0; i++ {
			switch {
			case quoted && rest[i] == '\\':
				i++
			case rest[i] == '"':
				quoted = !quoted
			case rest[i] == '}' && !quoted:
				end = i
			}
		}
		if end < 0 {
			return 0, errors.New("its labels have no end")
		}
		rest = rest[end+1:]
	}
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, errors.New("no value")
	}
	v, err := strconv.ParseFloat(fields[0], 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return 0, fmt.Errorf("%q is no figure", fields[0])
	}
	return v, nil
}
