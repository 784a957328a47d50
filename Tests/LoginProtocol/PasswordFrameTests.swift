// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import FrameSamples
import LoginProtocol
import TestSupport
import Testing

@Suite("Passwords in packets")
struct PasswordFrameTests {
    private static let password = Bytes("a secret".utf8)
    /// Every frame that may have one.
    private static let frames: [Bytes] = {
        let requests: [Request] = [
            .password(password),
            .passwordChanged(
                account: SampleFrames.account, service: "passwd", password: password),
        ]
        return requests.compactMap { try? $0.encoded() }
            + [Answer.confirmed(password: password)].compactMap { try? $0.encoded() }
    }()

    private func taken(from packet: inout Bytes) -> Bytes? {
        PasswordFrame.take(from: &packet) { span in span.indices.map { span[$0] } }
    }

    @Test("are taken out, and zeros stand in their place")
    func taken() {
        #expect(Self.frames.count == 3)
        for frame in Self.frames {
            var packet = frame
            #expect(taken(from: &packet) == Self.password)
            #expect(packet.count == frame.count && packet.contains(0))
            let isRequest = frame[1] < 128
            #expect(accepts(packet, isRequest: isRequest))
            #expect(taken(from: &packet) == Bytes(repeating: 0, count: Self.password.count))
        }
    }

    @Test("are not looked for in a packet without one, and nothing is changed then")
    func none() {
        for (frame, _) in sampleFrames where !fields(of: frame).contains(where: { $0[0] == 10 }) {
            var packet = frame
            #expect(taken(from: &packet) == nil)
            #expect(packet == frame)
        }
    }

    @Test("are not read beyond a packet that is cut short")
    func truncated() {
        for frame in Self.frames {
            for length in 0..<frame.count {
                var packet = Bytes(frame.prefix(length))
                if let found = taken(from: &packet) {
                    #expect(found == Self.password && frame[1] >= 128)
                }
            }
        }
    }

    @Test("that belong to a confirmation make the frame that the value itself makes")
    func sameFrame() throws {
        let apart = try Answer.confirmed(with: Self.password.span)
        #expect(try Answer.confirmed(password: Self.password).encoded() == apart)
        let long = Bytes(repeating: 1, count: Limit.password + 1)
        #expect(throws: WireFault.tooLong) { try Answer.confirmed(with: long.span) }
    }
}

@Suite("What may answer a login")
struct LoginAnswerTests {
    @Test("is read as every answer is; other kinds are refused")
    func sameAsAnswers() throws {
        for (frame, isRequest) in sampleFrames where !isRequest {
            let answer = try Answer(decoding: frame)
            switch answer {
            case .notice(let notice):
                #expect(try LoginAnswer(decoding: frame) == .notice(notice))
            case .assertion(let assertion):
                #expect(try LoginAnswer(decoding: frame) == .assertion(assertion))
            case .denial(let denial):
                guard let denial = denial.toLogin else {
                    #expect(throws: WireFault.malformedValue) { try LoginAnswer(decoding: frame) }
                    continue
                }
                #expect(try LoginAnswer(decoding: frame) == .denial(denial))
            case .confirmed(let password):
                #expect(try LoginAnswer(decoding: frame) == .confirmed(password: password))
            default:
                #expect(throws: WireFault.unknownKind) { try LoginAnswer(decoding: frame) }
            }
        }
    }

    @Test("a password is not part of an assertion or a receipt")
    func receipt() throws {
        let frame = try Answer.assertion(Assertion(statement: [1], signature: [2])).encoded()
        let password = field(Field.password.rawValue, Bytes("x".utf8))
        for kind in [CommonAnswerKind.assertion, .receipt] {
            let packet = [1, kind.rawValue] + password + frame.dropFirst(2)
            #expect(fault(packet, isRequest: false) == .unexpectedField)
        }
    }
}
