// SPDX-License-Identifier: Apache-2.0
import CGnuTLS

/// The first certificate of a chain, the server's own (gnutls_x509_crt_t).
// SAFETY: `handle` is valid from `init` to `deinit`, and owned by this value alone.
@safe struct LeafCertificate: ~Copyable {
    private let handle: gnutls_x509_crt_t

    private init(owning handle: gnutls_x509_crt_t) { unsafe self.handle = handle }

    deinit { unsafe gnutls_x509_crt_deinit(handle) }

    /// Parses the first certificate of PEM bytes.
    ///
    /// - Throws: `.identity` if there is no valid certificate.
    static func read(_ chain: [UInt8]) throws(ServerFault) -> LeafCertificate {
        var made: gnutls_x509_crt_t?
        guard unsafe gnutls_x509_crt_init(&made) == 0, let made = unsafe made else {
            throw .library("no memory for a certificate")
        }
        let leaf = unsafe LeafCertificate(owning: made)
        var bytes = chain
        let code = unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            var text = unsafe gnutls_datum_t(data: bytes.baseAddress, size: UInt32(bytes.count))
            return unsafe gnutls_x509_crt_import(made, &text, GNUTLS_X509_FMT_PEM)
        }
        guard code >= 0 else { throw .identity(unsafe String(cString: gnutls_strerror(code))) }
        return leaf
    }

    /// Whether the certificate's key may sign, as every handshake here requires.
    ///
    /// A certificate without the key usage extension may (RFC 5280, section 4.2.1.3).
    var maySign: Bool {
        var usage: UInt32 = 0
        let code = unsafe gnutls_x509_crt_get_key_usage(handle, &usage, nil)
        if code == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE { return true }
        return code >= 0 && usage & UInt32(GNUTLS_KEY_DIGITAL_SIGNATURE) != 0
    }

    /// The period for which the certificate is valid.
    var validity: CertificateValidity {
        CertificateValidity(
            begins: Int64(unsafe gnutls_x509_crt_get_activation_time(handle)),
            ends: Int64(unsafe gnutls_x509_crt_get_expiration_time(handle)))
    }
}

/// The period for which a certificate is valid, in seconds since 1970.
package struct CertificateValidity: Equatable, Sendable {
    /// The first second of the period.
    package let begins: Int64
    /// The last second of the period.
    package let ends: Int64
}

extension ServerConfiguration.Identity {
    /// Checks that clients can be served with this identity, and returns its validity.
    ///
    /// - Throws: `.identity` if the certificate or key is missing or invalid, if they do not match,
    ///   or if the key may not sign.
    package func validity() throws(ServerFault) -> CertificateValidity {
        _ = try TLSCredentials(self)
        return try LeafCertificate.read(chain).validity
    }
}
