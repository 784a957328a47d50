import Loop
import Policy
import Posix
import Systemd
import Wire

/// When nobody can be at the reader: the lid is closed over it, or it is at another seat.
extension Service {
    /// Why no touch is asked for now, and at which seat one would be; nil: at any.
    ///
    /// Asked before the reader, and before anything is written.
    func presence(of client: any Client) async -> Ruling<String?> {
        if logind.isSuspending { return .deny(Denial(.suspending)) }
        if await isLidClosed() { return .deny(Denial(.lidClosed)) }
        guard settings.word(Settings.loginSeat) == Settings.refuse,
            let seat = Session(ofPeer: client.descriptor).seat
        else { return .allow(nil) }
        if await readers.areElsewhere(than: seat) { return .deny(Denial(.otherSeat)) }
        return .allow(seat)
    }

    private func isLidClosed() async -> Bool {
        guard settings.word(Settings.loginLid) == Settings.refuse else { return false }
        if let isClosed = await logind.isLidClosed() { return isClosed }
        return Lids.isClosed(in: lids)
    }
}

/// The kernel's own word on lids, where logind has none.
enum Lids {
    /// The most lids that are looked at, and the most bytes of what each says.
    private static let (most, cap) = (8, 256)

    /// Whether a lid is closed, by `LID0/state` and the like in a directory; no where there is none.
    static func isClosed(in directory: String) -> Bool {
        guard let found = try? Directory.open(directory).list() else { return false }
        return found.prefix(most).contains { name in
            guard let bytes = try? readFile("\(directory)/\(name)/state", cap: cap),
                bytes.count <= cap
            else { return false }
            // state:      closed
            return bytes.split { $0 <= UInt8(ascii: " ") }.last == Array("closed".utf8)[...]
        }
    }
}
