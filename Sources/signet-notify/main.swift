import Glibc
import Notifier

exit(Notifier.run(places: .ofThisSession()))
