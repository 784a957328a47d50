import Glibc
import Posix
import Wire

/// Writes everything, or gives up where nobody reads any more; write(2).
func writeAll(_ bytes: Bytes, to number: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes { buffer in
            unsafe write(number, buffer.baseAddress, buffer.count)
        }
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
    }
}

/// The width of a terminal, or nil where a descriptor is none; TIOCGWINSZ of ioctl_tty(2).
func terminalColumns(_ number: Int32) -> Int? {
    var size = winsize()
    guard isatty(number) == 1 else { return nil }
    guard unsafe ioctl(number, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
}

/// What a wait ended with.
enum Awaited {
    case readable
    case interrupted
    case timedOut
}

/// Waits until one of two descriptors can be read, or the time is over; poll(2).
func wait(for number: Int32, or interrupts: Int32, until deadline: ContinuousClock.Instant?)
    -> Awaited
{
    while true {
        var entries = [
            pollfd(fd: interrupts, events: Int16(POLLIN), revents: 0),
            pollfd(fd: number, events: Int16(POLLIN), revents: 0),
        ]
        let result = unsafe poll(&entries, 2, milliseconds(until: deadline))
        if result < 0 && errno != EINTR { return .timedOut }
        if result > 0 && entries[0].revents != 0 { return .interrupted }
        if result > 0 { return .readable }
        if let deadline, ContinuousClock.now >= deadline { return .timedOut }
    }
}

private func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
    guard let deadline else { return -1 }
    let (seconds, attoseconds) = max(.zero, deadline - ContinuousClock.now).components
    return Int32(clamping: seconds * 1_000 + attoseconds / 1_000_000_000_000_000 + 1)
}

/// Reads a file that its caller names, of at most `cap` bytes.
func readFile(_ path: String, cap: Int) throws(SystemFault) -> Bytes {
    let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard number >= 0 else { throw SystemFault.current("open", on: path) }
    let file = Descriptor(adopting: number)
    var bytes: Bytes = []
    var buffer = Bytes(repeating: 0, count: 16_384)
    while bytes.count <= cap {
        let count = unsafe buffer.withUnsafeMutableBytes { room in
            unsafe read(file.number, room.baseAddress, room.count)
        }
        if count < 0 && errno == EINTR { continue }
        guard count >= 0 else { throw SystemFault.current("read", on: path) }
        if count == 0 { return bytes }
        bytes += buffer[..<count]
    }
    return bytes
}

/// Makes a directory for the caller alone, if there is none; mkdir(2).
func makeDirectory(_ path: String) throws(SystemFault) {
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
        throw SystemFault.current("mkdir", on: path)
    }
}

/// Whether anything is there by that name, also a broken link; lstat(2).
func exists(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0
}

/// Writes a file that must not be there yet; open(2) with O_EXCL.
func createFile(_ path: String, _ bytes: Bytes) throws(SystemFault) {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let number = unsafe open(path, flags, 0o644)
    guard number >= 0 else { throw SystemFault.current("open", on: path) }
    let file = Descriptor(adopting: number)
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes { buffer in
            unsafe write(file.number, buffer.baseAddress, buffer.count)
        }
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { throw SystemFault.current("write", on: path) }
        rest = rest.dropFirst(count)
    }
}
