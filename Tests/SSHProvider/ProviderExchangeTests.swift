// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import FrameSamples
import LoginMessages
import LoginProtocol
import Posix
import SSHProtocol
import SSHProvider
import SignedFormats
import TestSupport
import Testing

@Suite("The provider's requests")
struct ProviderExchangeTests {
    private static let handle = Bytes(repeating: 1, count: 37)
    private static let application = SSHApplication.standard.bytes
    private static let signature = SSHSignatureAnswer(
        flags: SSHSecurityKey.flags, counter: 7, numbers: Bytes(repeating: 9, count: 64))

    /// What the played daemon is asked, and what the user is shown.
    private struct Exchanged {
        var result: Result<SSHSignatureAnswer, ProviderFault>
        var request: Request?
        var shown: [String]
    }

    private func sign(
        _ packets: [Bytes], ending: PlayedDaemon.Ending = .close, from uid: UInt32 = 0
    ) throws -> Exchanged {
        let daemon = try PlayedDaemon(packets, ending: ending)
        var shown: [String] = []
        let limit: UInt32? = ending == .hang ? 200 : nil
        let exchange = exchange(daemon.path, from: uid, within: limit) { shown.append($0) }
        var exchanged: Exchanged
        do throws(ProviderFault) {
            let answer = try exchange.sign(
                [1, 2, 3], account: "alice", application: Self.application, handle: Self.handle)
            exchanged = Exchanged(result: .success(answer), shown: [])
        } catch { exchanged = Exchanged(result: .failure(error), shown: []) }
        exchanged.shown = shown
        exchanged.request = try daemon.request()
        return exchanged
    }

    private func exchange(
        _ path: String, from uid: UInt32 = 0, within milliseconds: UInt32? = nil,
        show: @escaping (String) -> Void = { _ in }
    ) -> ProviderExchange {
        var limits = ProviderExchange.Limits()
        if let milliseconds {
            (limits.answer, limits.whole, limits.quiet) = (milliseconds, milliseconds, 100)
        }
        return ProviderExchange(path: Bytes(path.utf8), daemonUID: uid, limits: limits) {
            show(String(decoding: $0.bytes, as: UTF8.self))
        }
    }

    private func packet(_ answer: Answer) throws -> Bytes { try answer.encoded() }

    @Test("passes data and handle on as they are, shows what to do, and returns the signature")
    func signs() throws {
        let exchanged = try sign([
            packet(.notice(Notice(.preparing))), packet(.notice(Notice(.touch, scan: .press))),
            packet(.notice(Notice(.noMatch, triesLeft: 1))),
            packet(.notice(Notice(.touch, scan: .press))), packet(.of(Self.signature)),
        ])
        #expect(exchanged.result == .success(Self.signature))
        #expect(
            exchanged.request
                == .sshSign(
                    SSHSignRequest(
                        account: "alice", timeoutMilliseconds: 60_000,
                        application: Self.application, handle: Self.handle, data: [1, 2, 3])))
        #expect(
            exchanged.shown == [
                "touch the reader", "the finger did not match: one try left", "touch the reader",
            ])
    }

    @Test("a daemon that is not root is asked nothing")
    func notRoot() throws {
        let exchanged = try sign([], from: 12_345)
        #expect(exchanged.result == .failure(.untrusted) && exchanged.request == nil)
    }

    @Test("without a daemon nothing is signed, and ssh is told that there is no device")
    func away() throws {
        let exchange = exchange("/nonexistent/socket")
        #expect(throws: ProviderFault.away) { try exchange.keys(of: "alice") }
        #expect(ProviderFault.away.code == -4)
    }

    @Test("a daemon that hangs, at first or after the touch was asked for, is given up")
    func silent() throws {
        #expect(try sign([], ending: .hang).result == .failure(.silent))
        let notice = try packet(.notice(Notice(.touch)))
        #expect(try sign([notice], ending: .hang).result == .failure(.silent))
    }

    @Test("a daemon that takes long to ask for the touch, and says so, is waited for")
    func slow() throws {
        let preparing = try packet(.notice(Notice(.preparing)))
        let slow = try PlayedDaemon(
            [preparing, preparing, preparing] + [
                packet(.notice(Notice(.touch))), packet(.of(Self.signature)),
            ], ending: .close, pause: 600)
        let answer = try exchange(slow.path, within: 1_500).sign(
            [1, 2, 3], account: "alice", application: Self.application, handle: Self.handle)
        #expect(answer == Self.signature)
    }

    @Test("answers that are malformed, of another kind, or too many are refused")
    func malformed() throws {
        let whole = try packet(.of(Self.signature))
        var packets = (1..<whole.count).map { [Bytes(whole.prefix($0))] }
        packets += [[whole + [0]], [Bytes(repeating: 1, count: Frame.maximumLength + 1)]]
        packets += [
            [try packet(.done(DoneAnswer()))], [try packet(.of(SSHKeyCountAnswer(count: 0)))],
            [try packet(.of(SSHKeyMadeAnswer(SSHKeyFrames.key)))],
        ]
        for packets in packets {
            #expect(try sign(packets).result == .failure(.untrusted), "\(packets)")
        }
        let notice = try packet(.notice(Notice(.fingerPresent)))
        let many = [Bytes](repeating: notice, count: 1_000) + [whole]
        #expect(try sign(many).result == .failure(.untrusted))
        #expect(try sign([notice]).result == .failure(.away))
    }

    @Test("each reason of a denial has a code that makes ssh go on, and none asks for a PIN")
    func denials() throws {
        for reason in DenialReason.allCases {
            let exchanged = try sign([packet(.denial(Denial(reason)))])
            guard case .failure(.denied(let denial)) = exchanged.result else {
                Issue.record("\(reason): \(exchanged.result)")
                continue
            }
            let fault = ProviderFault.denied(denial)
            #expect([-1, -2, -4, -5].contains(fault.code), "\(reason)")
            #expect(!fault.text(account: "alice").bytes.isEmpty)
        }
        func code(_ reason: DenialReason) -> Int32 {
            ProviderFault.denied(DenialOf(AnyReason(rawValue: reason.rawValue))).code
        }
        #expect(code(.sshKeyExists) == -5 && code(.sshApplicationRefused) == -2)
        #expect(code(.unknownSshKey) == -4 && code(.noReader) == -4 && code(.noMatch) == -1)
    }

    @Test("lists the keys that can be used, and no list that is cut short")
    func list() throws {
        var other = SSHKeyFrames.key
        other.state = .invalidated
        let keys = try [SSHKeyFrames.key, other].map { try packet(.of(SSHKeyAnswer($0))) }
        let whole = try PlayedDaemon(
            keys + [packet(.of(SSHKeyCountAnswer(count: 2)))], ending: .close)
        #expect(try exchange(whole.path).keys(of: "alice") == [SSHKeyFrames.key])
        let short = try PlayedDaemon(
            [keys[0], packet(.of(SSHKeyCountAnswer(count: 2)))], ending: .close)
        #expect(throws: ProviderFault.untrusted) { try exchange(short.path).keys(of: "alice") }
    }

    @Test("takes no key for another application than it asked for")
    func otherApplication() throws {
        let daemon = try PlayedDaemon(
            [packet(.of(SSHKeyMadeAnswer(SSHKeyFrames.key)))], ending: .close)
        #expect(throws: ProviderFault.untrusted) {
            try exchange(daemon.path).create(
                account: "alice", application: Bytes("ssh:x".utf8), name: nil)
        }
    }
}
