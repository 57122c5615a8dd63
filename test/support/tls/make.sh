#!/usr/bin/env bash
# Makes the keys and certificates of this folder anew, with openssl: an authority that only the tests know, and what it
# signed. Valid for a hundred years, `expired.pem` apart. The authority's own key is not kept.
set -euo pipefail
cd "$(dirname "$0")"
key=$(mktemp)
request=$(mktemp)
trap 'rm -f "$key" "$request"' EXIT

new_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"; }

# sign NAME KEY SUBJECT EXTENSIONS [validity options]
sign() {
  openssl req -new -key "$2" -subj "/CN=$3" -out "$request"
  openssl x509 -req -in "$request" -CA authority.pem -CAkey "$key" -out "$1" -extfile <(printf '%b' "$4") "${@:5}"
}

new_key "$key"
openssl req -x509 -new -key "$key" -subj '/CN=Test authority of the gateway' -days 36500 -out authority.pem \
  -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign
new_key server-key.pem
new_key client-key.pem
server='extendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE\n'
sign server.pem server-key.pem upstream.test "subjectAltName=DNS:upstream.test,DNS:localhost,IP:127.0.0.1\n$server" -days 36500
sign expired.pem server-key.pem upstream.test "subjectAltName=DNS:upstream.test,DNS:localhost,IP:127.0.0.1\n$server" \
  -days -1
sign other-name.pem server-key.pem other.test "subjectAltName=DNS:other.test\n$server" -days 36500
sign client.pem client-key.pem gateway 'extendedKeyUsage=clientAuth\nbasicConstraints=CA:FALSE\n' -days 36500
