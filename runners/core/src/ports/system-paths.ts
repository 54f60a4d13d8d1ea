// The paths of a host that a sandbox mounts besides /usr, if they exist: files to start programs, load libraries,
// check certificates and read time zones. Never all of /etc.
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

/** Files of /proc that show the host; a sandbox hides them, as Docker does. */
export const hiddenInProc: readonly string[] = [
  "keys",
  "key-users",
  "kcore",
  "timer_list",
  "timer_stats",
  "sched_debug",
  "latency_stats",
  "sysrq-trigger",
  "kallsyms",
  "kmsg",
];
