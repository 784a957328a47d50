// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import FrameSamples
import LoginProtocol

/// What the daemon reads from any client.
enum Requests: Harness {
    static let name = "requests"
    static var seeds: [[UInt8]] { SampleFrames.requests.compactMap { try? $0.encoded() } }

    static func feed(_ bytes: [UInt8]) {
        guard let request = try? Request(decoding: bytes) else { return }
        require((try? request.encoded()) == bytes, "a request has a second form")
    }
}

/// What the command reads from the daemon, and what the module reads with a decoder of its own.
enum Answers: Harness {
    static let name = "answers"
    static var seeds: [[UInt8]] { SampleFrames.answers.compactMap { try? $0.encoded() } }

    static func feed(_ bytes: [UInt8]) {
        let answer = try? Answer(decoding: bytes)
        let toLogin = try? LoginAnswer(decoding: bytes)
        require(toLogin == answer.flatMap(answerToLogin), "the module reads another")
        guard let answer else { return }
        require((try? answer.encoded()) == bytes, "an answer has a second form")
    }

    /// The answer as the module has to read it; nil if the module has to reject it.
    private static func answerToLogin(_ answer: Answer) -> LoginAnswer? {
        switch answer {
        case .notice(let notice): .notice(notice)
        case .assertion(let assertion): .assertion(assertion)
        case .confirmed(let password): .confirmed(password: password)
        case .denial(let denial): denial.toLogin.map { .denial($0) }
        default: nil
        }
    }
}

/// The place of a secret's part in a packet, against the decoders that copy it.
enum SecretParts: Harness {
    static let name = "secret-parts"
    static var seeds: [[UInt8]] { Requests.seeds + Answers.seeds }

    static func feed(_ bytes: [UInt8]) {
        check(.kept, bytes) {
            ((try? Request(decoding: bytes))?.content as? SecretPartRequest)?.part
        }
        check(.released, bytes) {
            if case .secretPart(let part)? = try? Answer(decoding: bytes) { part } else { nil }
        }
    }

    private static func check(
        _ kind: SecretPartFrame.Kind, _ bytes: [UInt8], _ decoded: () -> Bytes?
    ) {
        let place = try? SecretPartFrame.range(kind, in: bytes)
        require(place.map { Bytes(bytes[$0]) } == decoded(), "a part lies elsewhere")
        guard let place else { return }
        let header = SecretPartFrame.header(kind, count: place.count)
        require(header + bytes[place] == bytes, "a part has a second form")
    }
}

/// The parts of an announced secret as they come: a size of four bytes, then two for each part.
enum SecretSequences: Harness {
    static let name = "secret-sequences"
    static let seeds: [[UInt8]] = [
        [0, 0, 0, 1, 0, 1], [0, 0, 0x4E, 0x20, 0x30, 0, 0x1E, 0x20], [0, 1, 0, 0, 0x30, 0],
        [0, 1, 0, 0] + (0..<5).flatMap { _ in [0x30, 0] as [UInt8] } + [0x10, 0],
    ]

    static func feed(_ bytes: [UInt8]) {
        guard bytes.count >= 4 else { return }
        let count = bytes[..<4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard var progress = SecretProgress(count: count) else {
            return require(count == 0 || count > UInt32(Limit.secret), "a good size is refused")
        }
        var taken = 0
        var parts = 0
        for index in stride(from: 4, to: bytes.count - 1, by: 2) {
            let part = Int(bytes[index]) << 8 | Int(bytes[index + 1])
            guard progress.take(part) else { continue }
            taken += part
            parts += 1
            require(part > 0 && part <= Limit.secretPart, "a part of a wrong size")
        }
        require(taken + progress.left == Int(count), "bytes were lost")
        require(progress.isWhole == (taken == Int(count)), "it is whole too early, or never")
        require(parts <= 6, "too many parts")
    }
}

/// The password that is taken out of a packet, against the decoder that copies it.
enum Passwords: Harness {
    static let name = "passwords"
    static var seeds: [[UInt8]] { Requests.seeds + Answers.seeds }

    static func feed(_ bytes: [UInt8]) {
        var packet = bytes
        let taken = PasswordFrame.take(from: &packet) { span in
            span.indices.map { span[$0] }
        }
        require(packet.count == bytes.count, "a packet changed its length")
        require(taken != nil || packet == bytes, "a packet changed without a password")
        require(password(in: bytes).map { $0 == taken } ?? true, "another password was taken")
        require(!(password(in: packet) ?? []).contains { $0 != 0 }, "a password was left behind")
        require(
            (password(in: packet) == nil) == (password(in: bytes) == nil),
            "a frame is refused without its password")
    }

    private static func password(in packet: [UInt8]) -> Bytes? {
        switch (try? Request(decoding: packet))?.content {
        case let request as PasswordRequest: return request.password
        case let request as PasswordChangedRequest: return request.password
        default: break
        }
        guard case .confirmed(let password) = try? Answer(decoding: packet) else { return nil }
        return password
    }
}
