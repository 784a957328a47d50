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
        let kernel = Lids.areClosed(in: lids)
        return await logind.isLidClosed(elseAsking: kernel != nil) ?? kernel ?? false
    }
}

/// The kernel's own word on lids, where logind has none.
enum Lids {
    /// The most lids that are looked at, and the most bytes of what each says.
    private static let (most, cap) = (8, 256)

    /// Whether a lid is closed, by `LID0/state` and the like in a directory; nil where none tells.
    static func areClosed(in directory: String) -> Bool? {
        guard let found = try? Directory.open(directory).list() else { return nil }
        let states = found.prefix(most).compactMap { name -> Bool? in
            guard let bytes = try? readFile("\(directory)/\(name)/state", cap: cap),
                bytes.count <= cap
            else { return nil }
            // state:      closed
            let words = bytes.split { $0 <= UInt8(ascii: " ") }
            switch words.last.map({ String(decoding: $0, as: UTF8.self) }) {
            case "closed": return true
            case "open": return false
            default: return nil
            }
        }
        return states.isEmpty ? nil : states.contains(true)
    }
}
