#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A viewer of a VNC server that logs in by name and password, and leaves.

    vnc-viewer.py SOCKET USER PASSWORD

Speaks RFB 3.8 with the security type VeNCrypt, subtype Plain (rfbproto, 7.2.19). Prints
`authenticated` or `refused`.
"""
import socket
import struct
import sys

VENCRYPT, PLAIN = 19, 256


def main() -> None:
    path, user, password = sys.argv[1:]
    server = socket.socket(socket.AF_UNIX)
    server.connect(path)

    def read(count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = server.recv(count - len(data))
            if not part:
                sys.exit("the server has closed the connection")
            data += part
        return data

    read(12)
    server.sendall(b"RFB 003.008\n")
    types = read(read(1)[0])
    if VENCRYPT not in types:
        sys.exit(f"the server offers only the security types {list(types)}")
    server.sendall(bytes([VENCRYPT]))
    read(2)
    server.sendall(bytes([0, 2]))
    read(1)
    subtypes = struct.unpack(f">{(count := read(1)[0])}I", read(4 * count))
    if PLAIN not in subtypes:
        sys.exit(f"the server offers only the subtypes {subtypes}")
    server.sendall(struct.pack(">I", PLAIN))
    name, secret = user.encode(), password.encode()
    server.sendall(struct.pack(">II", len(name), len(secret)) + name + secret)
    print("refused" if struct.unpack(">I", read(4))[0] else "authenticated", flush=True)


main()
