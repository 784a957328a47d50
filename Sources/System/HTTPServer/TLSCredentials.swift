// SPDX-License-Identifier: Apache-2.0
import CGnuTLS
import Posix

/// A certificate with its key, ready for GnuTLS (gnutls_certificate_credentials_t).
// SAFETY: not changed once it is made; GnuTLS reads one from any thread.
@safe final class TLSCredentials: @unchecked Sendable {
    private let pointer: gnutls_certificate_credentials_t
    /// The certificate chain, in PEM.
    let chain: [UInt8]

    /// Loads an identity.
    ///
    /// A certificate whose key may not sign is rejected for two reasons: it could serve no client,
    /// and a session that was once given such a certificate cannot use TLS 1.3 with any other
    /// afterwards.
    ///
    /// - Throws: `.identity` if the certificate or key is invalid, if they do not match, or if the
    ///   key may not sign.
    init(_ identity: ServerConfiguration.Identity) throws(ServerFault) {
        guard try LeafCertificate.read(identity.chain).maySign else {
            throw .identity(
                "the certificate's key usage lacks digitalSignature: get one that includes it")
        }
        var made: gnutls_certificate_credentials_t?
        guard unsafe gnutls_certificate_allocate_credentials(&made) == 0, let made = unsafe made
        else { throw .library("no memory for a certificate") }
        let code = unsafe load(identity, into: made)
        guard code >= 0 else {
            unsafe gnutls_certificate_free_credentials(made)
            throw .identity(unsafe String(cString: gnutls_strerror(code)))
        }
        unsafe pointer = made
        chain = identity.chain
    }

    deinit { unsafe gnutls_certificate_free_credentials(pointer) }

    /// Sets the credentials in a session before its handshake; returns false if there is no memory.
    ///
    /// The credentials must outlive the session.
    func present(in session: UnsafeMutableRawPointer) -> Bool {
        unsafe gnutls_credentials_set(
            OpaquePointer(session), GNUTLS_CRD_CERTIFICATE, UnsafeMutableRawPointer(pointer)) == 0
    }
}

private func load(
    _ identity: ServerConfiguration.Identity, into credentials: gnutls_certificate_credentials_t
) -> Int32 {
    var chain = identity.chain
    return unsafe chain.withUnsafeMutableBufferPointer { chain in
        identity.key.withBytes { key in
            unsafe key.withUnsafeBytes { key in
                var certificate = unsafe gnutls_datum_t(
                    data: chain.baseAddress, size: UInt32(chain.count))
                // GnuTLS does not write to the key.
                let start = unsafe UnsafeMutableRawPointer(mutating: key.baseAddress)
                var secret = unsafe gnutls_datum_t(
                    data: start?.assumingMemoryBound(to: UInt8.self), size: UInt32(key.count))
                return unsafe gnutls_certificate_set_x509_key_mem2(
                    credentials, &certificate, &secret, GNUTLS_X509_FMT_PEM, nil, 0)
            }
        }
    }
}
