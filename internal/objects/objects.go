// Package objects reads and writes objects of S3, or of whatever AWS_ENDPOINT_URL names.
package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// A Bucket is the objects under a prefix of a bucket. Names are given without the prefix. It is safe for concurrent use.
type Bucket struct {
	name   string
	prefix string // ends with /, or is empty

	mu     sync.Mutex
	client *s3.Client // made at the first use
}

// ErrMoved says that the condition of a write did not hold: somebody else wrote the object.
var ErrMoved = errors.New("changed by somebody else meanwhile")

var (
	bucketForm = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	prefixForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._+-]*(/[A-Za-z0-9_][A-Za-z0-9._+-]*)*$`)
)

// Parse reads s3://BUCKET/PREFIX. It asks nobody whether there is such a bucket.
func Parse(place string) (*Bucket, error) {
	rest, ok := strings.CutPrefix(place, "s3://")
	if !ok {
		return nil, errors.New("want s3://BUCKET/PREFIX")
	}
	name, prefix, _ := strings.Cut(rest, "/")
	if !bucketForm.MatchString(name) {
		return nil, fmt.Errorf("%q cannot be a bucket", name)
	}
	prefix = strings.TrimSuffix(prefix, "/")
	if prefix == "" {
		return &Bucket{name: name}, nil
	}
	if !prefixForm.MatchString(prefix) {
		return nil, fmt.Errorf("%q cannot be a prefix: letters, digits and ._+- in parts that begin with a letter, digit or _, with / between them", prefix)
	}
	return &Bucket{name: name, prefix: prefix + "/"}, nil
}

func (b *Bucket) String() string { return "s3://" + b.name + "/" + strings.TrimSuffix(b.prefix, "/") }

// open returns the client, from the environment and the files of AWS.
func (b *Bucket) open(ctx context.Context) (*s3.Client, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.client != nil {
		return b.client, nil
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, err
	}
	if cfg.Region == "" {
		cfg.Region = "us-east-1"
	}
	b.client = s3.NewFromConfig(cfg, func(o *s3.Options) {
		if o.BaseEndpoint != nil { // another's S3 need know neither buckets in host names nor the newer checksums
			o.UsePathStyle = true
			o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
			o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		}
	})
	return b.client, nil
}

// An Object is one that List found; or, with Folder, the part that several names have in common up to their next /.
type Object struct {
	Name    string // without the prefix that was listed
	Folder  bool
	Size    int64 // bytes
	Changed time.Time
}

// List returns what is in a folder: of the names that begin with folder, what follows up to the next /. An empty folder is the prefix itself.
func (b *Bucket) List(ctx context.Context, folder string) ([]Object, error) {
	client, err := b.open(ctx)
	if err != nil {
		return nil, err
	}
	prefix := b.prefix + folder
	pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &prefix, Delimiter: aws.String("/")})
	var found []Object
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, explain(err)
		}
		for _, o := range page.Contents {
			if name := strings.TrimPrefix(aws.ToString(o.Key), prefix); name != "" {
				found = append(found, Object{name, false, aws.ToInt64(o.Size), aws.ToTime(o.LastModified)})
			}
		}
		for _, p := range page.CommonPrefixes {
			found = append(found, Object{Name: strings.TrimPrefix(aws.ToString(p.Prefix), prefix), Folder: true})
		}
	}
	return found, nil
}

// Get returns an object of at most limit bytes, with the tag of this version of it. The error is fs.ErrNotExist where there is none, and a
// *TooLarge where it is larger.
func (b *Bucket) Get(ctx context.Context, name string, limit int64) (content []byte, tag string, err error) {
	client, err := b.open(ctx)
	if err != nil {
		return nil, "", err
	}
	out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: b.key(name)})
	if e := new(types.NoSuchKey); errors.As(err, &e) {
		return nil, "", fs.ErrNotExist
	} else if err != nil {
		return nil, "", explain(err)
	}
	defer out.Body.Close()
	content, err = io.ReadAll(io.LimitReader(out.Body, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = &TooLarge{name, limit}
	}
	return content, aws.ToString(out.ETag), err
}

// A TooLarge is the error of reading an object that is larger than it may be.
type TooLarge struct {
	Name  string
	Limit int64 // bytes
}

func (t *TooLarge) Error() string {
	return fmt.Sprintf("%s has more than the %d bytes that it may have", t.Name, t.Limit)
}

func (b *Bucket) key(name string) *string { return aws.String(b.prefix + name) }

// A Condition is what must hold for an object to be written.
type Condition struct {
	tag  string
	none bool
}

// New is the condition that there is no such object.
func New() Condition { return Condition{none: true} }

// Still is the condition that the object is the version with this tag.
func Still(tag string) Condition { return Condition{tag: tag} }

// Put writes an object, where its condition holds; the zero condition always does. Otherwise the error is ErrMoved: of two who write at
// once under one condition, one succeeds.
func (b *Bucket) Put(ctx context.Context, name, kind string, content []byte, on Condition) error {
	client, err := b.open(ctx)
	if err != nil {
		return err
	}
	in := &s3.PutObjectInput{Bucket: &b.name, Key: b.key(name), Body: bytes.NewReader(content), ContentType: &kind}
	switch {
	case on.none:
		in.IfNoneMatch = aws.String("*")
	case on.tag != "":
		in.IfMatch = &on.tag
	}
	_, err = client.PutObject(ctx, in)
	if on != (Condition{}) && moved(err, on) {
		return fmt.Errorf("%w: %w", ErrMoved, err)
	}
	return explain(err)
}

func moved(err error, on Condition) bool {
	answer := new(awshttp.ResponseError)
	if !errors.As(err, &answer) {
		return false
	}
	switch answer.HTTPStatusCode() {
	case http.StatusPreconditionFailed, http.StatusConflict:
		return true
	case http.StatusNotFound: // the version was deleted
		e := new(types.NoSuchBucket)
		return on.tag != "" && !errors.As(err, &e)
	}
	return false
}

// Delete deletes an object, if there is one.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	client, err := b.open(ctx)
	if err != nil {
		return err
	}
	_, err = client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: b.key(name)})
	return explain(err)
}

// explain says what to do about an answer that the SDK only quotes.
func explain(err error) error {
	answer := new(awshttp.ResponseError)
	none := new(types.NoSuchBucket)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &none):
		return fmt.Errorf("there is no such bucket: %w", err)
	case errors.As(err, &answer) && answer.HTTPStatusCode() == http.StatusForbidden:
		return fmt.Errorf("these credentials may not do that: %w", err)
	case strings.Contains(err.Error(), "get credentials") || strings.Contains(err.Error(), "no EC2 IMDS role"):
		return fmt.Errorf("no credentials for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or what else the AWS tools take: %w", err)
	}
	return err
}
