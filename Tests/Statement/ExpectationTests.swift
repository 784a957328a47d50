import Statement
import Testing

// Testing has an Expectation too.
import struct Statement.Expectation

private func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

@Suite("What a relying party expects")
struct ExpectationTests {
    private let expectation = Expectation(
        audience: Audience.local, account: bytes("alice"), uid: 1_000,
        challenge: [UInt8](0..<32), service: bytes("sudo"), terminal: bytes("/dev/pts/3"),
        purpose: bytes("sudo apt upgrade"), credential: [UInt8](16..<32))

    @Test("is met by its own statement")
    func met() {
        #expect(expectation.mismatch(with: sampleStatement) == nil)
    }

    @Test("is not met when any part of it differs")
    func differs() {
        let other = bytes("other")
        let parts: [(WritableKeyPath<Statement, [UInt8]>, Expectation.Mismatch)] = [
            (\.audience, .audience), (\.account, .account), (\.challenge, .challenge),
            (\.service, .service), (\.terminal, .context), (\.purpose, .context),
            (\.credential, .credential), (\.factor, .factor),
        ]
        for (part, mismatch) in parts {
            for value in [other, []] {
                var statement = sampleStatement
                statement[keyPath: part] = value
                #expect(expectation.mismatch(with: statement) == mismatch)
            }
        }
        var statement = sampleStatement
        statement.uid = 0
        #expect(expectation.mismatch(with: statement) == .account)
    }
}
