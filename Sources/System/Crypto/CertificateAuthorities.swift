// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// Why a certificate is not trusted.
package enum CertificateObjection: Error, Equatable, Sendable {
    /// No named authority has issued it.
    case foreign
    /// Its validity, or that of an authority above it, is over.
    case expired
    /// Its validity, or that of an authority above it, has not begun.
    case notYetValid
    /// It is the certificate of an authority, not of a device.
    case authority
    /// It does not say that it is for the use that was asked for, with keys that are exchanged.
    case otherUse
    /// A key above it, or a signature, has less than 112 bits of strength: RSA of less than 2048 bits,
    /// MD5, SHA-1.
    case weak
    /// Another reason; the text is OpenSSL's.
    case other(String)
}

extension CertificateObjection: CustomStringConvertible {
    /// A message of one line without a full stop.
    package var description: String {
        switch self {
        case .foreign: "no named authority has issued the certificate"
        case .expired: "the certificate, or that of its authority, has expired"
        case .notYetValid: "the certificate, or that of its authority, is not valid yet"
        case .authority: "the certificate is that of an authority"
        case .otherUse: "the certificate is for another use"
        case .weak: "the certificate, or that of its authority, is signed with a weak key or digest"
        case .other(let text): "the certificate is not accepted: \(text)"
        }
    }
}

/// The authorities whose certificates are trusted; RFC 5280, section 6.
///
/// Each named certificate is trusted by itself, whether or not it is a root: naming an issuing
/// authority trusts what it has issued, and nothing else of the authority above it.
package struct CertificateAuthorities: Sendable {
    private let named: [AuthorityCertificate]

    /// Creates a value from the certificates of a PEM file; throws `.badCertificate` as
    /// `Certificate.list` does.
    package init(pem: [UInt8]) throws(CryptoFault) {
        named = try Certificate.list(pem: pem)
    }

    /// How many authorities are named.
    package var count: Int { named.count }

    /// Checks that a named authority has issued the certificate; X509_verify_cert(3).
    ///
    /// The certificate must not be an authority's, whatever its key may be used for. It must list
    /// `use` among its extended uses, and have the key usage for a secret that is sent to its key:
    /// keyEncipherment for RSA, keyAgreement for P-256 (RFC 5280, section 4.2.1.3). Everything above
    /// it must be an authority's, and all signatures must have 112 bits of strength. Revocation is not
    /// checked.
    ///
    /// - Parameters:
    ///   - moment: the time that it must be valid at, in seconds since 1970.
    ///   - use: an object identifier in dotted form.
    /// - Returns: why it is not trusted; nil if it is.
    package func objection(
        to certificate: Certificate, at moment: Int64, use: String
    ) throws(CryptoFault) -> CertificateObjection? {
        if let objection = try chainObjection(to: certificate, at: moment) { return objection }
        // X509_check_ca(3) says no of an authority whose key usage lacks keyCertSign.
        let flags = unsafe X509_get_extension_flags(certificate.pointer)
        guard flags & UInt32(EXFLAG_CA) == 0, unsafe X509_check_ca(certificate.pointer) == 0 else {
            return .authority
        }
        return permitsExchange(certificate) && permits(certificate, use: use) ? nil : .otherUse
    }

    private func chainObjection(
        to certificate: Certificate, at moment: Int64
    ) throws(CryptoFault) -> CertificateObjection? {
        let library = try Library.instance()
        defer { ERR_clear_error() }
        guard let store = unsafe X509_STORE_new(),
            let context = unsafe X509_STORE_CTX_new_ex(library.context, nil)
        else { throw .library(operation: "X509_STORE_new") }
        defer {
            unsafe X509_STORE_CTX_free(context)
            unsafe X509_STORE_free(store)
        }
        for authority in named {
            try require(
                unsafe X509_STORE_add_cert(store, authority.pointer),
                operation: "X509_STORE_add_cert")
        }
        try require(
            unsafe X509_STORE_CTX_init(context, store, certificate.pointer, nil),
            operation: "X509_STORE_CTX_init")
        let parameters = unsafe X509_STORE_CTX_get0_param(context)
        unsafe X509_VERIFY_PARAM_set_time(parameters, time_t(moment))
        unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 2)
        try require(
            unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN)),
            operation: "X509_VERIFY_PARAM_set_flags")
        if unsafe X509_verify_cert(context) == 1 { return nil }
        return objection(unsafe X509_STORE_CTX_get_error(context))
    }

    private func objection(_ code: Int32) -> CertificateObjection {
        switch code {
        case X509_V_ERR_CERT_HAS_EXPIRED: .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_SIGNATURE_FAILURE:
            .foreign
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK:
            .weak
        default: .other(unsafe String(cString: X509_verify_cert_error_string(Int(code))))
        }
    }

    /// Whether the certificate's key usage, which it must state, is for a secret sent to its key.
    private func permitsExchange(_ certificate: Certificate) -> Bool {
        let usage = unsafe X509_get_key_usage(certificate.pointer)
        let wanted =
            switch certificate.keyKind {
            case .rsa2048: UInt32(KU_KEY_ENCIPHERMENT)
            case .p256: UInt32(KU_KEY_AGREEMENT)
            }
        // All bits: the certificate does not state one.
        return usage != UInt32.max && usage & wanted != 0
    }

    /// Whether the certificate lists the use.
    private func permits(_ certificate: Certificate, use: String) -> Bool {
        // Nothing is found if there is no such extension, or if there are several.
        guard
            let found = unsafe X509_get_ext_d2i(certificate.pointer, NID_ext_key_usage, nil, nil)
        else { return false }
        let uses = OpaquePointer(found)
        defer { unsafe EXTENDED_KEY_USAGE_free(uses) }
        return unsafe (0..<OPENSSL_sk_num(uses)).contains { index in
            guard let object = unsafe OPENSSL_sk_value(uses, index) else { return false }
            var name = [CChar](repeating: 0, count: 64)
            let count = unsafe OBJ_obj2txt(&name, Int32(name.count), OpaquePointer(object), 1)
            guard (1..<Int32(name.count)).contains(count) else { return false }
            return name.prefix(Int(count)).map { UInt8(bitPattern: $0) } == Array(use.utf8)
        }
    }
}
