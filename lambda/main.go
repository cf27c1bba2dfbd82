// Command lambda is the worker that AWS Lambda runs: it does the jobs of a fleet's coordinator, one at a time, and streams what it has to
// say as lines. What it may drive stands in ALLOWED_TARGETS.
package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/aws/aws-lambda-go/lambda"
)

func main() {
	host, err := newHost(os.Getenv, "/", runtime.GOMAXPROCS(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		if err := refuse(os.Getenv("AWS_LAMBDA_RUNTIME_API"), err); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
		}
		os.Exit(1)
	}
	lambda.Start(handler(host))
}
