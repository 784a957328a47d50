// SPDX-License-Identifier: Apache-2.0
import SSHAgentProtocol
import TestSupport
import Testing

@Suite("Where a restricted key may go")
struct DestinationRuleTests {
    private static func host(_ byte: UInt8) -> HostFingerprint {
        known(HostFingerprint(digest: [UInt8](repeating: byte, count: 32)))
    }

    private static let near = host(1)
    private static let far = host(2)
    private static let other = host(3)

    private static func text(_ host: HostFingerprint) -> String {
        String(decoding: host.text, as: UTF8.self)
    }

    private func rules(_ texts: String...) -> [DestinationRule] {
        texts.map { known(DestinationRule($0)) }
    }

    private func isPermitted(
        _ hosts: [HostFingerprint], _ user: String?, arrives: Bool = true,
        _ rules: [DestinationRule]
    ) -> Bool {
        SessionPath(hosts: hosts, arrives: arrives).isPermitted(
            by: rules, user: user.map { [UInt8]($0.utf8) })
    }

    @Test("a fingerprint has the form that ssh-keygen shows, and no other")
    func fingerprints() {
        let text = Self.text(Self.near)
        #expect(text == "SHA256:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE")
        #expect(HostFingerprint([UInt8](text.utf8)) == Self.near)
        for other in [
            "", "SHA256:", text + "=", String(text.dropLast()), text + "A",
            text.replacing("SHA256", with: "MD5"), text.lowercased() + " ",
            // Bits that are not used must be zero.
            String(text.dropLast()) + "F",
        ] {
            #expect(HostFingerprint([UInt8](other.utf8)) == nil, "\(other)")
        }
        #expect(HostFingerprint(digest: []) == nil)
    }

    @Test("rules are read, and what is not one is refused")
    func forms() {
        let (near, far) = (Self.text(Self.near), Self.text(Self.far))
        let rule = DestinationRule("\(near)>alice@\(far)")
        #expect(rule?.from == Self.near && rule?.to == Self.far)
        #expect(rule?.user == [UInt8]("alice".utf8))
        #expect(DestinationRule(far)?.from == nil && DestinationRule(far)?.user == nil)
        for text in [
            "", "alice", "@\(far)", "a b@\(far)", "\(near)>", ">\(far)", "\(near)>\(far)>\(near)",
            "alice@\(near)>\(far)", "\(far) ", "alice@",
        ] {
            #expect(DestinationRule(text) == nil, "\(text)")
        }
    }

    @Test("a login is permitted if each of its steps is, and only for the user who is named")
    func steps() {
        let (near, far) = (Self.text(Self.near), Self.text(Self.far))
        let direct = rules("alice@\(near)")
        #expect(isPermitted([Self.near], "alice", direct))
        #expect(!isPermitted([Self.near], "bob", direct))
        #expect(!isPermitted([Self.far], "alice", direct))
        #expect(!isPermitted([Self.near, Self.far], "alice", direct))
        // A key is listed for a host before the user is known, and forwarded for none.
        #expect(isPermitted([Self.near], nil, direct))
        #expect(isPermitted([Self.near], nil, arrives: false, direct))

        let hop = rules(near, "\(near)>alice@\(far)")
        #expect(isPermitted([Self.near, Self.far], "alice", hop))
        #expect(isPermitted([Self.near], "anyone", hop))
        #expect(!isPermitted([Self.far], "alice", hop))
        #expect(!isPermitted([Self.other, Self.far], "alice", hop))
        #expect(!isPermitted([Self.near, Self.other], "alice", hop))
        #expect(!isPermitted([Self.near, Self.far, Self.other], "alice", hop))
        #expect(!isPermitted([Self.near], "alice", []))
    }
}
