import Glibc
import Notifier

exit(Notifier.run(paths: .ofThisSession()))
