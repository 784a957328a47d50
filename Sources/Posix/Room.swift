import Synchronization

/// One looks at a time: what it takes for that moment is not to be missed by another.
private let looking = Mutex<Void>(())

/// Whether this process can have so many more descriptors now, and one more thread; eventfd(2),
/// pthread_create(3). What other processes have taken of the machine's counts as well.
package func hasRoom(forDescriptors count: Int) -> Bool {
    looking.withLock { _ in
        do throws(SystemFault) {
            var taken: [Event] = []
            for _ in 0..<count { taken.append(try Event()) }
            try onThread {}
            return true
        } catch { return false }
    }
}
