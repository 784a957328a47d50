// SPDX-License-Identifier: Apache-2.0
import Authorization
import SignedFormats

extension Administration {
    /// `application pam-file`: prints the file for `server=` of pam_signet(8).
    ///
    /// It contains the server's URL, the audience that the server's verdicts name, and the public
    /// key that verifies them. None of it is secret, but only root may be able to write the
    /// installed file.
    func showLoginFile(_ words: AdminArguments) async throws(AdminFault) {
        let application = try await application(words[0])
        guard let url = CanonicalServerURL(typed: service.issuer) else {
            throw .refused(
                """
                devices cannot use 'server.url': write it as https://host[:port][/path]
                """)
        }
        guard let key = SSHPublicKey(point: service.keys.verdictPoint) else {
            throw .unusable("the key that signs verdicts cannot be used")
        }
        let file = LoginFile(
            url: url.text, audience: application.audience,
            key: String(
                decoding: SSHPublicKey.algorithm.bytes + [UInt8(ascii: " ")]
                    + Base64.encode(key.blob, alphabet: .standard), as: UTF8.self))
        output.show(file, lines: file.lines)
    }
}

/// The content of the file, as fields for JSON and as lines to be installed.
private struct LoginFile: Encodable {
    let url: String
    let audience: String
    let key: String

    /// The lines to be installed; settings with defaults are in comments.
    var lines: [String] {
        [
            "# For machines that ask this server when users log in: pam_signet(8), 'server='.",
            "# Only root may be able to write it: install -m 644 FILE /etc/signet/",
            "url = \(url)",
            "audience = \(audience)",
            "key = \(key)",
            "# The accounts and @groups that it applies to; the default is all:",
            "# accounts = alice @staff",
            "# What happens while the server cannot be reached; the default is 'refuse':",
            "# offline = 12 hours",
            "# Where the access token goes; the default is 'none':",
            "# token = environment",
            "# Whether accounts may have other names at the server; the default is 'same':",
            "# names = any",
        ]
    }
}
