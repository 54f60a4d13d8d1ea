// What a sandbox shows of a host beside /usr, where it is there: what its programs need to start, to load
// libraries, and to check certificates and times. Never /etc as a whole.
export const systemPaths: readonly string[] = [
  "/etc/alternatives",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/localtime",
  "/etc/ssl/certs",
  "/etc/ssl/openssl.cnf",
  "/etc/pki/tls/certs",
  "/etc/pki/ca-trust/extracted",
];
