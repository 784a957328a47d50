// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

extension Answer {
    /// The kind of this answer's frame.
    package var kind: AnswerKind {
        switch self {
        case .notice: .notice
        case .assertion: .assertion
        case .denial: .denial
        case .passwordWanted: .passwordWanted
        case .done: .done
        case .status: .status
        case .print: .print
        case .reader: .reader
        case .receipt: .receipt
        case .refusal: .refusal
        case .signer: .signer
        case .setting: .setting
        case .chainHead: .chainHead
        case .secretPart: .secretPart
        case .secret: .secret
        case .vault: .vault
        case .secretWanted: .secretWanted
        case .event: .event
        case .importedPrint: .importedPrint
        case .storedPrint: .storedPrint
        case .confirmed: .confirmed
        case .serverEnabled: .serverEnabled
        case .token: .token
        case .server: .server
        case .signed: .signed
        case .signedFile: .signedFile
        case .signingKey: .signingKey
        case .macToken: .macToken
        case .authorization: .authorization
        case .operation: .operation
        case .serverTrouble: .serverTrouble
        case .decided: .decided
        }
    }

    /// Encodes the answer; throws if a value does not fit.
    package func encoded() throws(WireFault) -> Bytes {
        var frame = FrameWriter(kind: kind.rawValue)
        switch self {
        case .notice(let notice): try notice.put(into: &frame)
        case .assertion(let assertion): try assertion.put(into: &frame)
        case .receipt(let receipt): try receipt.put(into: &frame)
        case .refusal(let refusal): try refusal.put(into: &frame)
        case .denial(let denial): try denial.put(into: &frame)
        case .passwordWanted(let account): try frame.put(accountName: account)
        case .done(let done):
            try frame.put(.finger, numberIfPresent: done.finger?.rawValue)
            try frame.put(.count, numberIfPresent: done.secrets)
            try frame.put(.total, numberIfPresent: done.prints)
            try frame.put(.name, ifPresent: done.keptOut)
            try frame.put(.state, numberIfPresent: done.state?.rawValue)
            try frame.put(.keyringState, numberIfPresent: done.keyring?.rawValue)
        case .status(let status): try status.put(into: &frame)
        case .print(let print): try print.put(into: &frame)
        case .reader(let reader): try reader.put(into: &frame)
        case .signer(let line): try frame.put(.value, line)
        case .setting(let setting):
            try frame.put(.name, setting.name)
            try frame.put(.value, setting.value)
            try frame.put(.origin, setting.origin)
        case .chainHead(let counter, let digest):
            try frame.put(.digest, digest)
            try frame.put(.counter, number: counter)
        case .secretPart(let part): try frame.put(.secretPart, part)
        case .secret(let secret): try secret.put(into: &frame)
        case .vault(let vault): try vault.put(into: &frame)
        case .secretWanted: break
        case .event(let event): try event.put(into: &frame)
        case .importedPrint(let print): try print.put(into: &frame)
        case .storedPrint(let print): try print.put(into: &frame)
        case .confirmed(let password):
            guard let password else { break }
            return try Answer.confirmed(with: password.span)
        case .serverEnabled(let enabled): try enabled.put(into: &frame)
        case .token(let token): try token.put(into: &frame)
        case .server(let server): try server.put(into: &frame)
        case .signed(let signed): try signed.put(into: &frame)
        case .signedFile(let signed): try signed.put(into: &frame)
        case .signingKey(let key): try key.put(into: &frame)
        case .macToken(let token): try token.put(into: &frame)
        case .authorization(let header): try frame.put(.authorization, header)
        case .operation(let operation): try operation.put(into: &frame)
        case .serverTrouble(let trouble): try trouble.put(into: &frame)
        case .decided(let state): try frame.put(.operationState, number: state.rawValue)
        }
        return frame.bytes
    }

    /// Decodes the daemon's frame; throws unless it is exactly one well-formed answer.
    package init(decoding packet: Bytes) throws(WireFault) {
        var frame = try FrameReader(packet)
        guard let kind = AnswerKind(rawValue: frame.kind) else { throw .unknownKind }
        if kind == .denial {
            self = .denial(try Denial(from: &frame))
        } else if let answer = try LoginAnswer(from: &frame) {
            self = try Answer(answer)
        } else {
            self = try Answer(kind, from: &frame)
        }
        try frame.end()
    }

    private init(_ answer: LoginAnswer) throws(WireFault) {
        switch answer {
        case .notice(let notice): self = .notice(notice)
        case .assertion(let assertion): self = .assertion(assertion)
        // Decoded by the caller, because commands have more reasons.
        case .denial: throw .unknownKind
        case .confirmed(let password): self = .confirmed(password: password)
        }
    }

    private init(_ kind: AnswerKind, from frame: inout FrameReader) throws(WireFault) {
        switch kind {
        case .notice, .assertion, .denial, .confirmed: throw .unknownKind
        case .passwordWanted: self = .passwordWanted(account: try frame.accountName())
        case .done:
            let finger: Finger? = try frame.choiceIfPresent(.finger)
            let secrets: UInt32? = try frame.numberIfPresent(.count)
            let prints: UInt8? = try frame.numberIfPresent(.total)
            let keptOut = try frame.bytesIfPresent(.name)
            self = .done(
                DoneAnswer(
                    finger: finger, prints: prints, state: try frame.choiceIfPresent(.state),
                    keyring: try frame.choiceIfPresent(.keyringState), secrets: secrets,
                    keptOut: keptOut))
        case .status: self = .status(try StatusAnswer(from: &frame))
        case .print: self = .print(try PrintAnswer(from: &frame))
        case .reader: self = .reader(try ReaderAnswer(from: &frame))
        case .receipt: self = .receipt(try ReceiptAnswer(from: &frame))
        case .refusal: self = .refusal(try Refusal(from: &frame))
        case .signer: self = .signer(try frame.bytes(.value))
        case .setting:
            self = .setting(
                SettingAnswer(
                    name: try frame.bytes(.name), value: try frame.bytes(.value),
                    origin: try frame.bytes(.origin)))
        case .chainHead:
            let digest = try frame.bytes(.digest)
            self = .chainHead(counter: try frame.number(.counter), digest: digest)
        case .secretPart: self = .secretPart(try frame.bytes(.secretPart))
        case .secret: self = .secret(try SecretAnswer(from: &frame))
        case .vault: self = .vault(try VaultAnswer(from: &frame))
        case .secretWanted: self = .secretWanted
        case .event: self = .event(try EventAnswer(from: &frame))
        case .importedPrint: self = .importedPrint(try ImportedPrintAnswer(from: &frame))
        case .storedPrint: self = .storedPrint(try StoredPrintAnswer(from: &frame))
        case .serverEnabled: self = .serverEnabled(try ServerEnabledAnswer(from: &frame))
        case .token: self = .token(try TokenAnswer(from: &frame))
        case .server: self = .server(try ServerAnswer(from: &frame))
        case .signed: self = .signed(try SignedAnswer(from: &frame))
        case .signedFile: self = .signedFile(try SignedFileAnswer(from: &frame))
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
    /// Encodes a confirmation with a password. The caller must wipe the returned frame.
    package static func confirmed(with password: Span<UInt8>) throws(WireFault) -> Bytes {
        // Reserve the full length, so that no reallocation leaves a copy of the password behind.
        let room = Frame.headerLength + Frame.fieldHeaderLength + password.count
        var frame = FrameWriter(kind: AnswerKind.confirmed.rawValue, capacity: room)
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
        try frame.put(.requester, ifPresent: requester)
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

extension ReceiptAnswer {
    fileprivate func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.statement, statement)
        try frame.put(.signature, signature)
        if isGranted { try frame.put(.granted, number: UInt8(1)) }
    }

    fileprivate init(from frame: inout FrameReader) throws(WireFault) {
        statement = try frame.bytes(.statement)
        signature = try frame.bytes(.signature)
        isGranted = try frame.yes(.granted)
    }
}

extension StatusAnswer {
    fileprivate func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.count, numberIfPresent: secrets)
        try frame.put(.reason, numberIfPresent: refusal?.reason.rawValue)
        try frame.put(.cause, numberIfPresent: cause?.rawValue)
        try frame.put(.seconds, numberIfPresent: seconds)
        try frame.put(.since, numberIfPresent: since)
        try frame.put(.subject, ifPresent: configurationFault)
        try frame.put(.done, number: damaged)
        try frame.put(.total, number: prints)
        try frame.put(.name, ifPresent: keptOut)
        try frame.put(.value, ifPresent: closed)
        try frame.put(.origin, ifPresent: refusal?.subject)
        try frame.put(.state, number: state.rawValue)
        try frame.put(.generation, number: generation)
        try frame.put(.lock, number: lock.rawValue)
        try frame.put(.program, program)
        try frame.put(.vault, vault)
        try frame.put(.device, device)
        try frame.put(.keyringState, number: keyring.rawValue)
    }

    fileprivate init(from frame: inout FrameReader) throws(WireFault) {
        let account = try frame.accountName()
        let secrets: UInt32? = try frame.numberIfPresent(.count)
        let reason: DenialReason? = try frame.choiceIfPresent(.reason)
        let cause: InvalidationCause? = try frame.choiceIfPresent(.cause)
        let seconds: UInt32? = try frame.numberIfPresent(.seconds)
        let since: UInt64? = try frame.numberIfPresent(.since)
        let configurationFault = try frame.bytesIfPresent(.subject)
        let damaged: UInt8 = try frame.number(.done)
        let prints: UInt8 = try frame.number(.total)
        let keptOut = try frame.bytesIfPresent(.name)
        let closed = try frame.bytesIfPresent(.value)
        let subject = try frame.bytesIfPresent(.origin)
        guard reason != nil || subject == nil else { throw .malformedValue }
        self.init(
            account: account, seconds: seconds, cause: cause, since: since,
            configurationFault: configurationFault, closed: closed,
            prints: prints, damaged: damaged,
            state: try frame.choice(.state), generation: try frame.number(.generation),
            lock: try frame.choice(.lock), program: try frame.bytes(.program),
            vault: try frame.bytes(.vault), device: try frame.bytes(.device),
            secrets: secrets, keyring: try frame.choice(.keyringState), keptOut: keptOut,
            refusal: reason.map { Denial($0, subject: subject) })
    }
}

extension PrintAnswer {
    fileprivate func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.finger, numberIfPresent: finger?.rawValue)
        try frame.put(.printID, printID)
        try frame.put(.readerID, readerID)
        try frame.put(.since, numberIfPresent: since)
        try frame.put(.done, number: UInt8(intact ? 1 : 0))
    }

    fileprivate init(from frame: inout FrameReader) throws(WireFault) {
        self.init(
            finger: try frame.choiceIfPresent(.finger),
            printID: try frame.bytes(.printID),
            readerID: try frame.bytes(.readerID),
            since: try frame.numberIfPresent(.since),
            intact: false)
        let flag: UInt8 = try frame.number(.done)
        guard flag <= 1 else { throw .malformedValue }
        intact = flag == 1
    }
}

extension ReaderAnswer {
    fileprivate func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.readerID, readerID)
        try frame.put(.scan, number: scan.rawValue)
        try frame.put(.total, number: total)
        try frame.put(.name, name)
        try frame.put(.value, driver)
        try frame.put(.features, number: features.rawValue)
    }

    fileprivate init(from frame: inout FrameReader) throws(WireFault) {
        self.init(
            readerID: try frame.bytes(.readerID),
            scan: try frame.choice(.scan),
            total: try frame.number(.total),
            name: try frame.bytes(.name),
            driver: try frame.bytes(.value),
            features: ReaderFeatures(rawValue: try frame.number(.features)))
    }
}

extension SecretAnswer {
    fileprivate func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.count, number: size)
        try frame.put(.secretName, name)
        try frame.put(.since, number: since)
        try frame.put(.done, number: state.rawValue)
        try frame.put(.vault, vault)
    }

    fileprivate init(from frame: inout FrameReader) throws(WireFault) {
        let size: UInt32 = try frame.number(.count)
        let name = try frame.bytes(.secretName)
        let since: UInt64 = try frame.number(.since)
        let state: SecretState = try frame.choice(.done)
        self.init(
            name: name, size: size, since: since, vault: try frame.bytes(.vault), state: state)
    }
}

extension EventAnswer {
    fileprivate func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.service, service)
        try frame.put(.requester, requester)
        try frame.put(.purpose, purpose)
        try frame.put(.done, number: UInt8(isOver ? 1 : 0))
        try frame.put(.counter, number: number)
    }

    fileprivate init(from frame: inout FrameReader) throws(WireFault) {
        let account = try frame.accountName()
        let service = try frame.bytes(.service)
        let requester = try frame.bytes(.requester)
        let purpose = try frame.bytes(.purpose)
        guard let isOver = try frame.flagIfPresent(.done) else { throw .unexpectedField }
        self.init(
            account: account, service: service, requester: requester, purpose: purpose,
            isOver: isOver, number: try frame.number(.counter))
    }
}

extension VaultAnswer {
    fileprivate func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.subject, ifPresent: trouble)
        try frame.put(.done, number: UInt8(isChosen ? 1 : 0))
        try frame.put(.name, maker)
        try frame.put(.value, policy)
        try frame.put(.origin, registers)
        try frame.put(.vault, vault)
        try frame.put(.rootName, root)
    }

    fileprivate init(from frame: inout FrameReader) throws(WireFault) {
        let trouble = try frame.bytesIfPresent(.subject)
        guard let isChosen = try frame.flagIfPresent(.done) else { throw .unexpectedField }
        let maker = try frame.bytes(.name)
        let policy = try frame.bytes(.value)
        let registers = try frame.bytes(.origin)
        self.init(
            vault: try frame.bytes(.vault), isChosen: isChosen, maker: maker, policy: policy,
            registers: registers, root: try frame.bytes(.rootName), trouble: trouble)
    }
}
