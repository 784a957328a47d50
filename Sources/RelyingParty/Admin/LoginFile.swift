// SPDX-License-Identifier: Apache-2.0
import Authorization
import SignedFormats

extension Administration {
    /// Prints the file for `server=` of pam_signet(8): the server's URL, the audience that its
    /// verdicts name, and the key that signs them.
    func showLoginFile(_ words: AdminArguments) async throws(AdminFault) {
        let application = try await application(words[0])
        guard let url = ServerURL(typed: service.issuer) else {
            throw .refused(
                """
                'server.url' is not one that devices ask at: give it as https://host[:port][/path]
                """)
        }
        guard let key = SSHPublicKey(point: service.keys.verdictPoint) else {
            throw .unusable("the key of verdicts cannot be used")
        }
        let file = LoginFile(
            url: url.text, audience: application.audience,
            key: String(
                decoding: SSHPublicKey.algorithm.bytes + [UInt8(ascii: " ")]
                    + Base64.encode(key.blob, alphabet: .standard), as: UTF8.self))
        output.show(file, file.lines)
    }
}

/// The content of the file.
private struct LoginFile: Encodable {
    let url: String
    let audience: String
    let key: String

    /// The lines of the file as it is installed.
    var lines: [String] {
        [
            "# For machines that ask this server at their logins: pam_signet(8), 'server='.",
            "# Only root may be able to write it: install -m 644 FILE /etc/signet/",
            "url = \(url)",
            "audience = \(audience)",
            "key = \(key)",
            "# Whom it is for, all by itself; a group has an @ in front:",
            "# accounts = alice @staff",
            "# What happens while the server cannot be asked, 'refuse' by itself:",
            "# offline = 12 hours",
            "# Where the access token goes, 'none' by itself:",
            "# token = environment",
            "# Whether accounts may have other names at the server, 'same' by itself:",
            "# names = any",
        ]
    }
}
