// An S3 server for tests: GoFakeS3 with files in memory, behind a check of each request's signature
// (AWS Signature Version 4) by AWS' own signer. Arguments: port, bucket, access key id, its secret.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

const region = "us-east-1"

func main() {
	port, bucket, id, secret := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	backend := s3mem.New()
	check(backend.CreateBucket(bucket))
	signed := withSignature(gofakes3.New(backend).Server(), aws.Credentials{AccessKeyID: id, SecretAccessKey: secret})
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	check(err)
	check(http.Serve(listener, signed))
}

// Only what was signed with these credentials passes, with the body that was signed.
func withSignature(next http.Handler, credentials aws.Credentials) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		sum := sha256.Sum256(body)
		hash := hex.EncodeToString(sum[:])
		if r.Header.Get("X-Amz-Content-Sha256") != hash {
			refuse(w, http.StatusBadRequest, "XAmzContentSHA256Mismatch")
			return
		}
		if r.Header.Get("Authorization") != signatureOf(r, credentials, hash) {
			refuse(w, http.StatusForbidden, "SignatureDoesNotMatch")
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// The header that AWS' signer makes of the same request, with those headers that were signed.
func signatureOf(r *http.Request, credentials aws.Credentials, hash string) string {
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil {
		return "no date"
	}
	again, err := http.NewRequest(r.Method, "http://"+r.Host+r.URL.RequestURI(), nil)
	check(err)
	_, after, _ := strings.Cut(r.Header.Get("Authorization"), "SignedHeaders=")
	names, _, _ := strings.Cut(after, ",")
	for _, name := range strings.Split(names, ";") {
		if name != "host" {
			again.Header.Set(name, r.Header.Get(name))
		}
	}
	signer := v4.NewSigner(func(options *v4.SignerOptions) { options.DisableURIPathEscaping = true })
	check(signer.SignHTTP(context.Background(), credentials, again, hash, "s3", region, at))
	return again.Header.Get("Authorization")
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", code)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
