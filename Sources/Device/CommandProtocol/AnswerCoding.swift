// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

// The frames of answers: their kinds, and how they are written and read. Both directions stand side
// by side, and decoding accepts exactly what encoding writes: a frame with a missing, additional or
// misordered field is a fault, not a partial answer.
extension Answer {
    /// The kind of this answer's frame.
    package var kind: AnswerKind {
        switch self {
        case .notice: AnswerKind(.notice)
        case .assertion: AnswerKind(.assertion)
        case .denial: AnswerKind(.denial)
        case .passwordWanted: AnswerKind(.passwordWanted)
        case .done: AnswerKind(.done)
        case .status: AnswerKind(.status)
        case .print: AnswerKind(.print)
        case .reader: AnswerKind(.reader)
        case .receipt: AnswerKind(.receipt)
        case .refusal: AnswerKind(.refusal)
        case .signer: AnswerKind(.signer)
        case .chainHead: AnswerKind(.chainHead)
        case .secretPart: AnswerKind(.secretPart)
        case .secret: AnswerKind(.secret)
        case .secretWanted: AnswerKind(.secretWanted)
        case .event: AnswerKind(.event)
        case .importedPrint: AnswerKind(.importedPrint)
        case .confirmed: AnswerKind(.confirmed)
        case .serverEnabled: AnswerKind(.serverEnabled)
        case .token: AnswerKind(.token)
        case .server: AnswerKind(.server)
        case .signed: AnswerKind(.signed)
        case .signingKey: AnswerKind(.signingKey)
        case .macToken: AnswerKind(.macToken)
        case .authorization: AnswerKind(.authorization)
        case .operation: AnswerKind(.operation)
        case .serverTrouble: AnswerKind(.serverTrouble)
        case .decided: AnswerKind(.decided)
        case .own(let answer): answer.kind
        }
    }

    /// Encodes the answer; throws if a value does not fit its field.
    package func encoded() throws(WireFault) -> Bytes {
        var frame = FrameWriter(kind: kind.rawValue)
        switch self {
        case .notice(let notice): try notice.put(into: &frame)
        case .assertion(let assertion): try assertion.put(into: &frame)
        case .receipt(let receipt): try receipt.put(into: &frame)
        case .refusal(let refusal): try refusal.put(into: &frame)
        case .denial(let denial): try denial.put(into: &frame)
        case .passwordWanted(let account): try frame.put(accountName: account)
        case .done(let done): try done.put(into: &frame)
        case .status(let status): try status.put(into: &frame)
        case .print(let print): try print.put(into: &frame)
        case .reader(let reader): try reader.put(into: &frame)
        case .signer(let line): try frame.put(.value, line)
        case .chainHead(let counter, let digest):
            try frame.put(.digest, digest)
            try frame.put(.counter, number: counter)
        case .secretPart(let part): try frame.put(.secretPart, part)
        case .secret(let secret): try secret.put(into: &frame)
        case .secretWanted: break
        case .event(let event): try event.put(into: &frame)
        case .importedPrint(let print): try print.put(into: &frame)
        case .confirmed(let password):
            guard let password else { break }
            return try Answer.confirmed(with: password.span)
        case .serverEnabled(let enabled): try enabled.put(into: &frame)
        case .token(let token): try token.put(into: &frame)
        case .server(let server): try server.put(into: &frame)
        case .signed(let signed): try signed.put(into: &frame)
        case .signingKey(let key): try key.put(into: &frame)
        case .macToken(let token): try token.put(into: &frame)
        case .authorization(let header): try frame.put(.authorization, header)
        case .operation(let operation): try operation.put(into: &frame)
        case .serverTrouble(let trouble): try trouble.put(into: &frame)
        case .decided(let state): try frame.put(.operationState, number: state.rawValue)
        case .own(let answer): try answer.content.put(into: &frame)
        }
        return frame.bytes
    }

    /// Decodes a frame of the daemon; throws unless it is exactly one well-formed answer.
    package init(decoding packet: Bytes) throws(WireFault) {
        var frame = try FrameReader(packet)
        let kind = CommonAnswerKind(rawValue: frame.kind)
        if kind == .denial {
            self = .denial(try Denial(from: &frame))
        } else if let answer = try LoginAnswer(from: &frame) {
            self = try Answer(answer)
        } else if let kind {
            self = try Answer(kind, from: &frame)
        } else {
            self = .own(try OwnAnswer(from: &frame))
        }
        try frame.end()
    }

    private init(_ answer: LoginAnswer) throws(WireFault) {
        switch answer {
        case .notice(let notice): self = .notice(notice)
        case .assertion(let assertion): self = .assertion(assertion)
        // The caller decodes denials, because commands know more reasons than logins.
        case .denial: throw .unknownKind
        case .confirmed(let password): self = .confirmed(password: password)
        }
    }

    private init(_ kind: CommonAnswerKind, from frame: inout FrameReader) throws(WireFault) {
        switch kind {
        case .notice, .assertion, .denial, .confirmed: throw .unknownKind
        case .passwordWanted: self = .passwordWanted(account: try frame.accountName())
        case .done: self = .done(try DoneAnswer(from: &frame))
        case .status: self = .status(try StatusAnswer(from: &frame))
        case .print: self = .print(try PrintAnswer(from: &frame))
        case .reader: self = .reader(try ReaderAnswer(from: &frame))
        case .receipt: self = .receipt(try ReceiptAnswer(from: &frame))
        case .refusal: self = .refusal(try Refusal(from: &frame))
        case .signer: self = .signer(try frame.bytes(.value))
        case .chainHead:
            let digest = try frame.bytes(.digest)
            self = .chainHead(counter: try frame.number(.counter), digest: digest)
        case .secretPart: self = .secretPart(try frame.bytes(.secretPart))
        case .secret: self = .secret(try SecretAnswer(from: &frame))
        case .secretWanted: self = .secretWanted
        case .event: self = .event(try EventAnswer(from: &frame))
        case .importedPrint: self = .importedPrint(try ImportedPrintAnswer(from: &frame))
        case .serverEnabled: self = .serverEnabled(try ServerEnabledAnswer(from: &frame))
        case .token: self = .token(try TokenAnswer(from: &frame))
        case .server: self = .server(try ServerAnswer(from: &frame))
        case .signed: self = .signed(try SignedAnswer(from: &frame))
        case .signingKey: self = .signingKey(try SigningKeyAnswer(from: &frame))
        case .macToken: self = .macToken(try MACTokenAnswer(from: &frame))
        case .authorization: self = .authorization(try frame.bytes(.authorization))
        case .operation: self = .operation(try OperationAnswer(from: &frame))
        case .serverTrouble: self = .serverTrouble(try ServerTroubleAnswer(from: &frame))
        case .decided: self = .decided(try frame.choice(.operationState))
        }
    }
}

extension Answer {
    /// Encodes a confirmation with a password; the caller must wipe the returned frame.
    package static func confirmed(with password: Span<UInt8>) throws(WireFault) -> Bytes {
        // The full length is reserved, so that no reallocation leaves a copy of the password
        // behind.
        let room = Frame.headerLength + Frame.fieldHeaderLength + password.count
        var frame = FrameWriter(kind: CommonAnswerKind.confirmed.rawValue, capacity: room)
        try frame.put(.password, password)
        return frame.bytes
    }
}

extension Assertion {
    fileprivate func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.statement, statement)
        try frame.put(.signature, signature)
        guard let server else { return }
        try frame.put(.accessToken, ifPresent: server.accessToken)
        try frame.put(.verdict, server.verdict)
        try frame.put(.verdictSignature, server.signature)
        if server.hasTokenFile { try frame.put(.tokenFile, number: UInt8(1)) }
    }
}

extension Notice {
    fileprivate func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.requester, nameIfPresent: requester)
        try frame.put(.subject, ifPresent: subject)
        try frame.put(.notice, number: kind.rawValue)
        try frame.put(.scan, numberIfPresent: scan?.rawValue)
        try frame.put(.done, numberIfPresent: done)
        try frame.put(.total, numberIfPresent: total)
        try frame.put(.retry, numberIfPresent: retry?.rawValue)
        try frame.put(.triesLeft, numberIfPresent: triesLeft)
        if wantsAcknowledgement { try frame.put(.acknowledge, number: UInt8(1)) }
    }
}

extension Denial {
    fileprivate func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.finger, numberIfPresent: finger?.rawValue)
        try frame.put(.reason, number: reason.rawValue)
        try frame.put(.cause, numberIfPresent: cause?.rawValue)
        try frame.put(.seconds, numberIfPresent: seconds)
        try frame.put(.since, numberIfPresent: since)
        try frame.put(.subject, ifPresent: subject)
        try frame.put(.done, number: mismatches)
    }
}
