// SPDX-License-Identifier: Apache-2.0
import Glibc
import Notifier

exit(Notifier.run(paths: .ofThisSession()))
