// SPDX-License-Identifier: Apache-2.0
import Glibc

/// An authority that certifies endorsement keys, as the maker of a TPM does: swtpm_localca with keys
/// of its own. Two of them do not know each other.
package final class TPMAuthority: Sendable {
    private let scratch: Scratch

    /// Makes an authority; its keys are made when it certifies the first TPM.
    package init() throws(TestFault) {
        scratch = try Scratch()
        guard unsafe mkdir(scratch.at("keys"), 0o700) == 0 else {
            throw .system(call: "mkdir", subject: "an authority's keys", code: errno)
        }
        try scratch.write(
            "localca.conf",
            """
            statedir = \(scratch.at("keys"))
            signingkey = \(scratch.at("keys/signing.pem"))
            issuercert = \(certificatePath)
            certserial = \(scratch.at("keys/serial"))

            """)
        try scratch.write(
            "localca.options",
            "--platform-manufacturer Signet\n--platform-version 1\n--platform-model tests\n")
        try scratch.write(
            "setup.conf",
            """
            create_certs_tool = /usr/bin/swtpm_localca
            create_certs_tool_config = \(scratch.at("localca.conf"))
            create_certs_tool_options = \(scratch.at("localca.options"))
            active_pcr_banks = sha256

            """)
    }

    /// The PEM file with the certificate that has issued those of the TPMs.
    package var certificatePath: String { scratch.at("keys/issuer.pem") }

    /// The certificate's bytes in PEM.
    package func certificate() throws(TestFault) -> [UInt8] { try Layout.read(certificatePath) }

    /// Manufactures a TPM whose state is in `directory`: with an endorsement key, and its
    /// certificate in the TPM's memory.
    package func manufacture(into directory: String) throws(TestFault) {
        let program = try Program(
            Command([
                "swtpm_setup", "--tpm2", "--tpmstate", directory, "--config",
                scratch.at("setup.conf"), "--create-ek-cert", "--lock-nvram", "--overwrite",
                "--runas", "root",
            ]))
        let outcome = try program.expectEnd()
        guard outcome.succeeded else {
            throw .closed(
                awaited: "a certified TPM", transcript: outcome.output + outcome.errors)
        }
    }

    /// The authority's own certificate in DER.
    package func ownDER() throws(TestFault) -> [UInt8] {
        try openSSL(
            "x509 -in \(certificatePath) -outform DER -out \(scratch.at("own.der"))")
        return try Layout.read(scratch.at("own.der"))
    }

    /// A certificate in DER that the authority issues for one extended use: for a new P-256 key, or
    /// for the public key in a PEM file.
    package func issue(
        use: String, keyUsage: String = "keyAgreement", forcing path: String? = nil
    ) throws(TestFault) -> [UInt8] {
        let forced = path.map { "-force_pubkey \($0)" } ?? ""
        let (key, request) = (scratch.at("leaf.key"), scratch.at("leaf.csr"))
        try scratch.write(
            "leaf.ext",
            """
            basicConstraints=CA:FALSE
            keyUsage=critical,\(keyUsage)
            extendedKeyUsage=\(use)

            """)
        try openSSL("ecparam -name prime256v1 -genkey -noout -out \(key)")
        try openSSL("req -new -key \(key) -subj /CN=leaf -out \(request)")
        try openSSL(
            """
            x509 -req -in \(request) -CA \(certificatePath) -CAkey \(scratch.at("keys/signing.pem")) \
            -set_serial 7 -days 1200 \(forced) -extfile \(scratch.at("leaf.ext")) -outform DER \
            -out \(scratch.at("leaf.der"))
            """)
        return try Layout.read(scratch.at("leaf.der"))
    }

    /// Gives a running TPM, to which nothing is connected, an endorsement key on P-256 and its
    /// certificate.
    package func certifyP256(_ tpm: SoftwareTPM) throws(TestFault) {
        let (key, certificate) = (scratch.at("p256.pem"), scratch.at("leaf.der"))
        try run(
            "tpm2_createek -T \(tpm.tcti) -c 0x81010002 -G ecc -f pem -u \(key)")
        _ = try issue(use: "2.23.133.8.1", forcing: key)
        let size = try Layout.read(certificate).count
        try run(
            """
            tpm2_nvdefine -T \(tpm.tcti) 0x01c0000a -C p -s \(size) \
            -a ppwrite|ppread|ownerread|authread|no_da|platformcreate
            """)
        try run("tpm2_nvwrite -T \(tpm.tcti) 0x01c0000a -C p -i \(certificate)")
    }

    private func openSSL(_ words: String) throws(TestFault) { try run("openssl \(words)") }

    private func run(_ words: String) throws(TestFault) {
        let arguments = words.split(separator: " ").map(String.init)
        let outcome = try Program(Command(arguments)).expectEnd()
        guard outcome.succeeded else {
            throw .closed(awaited: words, transcript: outcome.errors)
        }
    }
}
