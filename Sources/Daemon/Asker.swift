import Posix
import Texts
import Wire

/// Who asks for a touch, for whoever waits behind.
struct Asker: Equatable {
    private static let longestPurpose = 200

    /// What everybody is told: `sudo (alice, pts/3)`.
    private let name: Bytes
    /// What the same person is told: `sudo apt upgrade (alice, pts/3)`.
    private let detail: Bytes
    /// The person, nil where it is not sure who it is.
    private let person: Bytes?

    /// One of whom there is no more to say.
    init(_ name: String) {
        self.name = Bytes(name.utf8)
        detail = self.name
        person = nil
    }

    /// Whoever made a request. Who asks is the account whose program it is, or whom the program with
    /// root's rights names, as sudo and su do; not the account that a login is for.
    init(_ request: AuthenticateRequest, _ account: Account, _ peer: PeerCredentials) {
        let own = Bytes(account.name.utf8)
        let who = Prompt.who(account: own, terminal: request.terminal)
        name = Self.line("\(request.service) (\(who))")
        if request.purpose.isEmpty {
            detail = name
        } else {
            detail = Self.line("\(Self.shortened(request.purpose)) (\(who))")
        }
        let requester = request.requester.isEmpty ? nil : request.requester
        person = peer.uid == 0 ? requester : own
    }

    /// What another is told: nobody learns what others are about to do.
    func name(for other: Asker) -> Bytes {
        person != nil && person == other.person ? detail : name
    }

    private static func line(_ text: Text) -> Bytes { Bytes(text.bytes.prefix(Limit.text)) }

    /// A purpose with its middle left out where it is long.
    private static func shortened(_ purpose: Bytes) -> Text {
        let text = Text(escaping: purpose)
        let scalars = String(decoding: text.bytes, as: UTF8.self).unicodeScalars
        guard scalars.count > longestPurpose else { return text }
        let half = longestPurpose / 2
        let cut = "\(String(scalars.prefix(half))) … \(String(scalars.suffix(half)))"
        return Text(escaping: Bytes(cut.utf8))
    }
}
