// A port of 127.0.0.1 is open to every user of the host. The kernel says who listens there.
import { textOf } from "../processes/process-table.ts";

/**
 * Whether a connection to 127.0.0.1 at this port reaches a program of this process's user; false if nothing
 * listens there. Always true where the kernel does not say it: not on Linux.
 */
export function isOwnPort(port: number): boolean {
  if (process.platform !== "linux") return true;
  const [tcp, tcp6] = ["/proc/self/net/tcp", "/proc/self/net/tcp6"].map(textOf); // a host may lack IPv6
  const users = usersAt(port, { tcp: tcp!, tcp6: tcp6! });
  return users.length > 0 && users.every((user) => user === process.getuid!());
}

/** Users of the sockets that take such a connection. The kernel prefers 127.0.0.1 to a socket of all addresses. */
export function usersAt(port: number, tables: { tcp: string; tcp6: string }): number[] {
  const listening = [tables.tcp, tables.tcp6].flatMap((table) => listenersIn(table, port));
  const exact = listening.filter(({ address }) => [loopback, inIpv6 + loopback].includes(address));
  const all = listening.filter(({ address }) => /^0+$/.test(address));
  return (exact.length > 0 ? exact : all).map(({ user }) => user);
}

export type Listener = { address: string; user: number; inode: string };

/** The sockets of a table of /proc/net that listen at a port, at any address. */
export function listenersIn(table: string, port: number): Listener[] {
  const at = `:${hex(port >> 8, port & 0xff)}`;
  return table.split("\n").flatMap((line) => {
    const [, local = "", , state, , , , uid, , inode] = line.trim().split(/\s+/);
    return state === "0A" && local.endsWith(at) && inode !== undefined
      ? [{ address: local.slice(0, -at.length), user: Number(uid), inode }]
      : [];
  });
}

const loopback = "0100007F";

/** A client of IPv6 has its address of IPv4 at the end of a longer one. */
const inIpv6 = "0000000000000000FFFF0000";

function hex(...bytes: number[]): string {
  return bytes.map((byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join("");
}
