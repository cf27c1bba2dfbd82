package fleet

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ddpgate/ddpgate/internal/nearest"
)

var (
	regionForm   = regexp.MustCompile(`^[a-z]{2,4}(-[a-z]+)+-[0-9]+$`)
	functionForm = regexp.MustCompile(`^(arn:aws[a-z-]*:lambda:[a-z0-9-]+:[0-9]{12}:function:)?[A-Za-z0-9_-]{1,64}(:[A-Za-z0-9$_-]{1,128})?$`)
)

// ParseWorkers reads what --workers takes: local:N, or lambda:[REGION/]FUNCTION with further ones behind commas. worker is the command of
// a worker on this machine. count is N, or 0 where the text does not say how many.
func ParseWorkers(text string, worker []string) (places []Place, count int, err error) {
	kind, rest, _ := strings.Cut(text, ":")
	switch kind {
	case "local":
		n, err := strconv.Atoi(rest)
		const most = 256
		if err != nil || n < 1 || n > most {
			return nil, 0, fmt.Errorf("workers %q: want local:N with N from 1 to %d", text, most)
		}
		return []Place{Local{Command: worker}}, n, nil
	case "lambda":
		var faults []error
		for word := range strings.SplitSeq(rest, ",") {
			f, err := parseFunction(strings.TrimPrefix(word, "lambda:"))
			if err != nil {
				faults = append(faults, fmt.Errorf("workers %q: %w", text, err))
				continue
			}
			if slices.ContainsFunc(places, func(p Place) bool { return p.String() == f.String() }) {
				faults = append(faults, fmt.Errorf("workers %q: %s is there twice: --count says how many workers there are", text, f))
			}
			places = append(places, f)
		}
		if somewhere, all := named(places); somewhere && !all {
			faults = append(faults, fmt.Errorf("workers %q: name the region of each function, as REGION/FUNCTION, where that of one is named", text))
		}
		return places, 0, errors.Join(faults...)
	}
	return nil, 0, nearest.Unknown("kind of workers", kind, []string{"lambda", "local"})
}

// named says whether the region of any function is named, and whether that of all is.
func named(places []Place) (somewhere, all bool) {
	all = true
	for _, p := range places {
		f, isFunction := p.(*Function)
		is := isFunction && f.In != ""
		somewhere, all = somewhere || is, all && is
	}
	return somewhere, all
}

func parseFunction(word string) (*Function, error) {
	f := &Function{Name: word}
	if region, name, both := strings.Cut(word, "/"); both {
		f.In, f.Name = region, name
		if !regionForm.MatchString(region) {
			return nil, fmt.Errorf("%q is no region such as eu-central-1", region)
		}
	}
	if !functionForm.MatchString(f.Name) {
		return nil, fmt.Errorf("%q cannot be a function: want its name or ARN, and a region before it as REGION/FUNCTION", f.Name)
	}
	if arn := strings.Split(f.Name, ":"); f.In == "" && len(arn) > 4 {
		f.In = arn[3]
	}
	return f, nil
}
