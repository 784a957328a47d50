// SPDX-License-Identifier: Apache-2.0
import CTestSupport

/// Somebody who has a TPM, or what poses as one, do commands: over a connection for each, as
/// tpm2-tss does it. Calls block the thread until there is an answer.
package struct TPMClient: Sendable {
    /// The socket of commands.
    package let path: String

    /// A client of the listener at `path`.
    package init(path: String) { self.path = path }

    /// Sends a command as bytes and gives the answer as bytes.
    package func send(
        _ command: [UInt8], within limit: Duration = .patience
    ) throws(TestFault) -> [UInt8] {
        let stream = try Descriptor(unsafe connect_stream(path), "connect", path)
        try stream.write(command)
        let deadline = ContinuousClock.now + limit
        let header = try stream.read(exactly: 10, until: deadline, "the header of an answer")
        guard let size = TPMReader.size(ofHeader: header) else {
            throw .closed(awaited: "the answer of a TPM", transcript: "\(header)")
        }
        return try header
            + stream.read(exactly: size - 10, until: deadline, "the rest of an answer")
    }

    /// Sends a request to the control socket beside, and gives the four bytes that say how it went;
    /// 0 is success.
    package func control(
        _ request: [UInt8], within limit: Duration = .patience
    ) throws(TestFault) -> UInt32? {
        let stream = try Descriptor(unsafe connect_stream(path + ".ctrl"), "connect", path)
        try stream.write(request)
        let deadline = ContinuousClock.now + limit
        var fields = TPMReader(try stream.read(exactly: 4, until: deadline, "a control answer"))
        return fields.number(UInt32.self)
    }

    /// Sends a command, again when the TPM asks for that, and takes the answer apart; its code is
    /// the caller's to judge.
    package func ask(_ command: TPMCommand) throws(TestFault) -> TPMResponse {
        var bytes: [UInt8] = []
        // The first use of an object whose failures count is put off so, to be noted on disk first.
        for _ in 0..<5 {
            bytes = try send(command.bytes)
            guard let response = TPMResponse(bytes, to: command.code) else { break }
            if response.code != TPMCode.retry { return response }
        }
        throw .closed(awaited: "an answer to \(command.code)", transcript: "\(bytes)")
    }

    /// Sends a command that has to succeed.
    @discardableResult
    package func run(_ command: TPMCommand) throws(TestFault) -> TPMResponse {
        let response = try ask(command)
        guard response.code == TPMCode.success else {
            throw .refused(command: "\(command.code)", code: response.code)
        }
        return response
    }
}
