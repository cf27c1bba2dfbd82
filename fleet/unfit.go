package fleet

import (
	"errors"
	"net/http"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// An UnfitError is why workers cannot be used as things are set up: somebody has to mend that first, and to try again is of no use.
type UnfitError struct{ error }

// Unwrap returns what was wrong.
func (e *UnfitError) Unwrap() error { return e.error }

func unfit(err error) error { return &UnfitError{err} }

// calledWrong says whether the one who called is at fault: there is no such function, or no right to it. That all are busy is nobody's
// fault.
func calledWrong(err error) bool {
	answer := new(awshttp.ResponseError)
	if !errors.As(err, &answer) {
		return false
	}
	status := answer.HTTPStatusCode()
	return status >= 400 && status < 500 && status != http.StatusTooManyRequests
}
