// SPDX-License-Identifier: Apache-2.0
extension TPMInterposer {
    /// From now on, every primary or other storage key that the TPM shows to the program has the
    /// attacker's public key in it, with a Name that fits. The answer's authentication fits too if
    /// any party could compute it: a session without salt, binding and password.
    package func fakePrimary(with key: AttackerKey) {
        setRule(at: .answer) { [core] exchange in
            guard exchange.code == .createPrimary || exchange.code == .readPublic,
                let forged = try? Self.forge(exchange, with: key, by: core.tpm)
            else { return .pass }
            return .answer(forged)
        }
    }

    /// The answer with the attacker's key in it; nil if it shows no storage key.
    private static func forge(
        _ exchange: TPMExchange, with key: AttackerKey, by tpm: SoftwareTPM
    ) throws(TestFault) -> [UInt8]? {
        guard let response = exchange.parsedResponse else { return nil }
        var fields = TPMReader(response.parameters)
        guard let area = fields.sized(), let forged = key.posing(as: area) else { return nil }
        var parameters = response.parameters
        parameters.replace(area, with: forged)
        for (name, forgedName) in try zip(names(of: area, by: tpm), names(of: forged, by: tpm)) {
            parameters.replace(name, with: forgedName)
        }
        var answer = response.bytes
        answer.replace(response.parameters, with: parameters)
        let genuine = try openHMAC(exchange, of: response.parameters, by: tpm)
        if let genuine, let fitting = try openHMAC(exchange, of: parameters, by: tpm) {
            answer.replace(genuine, with: fitting)
        }
        return answer
    }

    /// Name and qualified name of an owner's primary (TPM 2.0 part 1, Names).
    private static func names(
        of area: [UInt8], by tpm: SoftwareTPM
    ) throws(TestFault) -> [[UInt8]] {
        let name = try [0, 0x0B] + tpm.digest(area)
        let qualified = try tpm.digest([UInt8](bigEndian: TPMHandle.owner) + name)
        return [name, [0, 0x0B] + qualified]
    }

    /// What authenticates these parameters in an answer under an empty key, of the first session
    /// (TPM 2.0 part 1, Session-based authorizations); nil without one.
    private static func openHMAC(
        _ exchange: TPMExchange, of parameters: [UInt8], by tpm: SoftwareTPM
    ) throws(TestFault) -> [UInt8]? {
        guard let response = exchange.parsedResponse, let asked = exchange.commandSessions.first,
            let answered = response.sessions.first
        else { return nil }
        let answer = try tpm.digest(
            [UInt8](bigEndian: response.code) + [UInt8](bigEndian: exchange.code.rawValue)
                + parameters)
        let message = answer + answered.nonce + asked.nonce + [answered.attributes]
        let inner = try tpm.digest([UInt8](repeating: 0x36, count: 64) + message)
        return try tpm.digest([UInt8](repeating: 0x5C, count: 64) + inner)
    }
}
