// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Posix
import SignedFormats

/// A server's last yes to a login, as it came: for logins while the server cannot be asked.
///
/// Nothing here makes it good: the PAM module checks signature, names and age.
package struct CachedVerdict: Equatable, Sendable {
    /// The verdict's canonical text.
    package let text: [UInt8]
    /// The SSHSIG blob over it, by the server.
    package let signature: [UInt8]
    /// What the text says.
    package let verdict: Verdict
    /// The kernel's id of the boot in which it came.
    package let boot: [UInt8]
    /// The whole seconds since the start of the machine at which it came.
    package let moment: UInt64

    /// All of it; nil unless the text is a verdict that lets in.
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

    /// What time it is at least, in seconds since 1970, so long after the start of the machine: as
    /// long as that runs, no clock that is set undoes what has passed since the server signed.
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
        lines.put("verdict", Base64.encode(text, .url))
        lines.put("signature", Base64.encode(signature, .url))
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
    /// The last yes for a key; nil where there is none, or none that could be read.
    package func verdict(for key: ServerKey) throws(StoreFault) -> CachedVerdict? {
        guard let directory = try directory() else { return nil }
        do throws(StoreFault) {
            return try directory.record(verdictName(key.identifier))
        } catch {
            guard error.isAboutContent else { throw error }
            return nil
        }
    }

    /// Keeps a yes, durably, in the place of the one before; a key that is gone keeps none.
    package func keep(_ verdict: CachedVerdict, for key: ServerKey) throws(StoreFault) {
        guard try self.key(key.identifier)?.state == .good, let directory = try directory()
        else { return }
        try directory.keep(verdict, as: verdictName(key.identifier))
    }

    /// Removes the last yes for a key, durably: the server has said no since, or the key is off.
    package func forgetVerdict(for key: ServerKey) throws(StoreFault) {
        guard let directory = try directory() else { return }
        try files { () throws(FileFault) in try directory.remove(verdictName(key.identifier)) }
    }

    private func verdictName(_ identifier: [UInt8]) -> String {
        String(decoding: Hexadecimal.encode(identifier), as: UTF8.self) + ".verdict"
    }
}
