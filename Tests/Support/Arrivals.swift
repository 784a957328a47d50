// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Tells of files that appear in a directory, or go from it; inotify(7).
struct Arrivals: ~Copyable {
    private let watch: Descriptor

    /// Watches a directory, which must be there, from now on.
    init(in directory: String) throws(TestFault) {
        watch = Descriptor(owning: inotify_init1(Int32(O_CLOEXEC | O_NONBLOCK)))
        let changes = UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE)
        guard unsafe inotify_add_watch(watch.number, directory, changes) >= 0 else {
            throw .system(call: "inotify_add_watch", subject: directory, code: errno)
        }
    }

    /// Waits until something has appeared or gone since the last call, or the time is over.
    func wait(within limit: Duration) {
        _ = watch.isReady(within: limit)
        var events = [UInt8](repeating: 0, count: 4096)
        _ = unsafe read(watch.number, &events, events.count)
    }
}

/// Waits until a directory, which is there, is empty.
package func awaitNoFiles(
    in directory: String, within limit: Duration = .seconds(30)
) throws(TestFault) {
    let deadline = ContinuousClock.now + limit
    let arrivals = try Arrivals(in: directory)
    while !Layout.entries(of: directory).isEmpty {
        let left = deadline - ContinuousClock.now
        guard left > .zero else { throw .deadline(awaited: directory, transcript: "") }
        arrivals.wait(within: left)
    }
}

/// Waits until there is something at `path`, in a directory that is there already.
package func awaitFile(
    _ path: String, within limit: Duration = .seconds(30)
) throws(TestFault) {
    let deadline = ContinuousClock.now + limit
    let arrivals = try Arrivals(in: Layout.directory(of: path))
    while unsafe access(path, F_OK) != 0 {
        let left = deadline - ContinuousClock.now
        guard left > .zero else { throw .deadline(awaited: path, transcript: "") }
        arrivals.wait(within: left)
    }
}
