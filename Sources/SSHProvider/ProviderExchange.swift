// SPDX-License-Identifier: Apache-2.0
import CSSHProvider
import Domain
import LoginMessages
import LoginProtocol
import SSHProtocol
import SignedFormats

/// What the provider asks of signetd, one connection for each request.
///
/// Every wait has an end: the daemon must answer within some seconds, and the touch must come within
/// about a minute. Notices are shown to the user as they arrive.
package struct ProviderExchange {
    /// Where signetd listens, and who must own the listening end.
    private let path: Bytes
    private let daemonUID: UInt32
    /// How long the daemon may take for its first answer, and for the others.
    private let limits: Limits
    /// Shows a line to the user.
    private let show: (Text) -> Void

    /// Limits in milliseconds.
    package struct Limits {
        /// How long the daemon may take for its first answer, and to list keys: the 90 seconds that
        /// systemd lets it start, on a busy machine, and some for the answer.
        package var answer: UInt32 = 120_000
        /// After which time without an answer the user is told that something is under way.
        package var quiet: UInt32 = 2_000
        /// How long a request may take once it has asked for a touch, and until it does so or says that
        /// it is still preparing.
        package var whole: UInt32 = 75_000

        /// The limits of the installed library.
        package init() {}
    }

    /// The daemon's socket; nothing in the environment changes it.
    private static let installedPath: StaticString = "/run/signet/signetd.sock"
    /// How long the daemon is to wait for a touch.
    private static let touchMilliseconds: UInt32 = 60_000

    /// An exchange with the signetd that is installed.
    package init(show: @escaping (Text) -> Void) {
        self.init(
            path: Self.installedPath.bytes, daemonUID: 0, limits: Limits(), show: show)
    }

    /// An exchange with a daemon elsewhere, for tests.
    package init(
        path: Bytes, daemonUID: UInt32, limits: Limits, show: @escaping (Text) -> Void
    ) {
        self.path = path
        self.daemonUID = daemonUID
        self.limits = limits
        self.show = show
    }

    /// Has a key made, after a touch.
    package func create(
        account: AccountName, application: Bytes, name: SSHKeyName?
    ) throws(ProviderFault) -> SSHKeyContent {
        let request = SSHCreateRequest(
            account: account, timeoutMilliseconds: Self.touchMilliseconds,
            application: application, name: name)
        let words = StaticString("make an ssh key").bytes
        let answer = try touched(
            try? request.packet(),
            for: name.map { words + StaticString(", ").bytes + $0.bytes } ?? words)
        guard case .made(let key) = answer, key.application.bytes == application else {
            throw .untrusted
        }
        return key
    }

    /// Has data signed, after a touch.
    package func sign(
        _ data: Bytes, account: AccountName, application: Bytes, handle: Bytes,
        wantsVerification: Bool = false
    ) throws(ProviderFault) -> SSHSignatureAnswer {
        let request = SSHSignRequest(
            account: account, timeoutMilliseconds: Self.touchMilliseconds,
            application: application, handle: handle, data: data,
            wantsVerification: wantsVerification)
        guard case .signature(let signature) = try touched(try? request.packet()),
            !wantsVerification || signature.flags == SSHSecurityKey.flags
        else { throw .untrusted }
        return signature
    }

    /// Lists the keys that can be used.
    package func keys(of account: AccountName) throws(ProviderFault) -> [SSHKeyContent] {
        guard let packet = try? SSHListRequest(account: account).packet() else { throw .badCall }
        var connection = try ProviderConnection.open(path, trusting: daemonUID)
        try connection.send(packet)
        let deadline = ProviderDeadline(milliseconds: limits.answer)
        var keys: [SSHKeyContent] = []
        while true {
            switch try connection.answer(until: deadline) {
            case .notice: continue
            case .denial(let denial): throw .denied(denial)
            case .key(let key): keys.append(key)
            case .count(let count):
                guard Int(count) == keys.count else { throw .untrusted }
                return keys.filter { $0.state == .good }
            case .made, .signature: throw .untrusted
            }
        }
    }

    /// Sends a request that needs a touch, and returns its last answer.
    ///
    /// - Parameter packet: nil if the request cannot be encoded.
    /// - Parameter purpose: what the touch confirms; empty if the calling program says it.
    private func touched(
        _ packet: Bytes?, for purpose: Bytes = []
    ) throws(ProviderFault) -> SSHAnswer {
        guard let packet else { throw .badCall }
        var connection = try ProviderConnection.open(path, trusting: daemonUID)
        try connection.send(packet)
        var deadline = ProviderDeadline(milliseconds: limits.answer)
        let isLate = try !connection.hasAnswer(
            until: ProviderDeadline(milliseconds: limits.quiet))
        if isLate, let text = Notice(.preparing).text { show(text) }
        var lastShown: NoticeKind?
        var isAsked = false
        while true {
            let answer = try connection.answer(until: deadline)
            if !isAsked { deadline = ProviderDeadline(milliseconds: limits.whole) }
            switch answer {
            case .denial(let denial): throw .denied(denial)
            case .made, .signature: return answer
            case .key, .count: throw .untrusted
            case .notice(let notice):
                isAsked = isAsked || notice.kind == .touch
                // A slow chip is no reason to give up.
                if notice.kind == .tpm {
                    deadline = ProviderDeadline(milliseconds: limits.whole)
                }
                // The reader waits again after each finger; saying so once is enough.
                let isNews = notice.kind != .preparing && notice.kind != lastShown
                if isNews, let text = notice.text {
                    let isNamed = notice.kind == .touch && !purpose.isEmpty
                    show(isNamed ? "\(text) to confirm: \(purpose)" : text)
                    lastShown = notice.kind
                }
            }
        }
    }
}
