"""Inside an agent's sandbox: carries connections on 127.0.0.1 to the supervisor's model gateway.

The gateway listens on a unix socket in this folder, which every sandbox has; programs know only addresses.
Nothing is read or changed here, and nothing here is trusted: whoever runs inside may end it, and has then cut
itself off until the supervisor starts it again.
"""

import asyncio
import contextlib
import sys


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while piece := await reader.read(1 << 16):
            writer.write(piece)
            await writer.drain()
        writer.write_eof()


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        beyond, forth = await asyncio.open_unix_connection("supervisor.sock")
    except OSError:
        writer.transport.abort()
        return
    try:
        # the gateway's end is the end of both: half a connection is of no use to anybody
        sending = asyncio.ensure_future(copy(reader, forth))
        await copy(beyond, writer)
        sending.cancel()
    finally:
        forth.transport.abort()
        with contextlib.suppress(OSError):
            writer.close()


async def main(port: int) -> None:
    server = await asyncio.start_server(carry, "127.0.0.1", port, limit=1 << 16)
    print("port", server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
