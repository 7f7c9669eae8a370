"""A camera on loopback that speaks RTSP: pictures as JPEG over RTP, within its connection.

Enough of RFC 2326 and RFC 2435 for one client at a time, with a password (Basic).
"""

from __future__ import annotations

import base64
import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import cv2
import numpy as np

_SESSION, _PIECE, _CLOCK = "7", 1_200, 90_000
Shades = Callable[[float], int | None]
"""The shade that the camera sees so many seconds after it began to play; `None`: it ends."""


class Camera:
    """What clients may do, and what was seen of them."""

    def __init__(self, shades: Shades, password: str, rate: float) -> None:
        self.shades, self.rate = shades, rate
        self.wanted = "Basic " + base64.b64encode(password.encode()).decode()

    def serve(self, server: socket.socket) -> None:
        """Answers one client after the other, until the server is closed."""
        with contextlib.suppress(OSError):
            while True:
                client, _ = server.accept()
                with client, contextlib.suppress(OSError):
                    self._answer(client)

    def _answer(self, client: socket.socket) -> None:
        lines = client.makefile("rb")
        while first := lines.readline().decode().split():
            headers = {}
            while line := lines.readline().decode().strip():
                name, _, value = line.partition(":")
                headers[name.lower()] = value.strip()
            more, body = self._reply(first[0], headers)
            status = "401 Unauthorized" if "WWW-Authenticate" in more else "200 OK"
            head = f"RTSP/1.0 {status}\r\nCSeq: {headers['cseq']}\r\n{more}"
            client.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            if first[0] == "PLAY":
                self._play(client)
                return

    def _reply(self, method: str, headers: dict[str, str]) -> tuple[str, str]:
        if method == "OPTIONS":
            return "Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN\r\n", ""
        if headers.get("authorization") != self.wanted:
            return 'WWW-Authenticate: Basic realm="camera"\r\n', ""
        if method == "DESCRIBE":
            return "Content-Type: application/sdp\r\n", (
                "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=street\r\nt=0 0\r\n"
                "m=video 0 RTP/AVP 26\r\nc=IN IP4 0.0.0.0\r\na=control:track1\r\n"
            )
        if method == "SETUP":
            return f"Session: {_SESSION}\r\nTransport: {headers['transport']}\r\n", ""
        return f"Session: {_SESSION}\r\n", ""

    def _play(self, client: socket.socket) -> None:
        began, sequence = time.monotonic(), 0
        while True:
            seconds = time.monotonic() - began
            shade = self.shades(seconds)
            if shade is None:
                return
            picture = np.full((48, 64, 3), shade, np.uint8)
            for packet in _packets(picture, int(seconds * _CLOCK), sequence):
                client.sendall(struct.pack(">cBH", b"$", 0, len(packet)) + packet)
                sequence += 1
            time.sleep(1 / self.rate)


def _packets(picture: np.ndarray, at: int, sequence: int) -> Iterator[bytes]:
    """The packets of a picture: the scan of its JPEG, and the tables that it was made with."""
    jpeg = cv2.imencode(".jpg", picture)[1].tobytes()
    tables, place = b"", 2
    while jpeg[place + 1] != 0xDA:  # up to the scan
        (length,) = struct.unpack_from(">H", jpeg, place + 2)
        if jpeg[place + 1] == 0xDB:
            tables += jpeg[place + 5 : place + 2 + length]
        place += 2 + length
    scan = jpeg[place + 2 + struct.unpack_from(">H", jpeg, place + 2)[0] : -2]
    height, width = picture.shape[:2]
    for offset in range(0, len(scan), _PIECE):
        last = offset + _PIECE >= len(scan)
        head = struct.pack(">BBHII", 0x80, 26 | last << 7, sequence & 0xFFFF, at & 0xFFFFFFFF, 1)
        jpeg_head = struct.pack(">IBBBB", offset, 1, 255, width // 8, height // 8)
        quantization = b"" if offset else struct.pack(">HH", 0, len(tables)) + tables
        yield head + jpeg_head + quantization + scan[offset : offset + _PIECE]
        sequence += 1


@contextmanager
def camera(shades: Shades, password: str = "ann:secret", rate: float = 20) -> Iterator[str]:
    """The address of a camera, with its name and password."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        seen = Camera(shades, password, rate)
        thread = threading.Thread(target=seen.serve, args=(server,), daemon=True)
        thread.start()
        yield f"rtsp://{password}@127.0.0.1:{server.getsockname()[1]}/street"
        server.shutdown(socket.SHUT_RDWR)
