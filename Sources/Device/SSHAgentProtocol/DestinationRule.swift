// SPDX-License-Identifier: Apache-2.0
import Domain
import SignedFormats

/// One step that a restricted key may be used for: from a host, or from this machine, to a host.
///
/// Written `[FROM>][USER@]TO`, with hosts as the fingerprints that `ssh-keygen -l` shows. The meaning
/// is that of `ssh-add -h`: a login over several hosts is permitted if each step of it has a rule.
package struct DestinationRule: Equatable, Sendable {
    /// The host from which the step starts; nil for this machine.
    package let from: HostFingerprint?
    /// The user to log in as; nil for any.
    package let user: [UInt8]?
    /// The host at which the step arrives.
    package let to: HostFingerprint

    /// Parses a rule; nil if it is malformed.
    package init?(_ text: String) {
        var rest = [UInt8](text.utf8)[...]
        if let arrow = rest.firstIndex(of: UInt8(ascii: ">")) {
            guard let from = HostFingerprint([UInt8](rest[..<arrow])) else { return nil }
            self.from = from
            rest = rest[(arrow + 1)...]
        } else {
            from = nil
        }
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) {
            let user = [UInt8](rest[..<at])
            guard !user.isEmpty, user.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
            self.user = user
            rest = rest[(at + 1)...]
        } else {
            user = nil
        }
        guard let to = HostFingerprint([UInt8](rest)) else { return nil }
        self.to = to
    }

    /// Whether it permits a step; `user` is nil for one that only forwards.
    fileprivate func permits(
        from: HostFingerprint?, to: HostFingerprint, user: [UInt8]?
    ) -> Bool {
        guard self.from == from, self.to == to else { return false }
        guard let user, let own = self.user else { return true }
        return own == user
    }
}

/// The SHA-256 of a host key's blob.
package struct HostFingerprint: Equatable, Hashable, Sendable {
    /// The digest, 32 bytes.
    package let digest: [UInt8]

    private static let prefix: StaticString = "SHA256:"

    /// Wraps a digest; nil unless it has 32 bytes.
    package init?(digest: [UInt8]) {
        guard digest.count == 32 else { return nil }
        self.digest = digest
    }

    /// Parses `SHA256:` and base64 without padding, as `ssh-keygen -l` writes it.
    package init?(_ text: [UInt8]) {
        let prefix = Self.prefix.bytes
        guard text.starts(with: prefix), text.count == prefix.count + 43,
            let digest = Base64.decode(
                [UInt8](text.dropFirst(prefix.count)) + [UInt8(ascii: "=")], alphabet: .standard)
        else { return nil }
        self.init(digest: digest)
    }

    /// The text as `ssh-keygen -l` writes it.
    package var text: [UInt8] {
        Self.prefix.bytes
            + Base64.encode(digest, alphabet: .standard).filter { $0 != UInt8(ascii: "=") }
    }
}

/// The steps of a connection: the hosts that it was forwarded to, and the one to log in at.
package struct SessionPath: Equatable, Sendable {
    /// The hosts, from this machine outwards.
    package let hosts: [HostFingerprint]
    /// Whether the last host is logged in at, and not only forwarded to.
    package let arrives: Bool

    /// Creates a path.
    package init(hosts: [HostFingerprint], arrives: Bool) {
        self.hosts = hosts
        self.arrives = arrives
    }

    /// Whether rules permit every step, the last one as `user`.
    ///
    /// - Parameter user: nil if it is not known yet, for a list of keys. Then any user is assumed.
    package func isPermitted(by rules: [DestinationRule], user: [UInt8]?) -> Bool {
        var from: HostFingerprint?
        for (place, to) in hosts.enumerated() {
            let isLast = place == hosts.count - 1
            guard
                rules.contains(where: {
                    $0.permits(from: from, to: to, user: isLast && arrives ? user : nil)
                })
            else { return false }
            from = to
        }
        return true
    }
}
