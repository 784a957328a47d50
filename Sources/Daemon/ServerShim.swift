import Crypto
import Policy
import Posix
import Statement
import Store
import Vault
import Wire

struct SignedMessage {
    let text: Bytes?
    let digest: Bytes

    init(text: Bytes) throws(CryptoFault) {
        self.text = text
        digest = try SHA256.digest(text)
    }
}

struct SignedAnswer {
    var statement: Bytes?
    var signature: Bytes
}

extension Service {
    func signed(
        by found: ServerKey, in namespace: SignatureNamespace, _ account: Account,
        _ standing: Standing, _ message: (ServerKey) throws(CryptoFault) -> SignedMessage
    ) async -> Ruling<SignedAnswer> {
        let servers = standing.kept.servers
        do throws(StoreFault) {
            guard var key = try servers.key(for: found.server), key.state == found.state,
                key.identifier == found.identifier
            else { return .deny(Denial(.unknownServer, subject: found.server)) }
            guard key.sealed(for: standing.enrolment.state) != nil else {
                _ = try invalidate(key, account, standing.kept)
                return .deny(Denial(.serverKeyInvalidated, subject: found.server))
            }
            key = try servers.advance(key)
            do throws(VaultError) {
                let made: SignedMessage
                do throws(CryptoFault) { made = try message(key) } catch {
                    throw .crypto(error)
                }
                let signature = try await sign(made.text ?? [], namespace, key, standing)
                return .allow(SignedAnswer(statement: made.text, signature: signature))
            } catch { throw StoreFault.vault(error) }
        } catch {
            return .deny(denial(for: error, account))
        }
    }

    func head(_ key: ServerKey, for audience: Bytes) -> StatementHead {
        StatementHead(
            audience: audience, account: key.account, device: state.device,
            credential: key.identifier)
    }

    func claims(_ key: ServerKey, _ factor: Bytes, _ enrolment: Enrolment) -> StatementClaims {
        StatementClaims(
            factor: factor,
            integrity: Integrity(
                key: key.vault == .tpm ? .tpm : .file,
                secureBoot: Firmware.secureBoot(at: secureBootVariable)),
            enrolment: enrolment.state.generation, counter: key.counter, issued: instant)
    }

    func denial(
        of answer: RelayAnswer, _ url: ServerURL, _ account: Account, signedBy key: ServerKey?
    ) -> Denial {
        if Task.isCancelled { return Denial(.cancelled) }
        switch answer {
        case .unreachable(let why, _): return Denial(.serverUnreachable, subject: why)
        case .refused(let code, _, _):
            switch (String(decoding: code, as: UTF8.self), key) {
            case ("key-blocked", _): return Denial(.serverKeyBlocked, subject: url.bytes)
            case ("key-replaced", _?): return destroyed(.serverKeyReplaced, url, account)
            case ("key-removed", _?): return destroyed(.serverKeyRemoved, url, account)
            default: return Denial(.serverRefused, subject: code)
            }
        default:
            return Denial(.serverUnreachable, subject: Bytes("another answer than asked".utf8))
        }
    }
}

extension ServerStore {
    func key(_ identifier: Bytes) throws(StoreFault) -> ServerKey? {
        try list().first { $0.identifier == identifier }
    }
}

extension SignedMatter {
    init(purpose: Bytes, challenge: Bytes) {
        self.init(
            namespace: .secret, challenge: challenge, service: Bytes("signet".utf8),
            terminal: [], purpose: Bytes(purpose.prefix(Limit.purpose)))
    }
}
