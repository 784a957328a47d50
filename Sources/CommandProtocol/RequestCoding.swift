// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

extension Request {
    /// Encodes the request; throws if a value does not fit.
    package func encoded() throws(WireFault) -> Bytes {
        var frame = FrameWriter(kind: verb.rawValue)
        switch self {
        case .authenticate(let request): return try LoginRequest.authenticate(request)
        case .verify(let account, let timeout, let reason):
            try frame.put(accountName: account)
            try frame.put(.purpose, ifPresent: reason)
            try frame.put(.timeoutMilliseconds, number: timeout)
        case .enroll(let account, let finger, let readerID):
            try frame.put(accountName: account)
            try frame.put(.finger, number: finger.rawValue)
            try frame.put(.readerID, ifPresent: readerID)
        case .delete(let account, let finger):
            try frame.put(accountName: account)
            try frame.put(.finger, numberIfPresent: finger?.rawValue)
        case .enable(let account, let keyring):
            try frame.put(accountName: account)
            try frame.put(.keyring, flagIfPresent: keyring)
        case .disable(let account), .unlock(let account), .status(let account),
            .list(let account), .secretList(let account), .watch(let account),
            .importPrint(let account), .serverList(let account), .signingEnable(let account),
            .signingDisable(let account), .signingKey(let account), .macTokenList(let account):
            try frame.put(accountName: account)
        case .log(let request):
            try frame.put(accountName: request.account)
            try frame.put(.first, number: request.first)
            try frame.put(.count, number: request.count)
        case .passwordAccepted(let account, let service):
            return try LoginRequest.passwordAccepted(account: account, service: service)
        case .offer(let request): return try LoginRequest.offer(request)
        case .passwordChanged(let account, let service, let password):
            return try LoginRequest.passwordChanged(
                account: account, service: service, password: password.span)
        case .password(let password):
            try frame.put(.password, password)
        case .confirm(let account, let challenge):
            return try LoginRequest.confirm(account: account, challenge: challenge)
        case .shown: return LoginRequest.shown()
        case .readers, .configuration, .cancel, .vault, .trustVault:
            break
        case .readerPrints(let request): try request.put(into: &frame)
        case .secretSet, .secretPart, .secretGet, .secretDelete, .migrate:
            try putKept(into: &frame)
        case .serverEnable(let request): try request.put(into: &frame)
        case .serverDisable(let account, let server):
            try frame.put(accountName: account)
            try frame.put(.server, server)
        case .serverLogin(let account, let server, let timeout):
            try frame.put(accountName: account)
            try frame.put(.timeoutMilliseconds, number: timeout)
            try frame.put(.server, server)
        case .sign(let request): try request.put(into: &frame)
        case .macTokenAdd(let request): try request.put(into: &frame)
        case .macTokenRemove(let account, let server, let name):
            try frame.put(accountName: account)
            try frame.put(.server, server)
            try frame.put(.tokenName, name)
        case .macTokenHeader(let request): try request.put(into: &frame)
        case .operationList(let request): try request.put(into: &frame)
        case .operationShow(let request): try request.put(into: &frame)
        case .operationDecide(let request): try request.put(into: &frame)
        }
        return frame.bytes
    }

    /// Appends the fields of requests about secrets and vaults.
    private func putKept(into frame: inout FrameWriter) throws(WireFault) {
        switch self {
        case .secretSet(let request):
            try frame.put(accountName: request.account)
            try frame.put(.count, number: request.size)
            try frame.put(.secretName, request.name)
            try frame.put(.replaces, flagIfPresent: request.replaces)
        case .secretPart(let part): try frame.put(.secretPart, part)
        case .secretGet(let account, let name, let timeout):
            try frame.put(accountName: account)
            try frame.put(.timeoutMilliseconds, number: timeout)
            try frame.put(.secretName, name)
        case .secretDelete(let account, let name):
            try frame.put(accountName: account)
            try frame.put(.secretName, name)
        case .migrate(let account, let vault):
            try frame.put(accountName: account)
            try frame.put(.vault, vault)
        default: break
        }
    }

    /// Decodes a client's frame; throws unless it is exactly one well-formed request.
    package init(decoding packet: Bytes) throws(WireFault) {
        var frame = try FrameReader(packet)
        guard let verb = Verb(rawValue: frame.kind) else { throw .unknownKind }
        self = try Request(verb, from: &frame)
        try frame.end()
    }

    private init(_ verb: Verb, from frame: inout FrameReader) throws(WireFault) {
        switch verb {
        case .authenticate: self = .authenticate(try AuthenticateRequest(from: &frame))
        case .verify:
            let account = try frame.accountName()
            let reason = try frame.bytesIfPresent(.purpose)
            self = .verify(
                account: account, timeoutMilliseconds: try frame.number(.timeoutMilliseconds),
                reason: reason)
        case .enroll:
            self = .enroll(
                account: try frame.accountName(),
                finger: try frame.choice(.finger),
                readerID: try frame.bytesIfPresent(.readerID))
        case .delete:
            self = .delete(
                account: try frame.accountName(), finger: try frame.choiceIfPresent(.finger))
        case .enable:
            self = .enable(
                account: try frame.accountName(), keyring: try frame.flagIfPresent(.keyring))
        case .disable: self = .disable(account: try frame.accountName())
        case .unlock: self = .unlock(account: try frame.accountName())
        case .status: self = .status(account: try frame.accountName())
        case .list: self = .list(account: try frame.accountName())
        case .readers: self = .readers
        case .log:
            self = .log(
                LogRequest(
                    account: try frame.accountName(), first: try frame.number(.first),
                    count: try frame.number(.count)))
        case .configuration: self = .configuration
        case .passwordAccepted:
            self = .passwordAccepted(
                account: try frame.accountName(), service: try frame.bytes(.service))
        case .offer:
            self = .offer(
                OfferRequest(
                    account: try frame.accountName(), service: try frame.bytes(.service),
                    presence: try frame.choice(.presence)))
        case .password: self = .password(try frame.bytes(.password))
        case .cancel: self = .cancel
        case .vault: self = .vault
        case .trustVault: self = .trustVault
        case .readerPrints: self = .readerPrints(try ReaderPrintsRequest(from: &frame))
        case .secretList: self = .secretList(account: try frame.accountName())
        case .watch: self = .watch(account: try frame.accountName())
        case .importPrint: self = .importPrint(account: try frame.accountName())
        case .confirm:
            self = .confirm(
                account: try frame.accountName(), challenge: try frame.bytes(.challenge))
        case .shown: self = .shown
        case .serverEnable: self = .serverEnable(try ServerEnableRequest(from: &frame))
        case .serverDisable:
            self = .serverDisable(
                account: try frame.accountName(), server: try frame.bytes(.server))
        case .serverLogin:
            let account = try frame.accountName()
            let timeout: UInt32 = try frame.number(.timeoutMilliseconds)
            self = .serverLogin(
                account: account, server: try frame.bytes(.server), timeoutMilliseconds: timeout)
        case .serverList: self = .serverList(account: try frame.accountName())
        case .sign: self = .sign(try SignRequest(from: &frame))
        case .signingEnable: self = .signingEnable(account: try frame.accountName())
        case .signingDisable: self = .signingDisable(account: try frame.accountName())
        case .signingKey: self = .signingKey(account: try frame.accountName())
        case .macTokenAdd: self = .macTokenAdd(try MACTokenAddRequest(from: &frame))
        case .macTokenList: self = .macTokenList(account: try frame.accountName())
        case .macTokenRemove:
            let account = try frame.accountName()
            let server = try frame.bytes(.server)
            self = .macTokenRemove(
                account: account, server: server, name: try frame.bytes(.tokenName))
        case .macTokenHeader: self = .macTokenHeader(try MACTokenHeaderRequest(from: &frame))
        case .operationList: self = .operationList(try OperationListRequest(from: &frame))
        case .operationShow: self = .operationShow(try OperationShowRequest(from: &frame))
        case .operationDecide: self = .operationDecide(try OperationDecideRequest(from: &frame))
        case .secretSet, .secretPart, .secretGet, .secretDelete, .migrate, .passwordChanged:
            self = try Request(kept: verb, from: &frame)
        }
    }

    private init(kept verb: Verb, from frame: inout FrameReader) throws(WireFault) {
        switch verb {
        case .secretSet:
            let account = try frame.accountName()
            let size: UInt32 = try frame.number(.count)
            let name = try frame.bytes(.secretName)
            guard let replaces = try frame.flagIfPresent(.replaces) else {
                throw .unexpectedField
            }
            self = .secretSet(
                SecretSetRequest(account: account, size: size, name: name, replaces: replaces))
        case .secretPart: self = .secretPart(try frame.bytes(.secretPart))
        case .secretGet:
            let account = try frame.accountName()
            let timeout: UInt32 = try frame.number(.timeoutMilliseconds)
            self = .secretGet(
                account: account, name: try frame.bytes(.secretName),
                timeoutMilliseconds: timeout)
        case .secretDelete:
            self = .secretDelete(
                account: try frame.accountName(), name: try frame.bytes(.secretName))
        case .migrate:
            self = .migrate(account: try frame.accountName(), vault: try frame.bytes(.vault))
        case .passwordChanged:
            self = .passwordChanged(
                account: try frame.accountName(), service: try frame.bytes(.service),
                password: try frame.bytes(.password))
        default: throw .unknownKind
        }
    }
}

extension AuthenticateRequest {
    fileprivate init(from frame: inout FrameReader) throws(WireFault) {
        self.init(
            account: try frame.accountName(),
            challenge: try frame.bytes(.challenge),
            service: try frame.bytes(.service),
            terminal: try frame.bytes(.terminal),
            remoteHost: try frame.bytes(.remoteHost),
            requester: try frame.bytes(.requester),
            purpose: try frame.bytes(.purpose),
            timeoutMilliseconds: try frame.number(.timeoutMilliseconds),
            maximumTries: try frame.number(.maximumTries))
        guard maximumTries > 0 else { throw .malformedValue }
        wantsKeyring = try frame.yes(.keyring)
        presence = try frame.choice(.presence)
        background = try frame.choice(.background)
        commandDigest = try frame.bytesIfPresent(.commandDigest) ?? []
        agent = try frame.numberIfPresent(.agent)
        agentUser = try frame.numberIfPresent(.agentUser)
        server = try ServerLoginRequest(from: &frame)
    }
}

extension ServerLoginRequest {
    fileprivate init?(from frame: inout FrameReader) throws(WireFault) {
        guard let url = try frame.bytesIfPresent(.server) else { return nil }
        self.init(url: url, audience: try frame.bytes(.audience), key: [])
        if let hours: UInt32 = try frame.numberIfPresent(.offlineHours) {
            // A missing field means 0 hours, so an explicit 0 is malformed.
            guard hours > 0 else { throw .malformedValue }
            offlineHours = hours
        }
        token = try frame.choiceIfPresent(.tokenDelivery)
        key = try frame.bytes(.verdictKey)
    }
}

extension FrameWriter {
    /// Appends a flag as 0 or 1 unless it is nil.
    mutating func put(_ field: Field, flagIfPresent flag: Bool?) throws(WireFault) {
        if let flag { try put(field, number: UInt8(flag ? 1 : 0)) }
    }
}

extension FrameReader {
    /// Reads a flag that may be 0 or 1; nil if the field is absent.
    mutating func flagIfPresent(_ field: Field) throws(WireFault) -> Bool? {
        guard let flag = try numberIfPresent(field, as: UInt8.self) else { return nil }
        guard flag <= 1 else { throw .malformedValue }
        return flag == 1
    }

    /// Reads an account's name; throws for a name that passwd(5) cannot contain.
    mutating func accountName() throws(WireFault) -> Bytes {
        let name = try bytes(.account)
        guard name.isAccountName else { throw .malformedValue }
        return name
    }
}
