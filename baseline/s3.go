package baseline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// A bucket keeps a store's files as objects of S3, or of whatever AWS_ENDPOINT_URL names. A log grows by conditional writes: of two who
// write at once, the second reads again what the first wrote.
type bucket struct {
	name   string
	prefix string // ends with /, or is empty

	mu     sync.Mutex
	client *s3.Client // made at the first use
}

var (
	bucketForm = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	prefixForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._+-]*(/[A-Za-z0-9_][A-Za-z0-9._+-]*)*$`)
)

func newBucket(place string) (*bucket, error) {
	rest, ok := strings.CutPrefix(place, "//")
	if !ok {
		return nil, errors.New("want s3://BUCKET/PREFIX")
	}
	name, prefix, _ := strings.Cut(rest, "/")
	if !bucketForm.MatchString(name) {
		return nil, fmt.Errorf("%q cannot be a bucket", name)
	}
	prefix = strings.TrimSuffix(prefix, "/")
	if prefix == "" {
		return &bucket{name: name}, nil
	}
	if !prefixForm.MatchString(prefix) {
		return nil, fmt.Errorf("%q cannot be a prefix: letters, digits and ._+- in parts that begin with a letter, digit or _, with / between them", prefix)
	}
	return &bucket{name: name, prefix: prefix + "/"}, nil
}

func (b *bucket) String() string { return "s3://" + b.name + "/" + strings.TrimSuffix(b.prefix, "/") }

func (b *bucket) key(folder, name string) *string { return aws.String(b.prefix + folder + "/" + name) }

// open returns the client, from the environment and the files of AWS.
func (b *bucket) open(ctx context.Context) (*s3.Client, error) {
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

// list implements files.
func (b *bucket) list(ctx context.Context, folder string) ([]file, error) {
	client, err := b.open(ctx)
	if err != nil {
		return nil, err
	}
	prefix := *b.key(folder, "")
	pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &prefix, Delimiter: aws.String("/")})
	var found []file
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, explain(err)
		}
		for _, o := range page.Contents {
			if name := strings.TrimPrefix(aws.ToString(o.Key), prefix); name != "" {
				found = append(found, file{name, true, aws.ToInt64(o.Size), aws.ToTime(o.LastModified)})
			}
		}
		for _, p := range page.CommonPrefixes {
			found = append(found, file{name: strings.TrimPrefix(aws.ToString(p.Prefix), prefix)})
		}
	}
	return found, nil
}

// read implements files.
func (b *bucket) read(ctx context.Context, folder, name string, limit int64) ([]byte, error) {
	content, _, err := b.get(ctx, folder, name, limit)
	return content, err
}

// get returns an object with its tag.
func (b *bucket) get(ctx context.Context, folder, name string, limit int64) (content []byte, tag *string, err error) {
	client, err := b.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: b.key(folder, name)})
	if e := new(types.NoSuchKey); errors.As(err, &e) {
		return nil, nil, fs.ErrNotExist
	} else if err != nil {
		return nil, nil, explain(err)
	}
	defer out.Body.Close()
	content, err = io.ReadAll(io.LimitReader(out.Body, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = tooLarge(folder, name, limit)
	}
	return content, out.ETag, err
}

// grow implements files. The record is in the bucket before the key names it, and the name is claimed before there is a log.
func (b *bucket) grow(ctx context.Context, c change) error {
	logs, err := b.list(ctx, keysDir)
	if err != nil {
		return err
	}
	names := namesOf(logs)
	if err := c.admit(names); err != nil {
		return err
	}
	if !slices.Contains(names, c.log) {
		if err := b.claim(ctx, c); err != nil {
			return err
		}
	}
	if c.record != "" {
		if err := b.apply(ctx, edit{recordsDir, c.record, c.packed}); err != nil {
			return err
		}
	}
	before := -1 // how long the log was at the first look
	return patiently(ctx, func() error {
		log, tag, err := b.get(ctx, keysDir, c.log, maxLog)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if before >= 0 && bytes.Contains(log[min(before, len(log)):], c.lines) {
			return nil // the answer was lost, not the write
		}
		before = max(before, len(log))
		if isCut(log) {
			log = append(log, '\n')
		}
		put := &s3.PutObjectInput{Key: b.key(keysDir, c.log), Body: bytes.NewReader(append(log, c.lines...)), ContentType: aws.String("application/jsonl"), IfMatch: tag}
		if tag == nil {
			put.IfNoneMatch = aws.String("*")
		}
		return b.put(ctx, put)
	})
}

// put writes an object. Where its condition does not hold, the error is errMoved.
func (b *bucket) put(ctx context.Context, in *s3.PutObjectInput) error {
	client, err := b.open(ctx)
	if err != nil {
		return err
	}
	in.Bucket = &b.name
	_, err = client.PutObject(ctx, in)
	if answer := new(awshttp.ResponseError); errors.As(err, &answer) && (in.IfMatch != nil || in.IfNoneMatch != nil) {
		switch answer.HTTPStatusCode() {
		case http.StatusPreconditionFailed, http.StatusConflict:
			return fmt.Errorf("%w: %w", errMoved, err)
		case http.StatusNotFound:
			if e := new(types.NoSuchBucket); !errors.As(err, &e) && in.IfMatch != nil {
				return fmt.Errorf("%w: %w", errMoved, err) // the log was deleted
			}
		}
	}
	return explain(err)
}

// claim takes the name of a key that has no log yet. Of two keys that differ only in case, one has it.
func (b *bucket) claim(ctx context.Context, c change) error {
	return patiently(ctx, func() error {
		content, err := b.read(ctx, claimsDir, c.claim(), maxClaim)
		if errors.Is(err, fs.ErrNotExist) {
			content = []byte(c.log + "\n")
			err = b.put(ctx, &s3.PutObjectInput{Key: b.key(claimsDir, c.claim()), Body: bytes.NewReader(content), IfNoneMatch: aws.String("*")})
		}
		if err != nil {
			return err
		}
		return c.admitted(content)
	})
}

// edit implements files.
func (b *bucket) edit(ctx context.Context, edits []edit) error {
	for _, e := range edits {
		if err := b.apply(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

func (b *bucket) apply(ctx context.Context, e edit) error {
	if e.content != nil {
		return b.put(ctx, &s3.PutObjectInput{Key: b.key(e.folder, e.name), Body: bytes.NewReader(e.content), ContentType: aws.String("application/gzip")})
	}
	client, err := b.open(ctx)
	if err != nil {
		return err
	}
	_, err = client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: b.key(e.folder, e.name)})
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
