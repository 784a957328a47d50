// SPDX-License-Identifier: Apache-2.0

extension Scratch {
    /// Makes `NAME.pem` and `NAME.key`: a certificate by itself for one name.
    package func makeCertificate(
        _ name: String, of host: String = "IP:127.0.0.1"
    ) throws(TestFault) {
        let made = try Program(
            Command([
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                "-addext", "subjectAltName=\(host)", "-keyout",
                at("\(name).key"), "-out", at("\(name).pem"),
            ])
        ).expectEnd()
        guard made.succeeded else {
            throw .closed(awaited: "openssl", transcript: made.errors)
        }
    }
}
