// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Sealing
import SignedFormats
import State

/// Why no receipts could be written.
package enum ReceiptFault: Error {
    /// There is no key to sign them with.
    case off
}

extension AccountState {
    /// Writes receipts as if the account had logged in as often, each signed with its key, which a
    /// file has. No daemon may be at the state.
    package func addReceipts(_ count: Int, in state: StateDirectory, now: Instant) throws {
        let enrolment = try prints.enrolment()
        guard case .issued(let credential) = try self.credential.state() else {
            throw ReceiptFault.off
        }
        let context = try self.credential.context(of: credential, enrolment: enrolment)
        let key = try FileVault(host: state.host).ready(key: credential.sealed, context: context)
        let log = try receipts()
        let place = try log.prepare()
        var (counter, previous) = (place.counter, place.previous)
        for _ in 0..<count {
            let statement = Statement(
                audience: Audience.local, account: name, uid: uid, requester: name,
                device: state.device,
                credential: credential.identifier,
                challenge: Challenge(random: [UInt8](repeating: 3, count: 32)),
                service: ServiceName("sudo"), terminal: Array("/dev/pts/3".utf8),
                purpose: Array("sudo id".utf8), factor: Factor.fingerprint,
                enrolment: enrolment.state.generation, counter: counter, previous: previous,
                issued: now
            ).encoded()
            let numbers = try key.sign(
                SSHSignature.signedData(
                    namespace: SignatureNamespace.login.bytes,
                    messageDigest: try SHA256.digest(statement)), context)
            let signature = SSHSignature(
                publicKey: credential.publicKey, namespace: .login, r: numbers.r, s: numbers.s)
            let text = Receipt.text(statement: statement, signature: signature.blob)
            try log.append(text)
            previous = try SHA256.digest(text)
            counter += 1
        }
        try log.flush()
    }
}
