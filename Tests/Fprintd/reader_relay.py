# SPDX-License-Identifier: Apache-2.0
"""A virtual reader that takes commands also while it is closed.

libfprint's virtual readers listen while they are open. fprintd opens a reader when it is claimed, and its tests send
commands to it from then on; Signet opens one only while a finger is awaited, and reads what it stores in between. The
relay listens all the time. It keeps what is sent until a finger is awaited, and then passes it on in order. What a
reader stores is looked up and changed in the file in which it is kept while the reader is closed. A command with the
word LISTING before it is for the next list of what the reader stores, which comes before a deletion.
"""

import os
import socket
import struct
import threading
import time

# Commands of the text readers that have no effect on a reader that is closed.
IDLE_COMMANDS = ('SET_KEEP_ALIVE', 'SET_ENROLL_STAGES', 'SET_SCAN_TYPE', 'CONT', 'IGNORED_COMMAND')
LONGEST = 1 << 20
# libfprint's number of the error for a reader that is gone.
REMOVED = 0x100


class ReaderRelay:
    """Passes commands from the socket at `front` to the reader at `reader`."""

    def __init__(self, kind, reader, front):
        self.is_image = kind == 'image'
        self.reader = reader
        self.front = front
        self.stored = reader + '.prints'
        self.unplugged = reader + '.unplugged'
        # While this is there, the reader waits for a command before it lists or deletes.
        self.pause = self.stored + '.pause'
        # Whether it has reported an error as if it were unplugged, and is not.
        self.is_lost = False
        self.listener = None
        self.scanning = threading.Event()
        self.ended = threading.Event()

    def start(self):
        if os.path.exists(self.front):
            os.unlink(self.front)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.front)
        self.listener.listen(64)
        threading.Thread(target=self._serve, daemon=True).start()

    def stop(self):
        self.ended.set()
        self.scanning.set()
        self.listener.close()
        if os.path.exists(self.front):
            os.unlink(self.front)

    def finger_needed(self, is_needed):
        """Notes whether a finger is awaited now."""
        if is_needed:
            self.scanning.set()
        else:
            self.scanning.clear()
            if self.is_lost:
                self._mark(False)
                self.is_lost = False

    def _mark(self, is_unplugged):
        """Has the reader be found again or not, which its library does not know."""
        if is_unplugged:
            with open(self.unplugged, 'w'):
                pass
        elif os.path.exists(self.unplugged):
            os.unlink(self.unplugged)

    def _serve(self):
        while not self.ended.is_set():
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                with client:
                    if self.is_image:
                        self._pass_images(client)
                    else:
                        self._pass_command(client)
            except OSError as error:
                if not self.ended.is_set():
                    print(f'relay: {error}', flush=True)

    def _connected(self):
        """A connection to the reader, as soon as it scans."""
        while not self.ended.is_set():
            self.scanning.wait()
            reader = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                reader.connect(self.reader)
                return reader
            except OSError:
                reader.close()
                time.sleep(0.002)
        raise OSError('the relay has ended')

    def _pass_images(self, client):
        data = client.recv(LONGEST)
        if not data:
            return
        with self._connected() as reader:
            while data:
                number, value = struct.unpack_from('ii', data) if len(data) >= 8 else (0, 0)
                if (number, value) == (-2, REMOVED):
                    self.is_lost = True
                if number == -5 or self.is_lost:
                    self._mark(True)
                reader.sendall(data)
                data = client.recv(LONGEST)
            reader.shutdown(socket.SHUT_WR)
            # The reader takes one connection at a time, and closes it when it has read all.
            while reader.recv(LONGEST):
                pass

    def _pass_command(self, client):
        # A command is one write, without an end.
        command = client.recv(LONGEST)
        words = command.decode().split()
        if not words:
            return
        if words[0] == 'LISTING':
            client.close()
            self._answer_listing(' '.join(words[1:]).encode())
            return
        if not self.scanning.is_set() and words[0] in ('LIST', 'INSERT', 'REMOVE'):
            client.sendall(self._store(words))
        elif self.scanning.is_set() or words[0] not in IDLE_COMMANDS:
            # Nothing that the suite sends to a reader waits for an answer, but for a list.
            if words[0] != 'LIST':
                client.close()
            answer = self._answer(command)
            if words[0] == 'LIST':
                client.sendall(answer)

    def _answer(self, command):
        """Gives the command to the reader, until it has read it."""
        while not self.ended.is_set():
            with self._connected() as reader:
                words = command.decode().split()
                self.is_lost = words == ['ERROR', str(REMOVED)]
                if self.is_lost or words[0] == 'UNPLUG':
                    self._mark(True)
                answer = b''
                try:
                    reader.sendall(command)
                    reader.shutdown(socket.SHUT_WR)
                    while data := reader.recv(LONGEST):
                        answer += data
                    return answer
                except OSError:
                    # It was closed before it has read the command.
                    time.sleep(0.002)
        return b''

    def _answer_listing(self, command):
        """Gives the command to the reader as soon as it is open for whatever reason."""
        with open(self.pause, 'w'):
            pass
        while not self.ended.is_set():
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as reader:
                try:
                    reader.connect(self.reader)
                    reader.sendall(command)
                    reader.shutdown(socket.SHUT_WR)
                    while reader.recv(LONGEST):
                        pass
                    break
                except OSError:
                    time.sleep(0.002)
        os.unlink(self.pause)

    def _store(self, words):
        """Carries a command out on the prints that a closed reader stores; gives the answer."""
        prints = []
        if os.path.exists(self.stored):
            with open(self.stored) as file:
                prints = [line.rstrip('\n') for line in file]
        if words[0] == 'LIST':
            return ''.join(f'{name}\n' for name in prints).encode()
        if words[0] == 'REMOVE':
            prints = [name for name in prints if name != words[1]]
        elif words[1] not in prints:
            prints.append(words[1])
        with open(self.stored, 'w') as file:
            file.writelines(f'{name}\n' for name in prints)
        return b''
