// SPDX-License-Identifier: Apache-2.0
import SSHAgentProtocol
import SignedFormats
import TestSupport
import Testing

@Suite("Messages of an ssh agent")
struct AgentMessageTests {
    private static let session = [UInt8](repeating: 1, count: 32)
    private static let binding = AgentData.bind(
        hostKey: SSHData.hostKey, session: session, signature: [9, 9], isForwarding: 1)

    /// Requests that must have exactly their own length.
    private static let exact: [[UInt8]] = [
        AgentData.identities, AgentData.removeAll, AgentData.sign([1, 2], [3], flags: 4),
        AgentData.remove([1, 2]), AgentData.lock("x"), AgentData.unlock(""),
        AgentData.extension("query"), binding,
    ]

    @Test("each request is read as what it is")
    func requests() throws {
        #expect(try AgentRequest(parsing: [11]) == .identities)
        #expect(try AgentRequest(parsing: [19]) == .removeAll)
        guard
            case .sign(let signing) = try AgentRequest(
                parsing: AgentData.sign([1, 2], [3], flags: 4))
        else { throw TestFault.noFixture("a request to sign") }
        #expect(signing.keyBlob == [1, 2] && signing.data == [3] && signing.flags == 4)
        #expect(try AgentRequest(parsing: AgentData.remove([7])) == .remove(keyBlob: [7]))
        #expect(try AgentRequest(parsing: AgentData.lock("ab")) == .lock(passphrase: [97, 98]))
        #expect(try AgentRequest(parsing: AgentData.unlock("ab")) == .unlock(passphrase: [97, 98]))
        #expect(try AgentRequest(parsing: AgentData.extension("query")) == .query)
        #expect(
            try AgentRequest(parsing: AgentData.extension("x@y", [1, 2, 3]))
                == .otherExtension(name: [UInt8]("x@y".utf8)))
        let token = try #require(AgentLoopToken(random: [UInt8](0..<16)))
        #expect(try AgentRequest(parsing: token.message) == .loopCheck(token))
        #expect(AgentLoopToken(random: [UInt8](0..<15)) == nil)
        for altered in [token.message + [0], token.message.dropLast()] {
            #expect(throws: SSHFault.self) { try AgentRequest(parsing: [UInt8](altered)) }
        }
        guard case .bind(let bound) = try AgentRequest(parsing: Self.binding) else {
            throw TestFault.noFixture("a binding")
        }
        #expect(bound.hostKey == SSHData.hostKey && bound.sessionID == Self.session)
        #expect(bound.signature == [9, 9] && bound.isForwarding)
    }

    @Test("what is another agent's business is known by its number alone")
    func opaque() throws {
        for number in [17, 25, 20, 26] as [UInt8] {
            #expect(try AgentRequest(parsing: [number, 1, 2, 3]) == .add)
            #expect(try AgentRequest(parsing: [number]) == .add)
        }
        #expect(try AgentRequest(parsing: [21, 1]) == .removeToken)
        for number in [0, 1, 5, 6, 7, 9, 12, 14, 24, 28, 29, 30, 240, 255] as [UInt8] {
            #expect(try AgentRequest(parsing: [number, 1, 2]) == .unknown(number))
        }
    }

    @Test("a request that is cut anywhere, or followed by anything, is refused", arguments: exact)
    func truncated(message: [UInt8]) {
        for length in 0..<message.count {
            #expect(throws: SSHFault.self) {
                try AgentRequest(parsing: [UInt8](message.prefix(length)))
            }
        }
        #expect(throws: SSHFault.trailing) { try AgentRequest(parsing: message + [0]) }
    }

    @Test("lengths that lie are refused before anything is copied")
    func lengths() {
        for length in [0x7FFF_FFFF, 0xFFFF_FFFF, 1 << 20, AgentLimit.message + 1] {
            #expect(throws: SSHFault.tooLong) {
                try AgentRequest(parsing: [18] + SSHData.string([1], length: length))
            }
            #expect(throws: SSHFault.tooLong) {
                try AgentRequest(parsing: [27] + SSHData.string("query", length: length))
            }
        }
        #expect(throws: SSHFault.truncated) {
            try AgentRequest(parsing: [18] + SSHData.string([1], length: 2))
        }
        #expect(throws: SSHFault.tooLong) {
            try AgentRequest(parsing: [UInt8](repeating: 11, count: AgentLimit.message + 1))
        }
        let long = String(repeating: "x", count: AgentLimit.passphrase + 1)
        #expect(throws: SSHFault.tooLong) { try AgentRequest(parsing: AgentData.lock(long)) }
    }

    @Test("a binding with an empty part, an id above 128 bytes, or another flag is refused")
    func bindings() {
        func isRefused(_ message: [UInt8]) -> Bool {
            (try? AgentRequest(parsing: message)) == nil && AgentRequest.meantToBind(message)
        }
        let (key, id) = (SSHData.hostKey, Self.session)
        #expect(isRefused(AgentData.bind(hostKey: [], session: id, signature: [1])))
        #expect(isRefused(AgentData.bind(hostKey: key, session: [], signature: [1])))
        #expect(isRefused(AgentData.bind(hostKey: key, session: id, signature: [])))
        let long = [UInt8](repeating: 1, count: AgentLimit.sessionID + 1)
        #expect(isRefused(AgentData.bind(hostKey: key, session: long, signature: [1])))
        for flag in [2, 255] as [UInt8] {
            #expect(
                isRefused(
                    AgentData.bind(
                        hostKey: key, session: id, signature: [1], isForwarding: flag)))
        }
        #expect(!AgentRequest.meantToBind(AgentData.extension("query")))
        #expect(!AgentRequest.meantToBind([11]))
        #expect(!AgentRequest.meantToBind([]))
    }

    @Test("another agent's list is read to its end, within bounds")
    func lists() throws {
        let keys = [
            AgentIdentity(keyBlob: [1], comment: [2]), AgentIdentity(keyBlob: [], comment: []),
        ]
        for list in [keys, []] {
            let message = AgentAnswer.identities(list).message
            #expect(try AgentAnswer.identities(parsing: message) == list)
            for length in 0..<message.count {
                #expect(throws: SSHFault.self) {
                    try AgentAnswer.identities(parsing: [UInt8](message.prefix(length)))
                }
            }
            #expect(throws: SSHFault.trailing) {
                try AgentAnswer.identities(parsing: message + [0])
            }
        }
        #expect(throws: SSHFault.tooLong) {
            try AgentAnswer.identities(parsing: [12] + AgentData.number(.max))
        }
        #expect(throws: SSHFault.unsupported) { try AgentAnswer.identities(parsing: [5]) }
    }

    @Test("answers have the bytes of RFC 9987")
    func answers() {
        #expect(AgentAnswer.failure.message == [5])
        #expect(AgentAnswer.success.message == [6])
        #expect(AgentAnswer.extensionFailure.message == [28])
        #expect(
            AgentAnswer.extensions.message == [29] + SSHData.string("query")
                + SSHData.string("query") + SSHData.string("session-bind@openssh.com"))
        // r begins with a high bit and s with zeros: each in its shortest form.
        let r = [0x80] + [UInt8](repeating: 1, count: 31)
        let s = [0, 0, 5] + [UInt8](repeating: 2, count: 29)
        let numbers = SSHData.string([0] + r) + SSHData.string([UInt8](s.dropFirst(2)))
        let signature = SSHData.string("ecdsa-sha2-nistp256") + SSHData.string(numbers)
        #expect(AgentAnswer.signature(r: r, s: s).message == [14] + SSHData.string(signature))
        #expect(AgentAnswer.isSuccess([6]))
        for other in [[], [5], [6, 0], [28]] as [[UInt8]] {
            #expect(!AgentAnswer.isSuccess(other))
        }
    }
}

@Suite("Messages in a stream")
struct AgentFrameTests {
    @Test("messages come out whole, however the stream is cut")
    func cuts() throws {
        let messages: [[UInt8]] = [[11], AgentData.sign([1], [2]), [19]]
        let stream = messages.flatMap { AgentData.frame($0) }
        for size in 1...stream.count {
            var frames = AgentFrames()
            var read: [[UInt8]] = []
            var rest = stream[...]
            while !rest.isEmpty {
                frames.append([UInt8](rest.prefix(size)))
                rest = rest.dropFirst(size)
                while let message = try frames.next() { read.append(message) }
            }
            #expect(read == messages && frames.isEmpty, "\(size)")
        }
        #expect(AgentFrames.frame([11]) == AgentData.frame([11]))
    }

    @Test("an empty message, and one above 256 KiB, end the stream at their length")
    func lengths() throws {
        for (length, fault) in [
            (0, SSHFault.malformed), (AgentLimit.message + 1, .tooLong), (0xFFFF_FFFF, .tooLong),
        ] {
            var frames = AgentFrames()
            frames.append(AgentData.number(UInt32(length)))
            #expect(throws: fault) { try frames.next() }
        }
        var frames = AgentFrames()
        frames.append(AgentData.number(UInt32(AgentLimit.message)))
        #expect(try frames.next() == nil)
        #expect(frames.room == AgentLimit.message)
        frames.append([UInt8](repeating: 11, count: AgentLimit.message))
        #expect(frames.room == 0)
        #expect(try frames.next()?.count == AgentLimit.message)
    }
}
