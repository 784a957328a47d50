import Wire

/// What the daemon reads from anybody.
enum Requests: Harness {
    static let name = "requests"
    static var seeds: [[UInt8]] { Samples.requests.compactMap { try? $0.encoded() } }

    static func feed(_ bytes: [UInt8]) {
        guard let request = try? Request(decoding: bytes) else { return }
        require((try? request.encoded()) == bytes, "a request has a second form")
    }
}

/// What the module and the command read from the daemon.
enum Answers: Harness {
    static let name = "answers"
    static var seeds: [[UInt8]] { Samples.answers.compactMap { try? $0.encoded() } }

    static func feed(_ bytes: [UInt8]) {
        guard let answer = try? Answer(decoding: bytes) else { return }
        require((try? answer.encoded()) == bytes, "an answer has a second form")
    }
}

/// The password's place in a packet, against the decoder that copies it.
enum Passwords: Harness {
    static let name = "passwords"
    static var seeds: [[UInt8]] { Requests.seeds }

    static func feed(_ bytes: [UInt8]) {
        guard let place = try? PasswordFrame.range(in: bytes) else {
            if case .password = try? Request(decoding: bytes) {
                require(false, "a password was overlooked")
            }
            return
        }
        guard case .password(let password) = try? Request(decoding: bytes) else {
            return require(false, "a password was seen where there is none")
        }
        require(password == Bytes(bytes[place]), "the password lies elsewhere")
    }
}
