// SPDX-License-Identifier: Apache-2.0
/// A command that passed between a program and a TPM, and what came of it.
package struct TPMExchange: Sendable, CustomStringConvertible {
    /// Which command it was, from 1.
    package let number: Int
    /// As the program sent it.
    package let command: [UInt8]
    /// As the TPM answered; nil if it did not, or was not asked.
    package internal(set) var response: [UInt8]?
    /// What the program was given; nil if nothing.
    package internal(set) var answer: [UInt8]?

    /// What the TPM was to do.
    package var code: TPMCommandCode {
        var fields = TPMReader(Array(command.dropFirst(6)))
        return TPMCommandCode(rawValue: fields.number(UInt32.self) ?? 0)
    }

    /// To what; nothing where the tests do not know the command.
    package var handles: [UInt32] {
        var fields = TPMReader(Array(command.dropFirst(10)))
        return (0..<(code.handleCount ?? 0)).compactMap { _ in fields.number(UInt32.self) }
    }

    /// What authorises the command: passwords stand there in clear. Nothing where the tests do not
    /// know the command.
    package var commandSessions: [TPMSession] {
        var fields = TPMReader(command)
        guard let count = code.handleCount, fields.number(UInt16.self) == 0x8002,
            fields.take(8 + 4 * count) != nil, let size = fields.number(UInt32.self),
            let part = fields.take(Int(size))
        else { return [] }
        var sessions = TPMReader(part)
        return sessions.sessions(withHandles: true)
    }

    /// What the TPM answered, in one number: 0 is success.
    package var responseCode: UInt32? { Self.code(of: response) }

    /// The TPM's answer, taken apart.
    package var parsedResponse: TPMResponse? { response.flatMap { TPMResponse($0, to: code) } }

    /// Whether these bytes passed in it, in either direction, to or from the program or the TPM.
    package func contains(_ bytes: [UInt8]) -> Bool {
        [command, response, answer].contains { $0?.firstRange(of: bytes) != nil }
    }

    package var description: String {
        let subjects = handles.map { " 0x" + String($0, radix: 16) }.joined()
        let results = [response, answer].map { message in
            Self.code(of: message).map { "0x" + String($0, radix: 16) } ?? "nothing"
        }
        let altered = response == answer ? "" : ", given on as \(results[1])"
        return "\(number). \(code)\(subjects): \(results[0])\(altered)"
    }

    private static func code(of message: [UInt8]?) -> UInt32? {
        var fields = TPMReader(Array((message ?? []).dropFirst(6)))
        return fields.number(UInt32.self)
    }
}
