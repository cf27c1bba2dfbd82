package ddp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
)

// Trust returns a configuration that trusts the certificates in pem, besides the system's.
func Trust(pem []byte) (*tls.Config, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("the system's certificates: %w", err)
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("no certificate in PEM form")
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

// clientTLS returns the configuration of a connection to host. Whatever it was made from, it verifies the server.
func clientTLS(config *tls.Config, host string) *tls.Config {
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	config = config.Clone()
	config.InsecureSkipVerify = false
	if config.ServerName == "" {
		config.ServerName = host
	}
	return config
}
