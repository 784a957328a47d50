#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""signetd and signet-fprint in fprintd's place, for fprintd's own tests.

Takes the environment that those tests give fprintd, and serves on the bus that they name until it is told to stop. The
readers are libfprint's virtual ones, which installed programs never switch on: `testfixture` runs the same libraries
with places of a test's. Everything is kept beside the state directory that the tests chose.

SIGNET_PRODUCTS names the directory of the built programs.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import gi
from gi.repository import Gio, GLib

from reader_relay import ReaderRelay

gi.require_version('Gio', '2.0')

READERS = {
    'FP_VIRTUAL_IMAGE': ('image', 'virtual_image'),
    'FP_VIRTUAL_DEVICE': ('text', 'virtual_device'),
    'FP_VIRTUAL_DEVICE_STORAGE': ('storage', 'virtual_device_storage'),
    'FP_VIRTUAL_DEVICE_STORAGE_NO_LIST': ('storage-no-list', 'virtual_device_storage_no_list'),
}
SETTINGS = '[login]\nwithout-logind = any\n'
PASSWORD_CHECK = '#!/bin/sh\nexit 81\n'


def bus_socket():
    """The path of the system bus's socket, from its address."""
    address = os.environ['DBUS_SYSTEM_BUS_ADDRESS'].split(';')[0]
    pairs = dict(pair.split('=', 1) for pair in address.split(':', 1)[1].split(','))
    return pairs['path']


def follow_fingers(relays):
    """Tells the relays when a finger is awaited, which the bus tells everyone."""
    context = GLib.MainContext()
    context.push_thread_default()
    bus = Gio.DBusConnection.new_for_address_sync(
        os.environ['DBUS_SYSTEM_BUS_ADDRESS'],
        Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION | Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT, None, None)
    bus.set_exit_on_close(False)

    def changed(_bus, _sender, _path, _interface, _signal, arguments):
        is_needed = arguments.unpack()[1].get('finger-needed')
        if is_needed is not None:
            for relay in relays:
                relay.finger_needed(is_needed)

    bus.signal_subscribe(None, 'org.freedesktop.DBus.Properties', 'PropertiesChanged', None,
                         'net.reactivated.Fprint.Device', Gio.DBusSignalFlags.NONE, changed)
    # The subscription is known to the bus when this is answered.
    bus.call_sync('org.freedesktop.DBus', '/org/freedesktop/DBus', 'org.freedesktop.DBus', 'GetId', None, None,
                  Gio.DBusCallFlags.NONE, -1, None)
    GLib.MainLoop(context).run()


def main():
    products = os.environ['SIGNET_PRODUCTS']
    state = os.environ['STATE_DIRECTORY'].split(':')[0]
    # signetd refuses places that others can write to, such as those below /tmp.
    place = tempfile.mkdtemp(prefix='signet-fprintd-', dir='/run')
    os.symlink(place, os.path.join(os.path.dirname(state), 'signet'))
    os.makedirs(os.path.join(place, 'state'), mode=0o755, exist_ok=True)
    os.makedirs(os.path.join(place, 'signet.conf.d'), mode=0o755, exist_ok=True)
    with open(os.path.join(place, 'signet.conf'), 'w') as file:
        file.write(SETTINGS)
    with open(os.path.join(place, 'verify-password'), 'w') as file:
        file.write(PASSWORD_CHECK)
    os.chmod(os.path.join(place, 'verify-password'), 0o755)

    def at(name):
        return os.path.join(place, name)

    readers = []
    relays = []
    allowed = os.environ.get('FP_DRIVERS_ALLOWLIST', os.environ.get('FP_DRIVERS_WHITELIST', ''))
    for variable, (kind, driver) in READERS.items():
        path = os.environ.get(variable)
        if path is None or (allowed and driver not in allowed.split(':')
                            and driver.removesuffix('_no_list') not in allowed.split(':')):
            continue
        readers += [f'--{kind}', at(kind)]
        relays.append(ReaderRelay(kind, at(kind), path))

    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith('FP_') and key not in ('STATE_DIRECTORY', 'RUNTIME_DIRECTORY')}
    bus = bus_socket()
    notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notices.bind(at('notify'))
    environment['NOTIFY_SOCKET'] = at('notify')
    started = []
    ending = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ending.set())

    def start(*arguments):
        started.append(subprocess.Popen([os.path.join(products, 'testfixture'), *arguments], env=environment,
                                        start_new_session=True))
        while started[-1].poll() is None:
            notices.settimeout(0.2)
            try:
                if b'READY=1' in notices.recv(4096):
                    return
            except TimeoutError:
                pass
            if ending.is_set():
                return

    try:
        for relay in relays:
            relay.start()
        threading.Thread(target=follow_fingers, args=[relays], daemon=True).start()
        start('daemon', '--state', at('state'), '--socket', at('socket'), '--configuration', at('signet.conf'),
              '--verify-password', at('verify-password'), '--bus', bus, '--lids', at('lids'), '--fprintd', at('none'),
              '--relay', at('relay'), '--readers', at('readers.sock'), '--tokens', at('tokens'),
              '--passed', at('passed'), '--reader-idle', '1', *readers)
        start('desktop', at('socket'), bus, '-', at('passed'))
        while not ending.is_set() and all(program.poll() is None for program in started):
            ending.wait(0.05)
    finally:
        for program in reversed(started):
            program.terminate()
        deadline = time.monotonic() + 1.5
        for program in reversed(started):
            try:
                program.wait(timeout=max(0.05, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()
        # The process of the readers has the suite's output open as well.
        for program in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)
        for relay in relays:
            relay.stop()
        shutil.rmtree(place)
    return 0


if __name__ == '__main__':
    sys.exit(main())
