import Loop
import Policy
import Posix
import Systemd
import Wire

/// When nobody can be at the reader: the lid is closed over it, or it is at another seat.
extension Service {
    /// Why no touch is asked for now, and at which seat one would be; nil: at any.
    ///
    /// Asked before anything is written; what is quickly known comes first. A lockout is told to nobody
    /// at another seat.
    func presence(in session: Session, lockout: Denial? = nil) async -> Ruling<String?> {
        if logind.isSuspending { return .deny(Denial(.suspending)) }
        let minds = settings.word(Settings.loginSeat) == Settings.refuse
        let seat = minds ? session.seat : nil
        if let seat, await readers.areElsewhere(than: seat) { return .deny(Denial(.otherSeat)) }
        if let lockout { return .deny(lockout) }
        if await !readers.areThere() {
            // On the way to sleep they may have been closed meanwhile.
            return .deny(Denial(logind.isSuspending ? .suspending : .noReader))
        }
        if await isLidClosed() { return .deny(Denial(.lidClosed)) }
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
