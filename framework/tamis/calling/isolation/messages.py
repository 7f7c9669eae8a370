"""Writes requests to workers and reads their replies, in bytes within bounds.

Requests are pickled: they come from the user's process. Arrays, and long bytes and strings, lie in
a parcel of shared memory beside them, which the worker maps, so that arrays are copied once, into
the parcel. Replies are plain data in an encoding that can say nothing else (a letter for truths,
JSON for the rest), and are checked value by value: nothing that a worker writes is run.
Invariant: a frame is its length, a letter and so many bytes; a request never fills a socket, so
that who sends never waits.
Cost: some microseconds a call; memory speed for large inputs.
"""

from __future__ import annotations

import array
import contextlib
import json
import mmap
import os
import pickle
import socket
import struct
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from tamis.calling.answers import (
    CUT,
    MESSAGE,
    NONSENSE,
    RAISED,
    TIMED_OUT,
    Answer,
    Failure,
    NonsenseError,
    checked_solutions,
)

INLINE_BYTES = 64 << 10
"""A request that is longer lies in a parcel."""
PARCEL_BYTES = 60 << 10
"""A value that is longer lies in a parcel."""
REPLY_BYTES = 64 << 20
"""A reply is never longer."""

HELLO, READY, MADE, UNREAD, PREPARED, TRUE, FALSE, ANSWERS, FAILED, SWELLED, FREED = b"HRMUPTFAXSV"
"""What a worker says: that it is there, has its operators, has made one, cannot read what it was
sent, has prepared something; answers; and which parcels it has let go of."""

HEADER = struct.Struct("<IB")
_CHUNK = 1 << 17
_MAPPED = getattr(mmap, "MAP_SHARED", 0) | getattr(mmap, "MAP_POPULATE", 0)
_DESCRIPTOR = struct.calcsize("i")
_ALIGNED = 64
_KINDS = frozenset((RAISED, TIMED_OUT, NONSENSE, CUT))


class GarbledError(Exception):
    """A reply that no worker in its right mind writes."""


# requests


class Long(NamedTuple):
    """Bytes or a string that travels in a parcel."""

    type: str
    content: Any

    def value(self) -> object:
        """Returns the original value."""
        if self.type == "str":
            return str(self.content, "utf-8", "surrogatepass")
        return bytes(self.content) if self.type == "bytes" else memoryview(self.content)


def parceled(value: object) -> object:
    """Returns a value of an event as it travels."""
    if isinstance(value, memoryview):
        return Long("view", pickle.PickleBuffer(value))
    if type(value) is str and len(value) > PARCEL_BYTES:
        return Long("str", pickle.PickleBuffer(value.encode("utf-8", "surrogatepass")))
    if isinstance(value, (bytes, bytearray)) and len(value) > PARCEL_BYTES:
        return Long("bytes", pickle.PickleBuffer(value))
    return value


def unparceled(value: object) -> object:
    """Returns the value that was sent."""
    return value.value() if type(value) is Long else value


def send_request(
    connection: socket.socket, request: object, with_content: bool, parcels: Parcels
) -> None:
    """Sends a request at once; `OSError` where the worker is not there any more."""
    buffers: list[pickle.PickleBuffer] = []
    if with_content:
        content = pickle.dumps(request, 5, buffer_callback=lambda each: _stays(each, buffers))
    else:
        content = pickle.dumps(request, 5)
    if buffers or len(content) > INLINE_BYTES:
        parcels.send(connection, [content, *(each.raw() for each in buffers)])
        return
    header = HEADER.pack(len(content), 0)
    if connection.sendmsg((header, content), (), socket.MSG_DONTWAIT) != len(content) + len(header):
        raise BrokenPipeError("a worker does not read")


def _stays(buffer: pickle.PickleBuffer, taken: list[pickle.PickleBuffer]) -> bool:
    """Returns whether a buffer stays in the pickle: short ones do."""
    try:
        long = buffer.raw().nbytes > PARCEL_BYTES
    except BufferError:  # it does not lie in one piece
        return True
    if long:
        taken.append(buffer)
    return not long


Parts = Sequence[bytes | memoryview]


def send_parcel(connection: socket.socket, parts: Parts, letter: int) -> None:
    """Sends parts in a parcel that is used once."""
    parcel = _new_parcel()
    try:
        _send_directory(connection, 0, _filled(parcel, parts), parcel, letter)
    finally:
        os.close(parcel)


class Parcels:
    """The parcels of a worker: memory that it has let go of is filled again.

    To give a process new memory takes ten times as long as to fill what it has."""

    MOST = 2

    def __init__(self) -> None:
        self._descriptors: dict[int, int] = {}
        self._free: list[int] = []

    def send(self, connection: socket.socket, parts: Parts) -> None:
        """Sends a frame that says how long each part is, with the parcel they lie in."""
        if self._free:
            number = self._free.pop()
            sizes = _filled(self._descriptors[number], parts)
            _send_directory(connection, number, sizes, None, 1)
        elif len(self._descriptors) < self.MOST:
            number = len(self._descriptors) + 1
            parcel = self._descriptors[number] = _new_parcel()
            _send_directory(connection, number, _filled(parcel, parts), parcel, 1)
        else:
            send_parcel(connection, parts, 1)

    def freed(self, content: bytes) -> None:
        """Takes note of what a worker has let go of."""
        for number in content:
            if number not in self._descriptors or number in self._free:
                raise GarbledError("a parcel is given back that was not given")
            self._free.append(number)

    def close(self) -> None:
        """Lets go of all of them."""
        self._free.clear()
        while self._descriptors:
            os.close(self._descriptors.popitem()[1])


def _filled(parcel: int, parts: Parts) -> list[int]:
    """Writes parts into a parcel; their sizes."""
    views = [memoryview(each).cast("B") for each in parts]
    sizes, at = [view.nbytes for view in views], 0
    for view in views:
        while view:
            written = os.pwrite(parcel, view, at)
            view = view[written:]
            at += written
        at = _aligned(at)
    if os.fstat(parcel).st_size < at:
        os.ftruncate(parcel, at)
    return sizes


def _send_directory(
    connection: socket.socket, number: int, sizes: Sequence[int], parcel: int | None, letter: int
) -> None:
    directory = struct.pack(f"<{len(sizes) + 1}Q", number, *sizes)
    frame = HEADER.pack(len(directory), letter) + directory
    rights = [] if parcel is None else [array.array("i", [parcel])]
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, each) for each in rights]
    if connection.sendmsg([frame], ancillary, socket.MSG_DONTWAIT) != len(frame):
        raise BrokenPipeError("a worker does not read")


def _new_parcel() -> int:
    """Makes memory without a name, and returns its descriptor."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("tamis", os.MFD_CLOEXEC)
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _aligned(at: int) -> int:
    return (at + _ALIGNED - 1) // _ALIGNED * _ALIGNED


class Requests:
    """Receives requests, on the side of the worker and of the fork server."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._room = bytearray(2 * (INLINE_BYTES + HEADER.size))  # one frame, and part of the next
        self._view = memoryview(self._room)
        self._begin = self._end = 0
        self._descriptors: deque[int] = deque()
        self._parcels: dict[int, int] = {}
        self._mapped: dict[int, mmap.mmap] = {}

    def next(self) -> Any:
        """Returns the next request; `EOFError` when there will be none."""
        parceled, content = self.frame()
        return self.opened(content) if parceled else pickle.loads(content)

    @property
    def waiting(self) -> bool:
        """True if more has been received."""
        return self._end > self._begin

    def descriptor(self) -> int:
        """Returns the descriptor that came with a frame; each is taken once, in order."""
        return self._descriptors.popleft()

    def opened(self, directory: memoryview) -> Any:
        """Returns the request in a parcel; its buffers are read where they lie."""
        number, *sizes = struct.unpack(f"<{directory.nbytes // 8}Q", directory)
        parcel = self._parcels.get(number)
        if parcel is None:
            parcel = self.descriptor()
        try:
            mapped = mmap.mmap(parcel, 0, flags=_MAPPED, prot=mmap.PROT_READ)
        finally:
            if not number:
                os.close(parcel)
        if number:
            self._parcels[number] = parcel
            self._mapped[number] = mapped
        whole = memoryview(mapped)
        parts, at = [], 0
        for size in sizes:
            parts.append(whole[at : at + size])
            at = _aligned(at + size)
        return pickle.loads(parts[0], buffers=parts[1:])

    def freed(self) -> bytes:
        """Returns the numbers of the parcels that are not read any more; arrays lie in them."""
        free = []
        for number, mapped in self._mapped.items():
            with contextlib.suppress(BufferError):  # who holds a view of it keeps it
                mapped.close()
                free.append(number)
        for number in free:
            del self._mapped[number]
        return bytes(free)

    def frame(self) -> tuple[int, memoryview]:
        """Reads the letter of the next frame, and its content, which lasts until the next one."""
        if self._begin == self._end:
            self._begin = self._end = 0
        while self._end - self._begin < HEADER.size:
            self._receive()
        length, letter = HEADER.unpack_from(self._room, self._begin)
        while self._end - self._begin < HEADER.size + length:
            self._receive()
        begin = self._begin + HEADER.size
        self._begin = begin + length
        return letter, self._view[begin : self._begin]

    def _receive(self) -> None:
        if self._begin and self._end > len(self._room) // 2:
            rest = bytes(self._view[self._begin : self._end])
            self._begin, self._end = 0, len(rest)
            self._view[: self._end] = rest
        count, ancillary, _, _ = self._connection.recvmsg_into(
            [self._view[self._end :]], socket.CMSG_SPACE(_DESCRIPTOR)
        )
        if not count:
            raise EOFError
        for _, kind, data in ancillary:
            if kind == socket.SCM_RIGHTS:
                self._descriptors.extend(struct.unpack(f"{len(data) // _DESCRIPTOR}i", data))
        self._end += count


# replies


class Replies:
    """Receives a worker's replies, frame by frame, on the side of the user's process."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._received: bytes | bytearray = b""

    @property
    def waiting(self) -> bool:
        """True if more has been received than was taken."""
        return bool(self._received)

    def taken(self) -> tuple[int, bytes] | None:
        """Returns the letter and the content of a frame that is there as a whole."""
        received = self._received
        if len(received) < HEADER.size:
            return None
        length, letter = HEADER.unpack_from(received)
        if length > REPLY_BYTES:
            raise GarbledError(f"a reply of {length:,} bytes")
        end = HEADER.size + length
        if len(received) < end:
            return None
        self._received = received[end:]
        return letter, bytes(received[HEADER.size : end])

    def receive(self) -> None:
        """Takes what has come; `EOFError` where the worker is not there any more."""
        try:
            content = self._connection.recv(_CHUNK)
        except OSError:
            content = b""
        if not content:
            raise EOFError
        if not self._received:
            self._received = content
            return
        if type(self._received) is bytes:
            self._received = bytearray(self._received)
        self._received += content


def send_reply(connection: socket.socket, letter: int, content: bytes = b"") -> None:
    """Sends a frame, however long it takes."""
    connection.sendall(HEADER.pack(len(content), letter) + content)


def answers_reply(answers: Sequence[Answer]) -> tuple[int, bytes]:
    """Returns the frame of answers, or of what is the matter with them."""
    if len(answers) == 1:
        (only,) = answers
        if only.failure is not None:
            return FAILED, plain(only.failure)
        if only.solutions is None:
            return (TRUE if only.truth else FALSE), b""
    content = plain([_plain_answer(each) for each in answers])
    if len(content) > REPLY_BYTES:
        words = f"an answer of {len(content):,} bytes is longer than {REPLY_BYTES:,}"
        return FAILED, plain(Failure(NONSENSE, words))
    return ANSWERS, content


def _plain_answer(answer: Answer) -> object:
    if answer.failure is not None:
        return {"failure": answer.failure}
    if answer.solutions is None:
        return answer.truth
    return {"solutions": answer.solutions, "cut": answer.cut}


def plain(document: object) -> bytes:
    """Returns a document as JSON; lone surrogates stay what they are."""
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")


def read_plain(content: bytes) -> Any:
    """Returns the document of a reply; `GarbledError` if it is none."""
    try:
        return json.loads(content.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as problem:
        raise GarbledError(f"a reply is not in JSON: {problem}"[:MESSAGE]) from None


def read_failure(content: bytes) -> Failure:
    """Returns the failure of a reply, one of the kinds that happen inside of a worker."""
    return _checked_failure(read_plain(content))


def _checked_failure(given: object) -> Failure:
    if not isinstance(given, list) or len(given) != len(Failure._fields):
        raise GarbledError("a failure is not a list of its parts")
    kind, message, transient, after = given
    if kind not in _KINDS or type(message) is not str or type(transient) is not bool:
        raise GarbledError("a failure is of no known kind")
    if after is not None and (type(after) not in (int, float) or after != after):
        raise GarbledError("a failure may be tried again after no number of seconds")
    return Failure(kind, message[:MESSAGE], transient, after)


def read_answers(content: bytes, widths: Sequence[int], most: int) -> list[Answer]:
    """Returns the answers of a reply to calls of these widths, each value looked at."""
    given = read_plain(content)
    if not isinstance(given, list) or len(given) != len(widths):
        raise GarbledError(f"a reply has not {len(widths)} answers")
    return [_checked(each, width, most) for each, width in zip(given, widths, strict=True)]


def _checked(given: object, width: int, most: int) -> Answer:
    if type(given) is bool and not width:
        return Answer(given)
    if isinstance(given, dict):
        if "failure" in given:
            return Answer(failure=_checked_failure(given["failure"]))
        if width and type(given.get("cut")) is bool and type(given.get("solutions")) is list:
            with contextlib.suppress(NonsenseError):
                solutions, _ = checked_solutions(given["solutions"], width, most)
                return Answer(False, solutions, None, given["cut"])
    raise GarbledError("an answer is none")
