// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import Posix
import SignedFormats

/// A server's last positive verdict on a login, as received, for logins while the server is
/// unreachable.
///
/// Storing a verdict does not make it valid: the PAM module verifies its signature, names and age.
package struct CachedVerdict: Equatable, Sendable {
    /// The canonical text of the verdict.
    package let text: [UInt8]
    /// The server's signature over the text, an SSHSIG blob.
    package let signature: [UInt8]
    /// The parsed text.
    package let verdict: Verdict
    /// The kernel's id of the boot during which the verdict arrived.
    package let boot: [UInt8]
    /// The time of arrival, in whole seconds since that boot.
    package let moment: UInt64

    /// Creates a cached verdict.
    ///
    /// Returns nil unless the text is a verdict that allows the login.
    package init?(
        text: [UInt8], signature: [UInt8], boot: [UInt8] = [], moment: UInt64 = 0
    ) {
        guard let verdict = try? Verdict(parsing: text), verdict.decision == .allow else {
            return nil
        }
        self.verdict = verdict
        self.text = text
        self.signature = signature
        self.boot = boot
        self.moment = moment
    }

    /// Returns a lower bound of the present time, in seconds since 1970.
    ///
    /// `boot` and `moment` are the present boot and the seconds since it. During the boot in which
    /// the verdict arrived, the bound is the time at which the server signed plus the time since
    /// arrival, so that setting the clock back does not make a verdict younger. After a reboot it
    /// is the time of signing alone.
    package func now(boot: [UInt8], moment: UInt64) -> UInt64 {
        let issued = verdict.issued.seconds
        guard boot == self.boot, moment >= self.moment else { return issued }
        return issued &+ (moment - self.moment)
    }
}

extension CachedVerdict: LineRecord {
    static let cap = 8_192

    func encoded() -> [UInt8] {
        var lines = LineWriter()
        lines.put("signet-kept-verdict", number: 1)
        lines.put("verdict", Base64.encode(text, alphabet: .url))
        lines.put("signature", Base64.encode(signature, alphabet: .url))
        lines.put("boot", boot)
        lines.put("moment", number: moment)
        return lines.text
    }

    init(parsing lines: inout LineReader) throws(LineFault) {
        try lines.version("signet-kept-verdict")
        let text = try lines.bytes("verdict", cap: Limit.verdict)
        let signature = try lines.bytes("signature", cap: Limit.signature)
        let boot = try lines.value("boot", cap: 64)
        let moment = try lines.number("moment")
        let read = CachedVerdict(text: text, signature: signature, boot: boot, moment: moment)
        guard !signature.isEmpty, let kept = read else { throw .malformed }
        self = kept
    }
}

extension ServerStore {
    /// Returns the cached verdict for a key; nil if there is none or if its file cannot be used.
    package func verdict(for key: ServerKey) throws(StoreFault) -> CachedVerdict? {
        guard let directory = try directory() else { return nil }
        do throws(StoreFault) {
            return try directory.record(verdictName(key.identifier))
        } catch {
            guard error.isAboutContent else { throw error }
            return nil
        }
    }

    /// Stores a verdict durably in place of the previous one.
    ///
    /// Does nothing if the key was removed or is not in the state `good`.
    package func keep(_ verdict: CachedVerdict, for key: ServerKey) throws(StoreFault) {
        guard try self.key(key.identifier)?.state == .good, let directory = try directory()
        else { return }
        try directory.keep(verdict, as: verdictName(key.identifier))
    }

    /// Deletes the cached verdict for a key, durably.
    ///
    /// Call it after the server denied a login, and before the key is disabled.
    package func forgetVerdict(for key: ServerKey) throws(StoreFault) {
        guard let directory = try directory() else { return }
        try files { () throws(FileFault) in try directory.remove(verdictName(key.identifier)) }
    }

    private func verdictName(_ identifier: CredentialID) -> String {
        String(decoding: identifier.hexadecimal, as: UTF8.self) + ".verdict"
    }
}
