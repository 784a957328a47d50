// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol

/// One value of every request and answer, and the extremes of those that have optional fields.
enum SampleFrames {
    static let account: AccountName = "alice"
    static let thirtyTwo = Bytes(0..<32)

    static let requests: [Request] = [
        .authenticate(
            AuthenticateRequest(
                account: account, challenge: .sample(0..<32), service: "sudo",
                terminal: Bytes("/dev/pts/3".utf8), remoteHost: Bytes("host".utf8),
                requester: "bob", purpose: Bytes("sudo apt upgrade".utf8),
                timeoutMilliseconds: 10_000, maximumTries: 3)),
        .authenticate(
            AuthenticateRequest(
                account: AccountName([0xFF]), challenge: .sample(0..<32),
                service: ServiceName([0x20]),
                timeoutMilliseconds: .max, maximumTries: .max, presence: .noTerminal,
                background: .allow)),
        .verify(account: account, timeoutMilliseconds: 1),
        .enroll(account: account, finger: .rightIndex, readerID: nil),
        .enroll(account: account, finger: .leftLittle, readerID: Bytes("usb-1".utf8)),
        .delete(account: account, finger: nil),
        .delete(account: account, finger: .leftThumb),
        .enable(account: account), .disable(account: account), .unlock(account: account),
        .status(account: account), .list(account: account), .readers,
        .log(LogRequest(account: account)),
        .log(LogRequest(account: account, first: .max, count: .max)),
        .configuration,
        .passwordAccepted(account: account, service: "login"),
        .offer(
            OfferRequest(
                account: account, service: "login", presence: .foreground)),
        .password([]), .password(Bytes(repeating: 0, count: Limit.password)), .cancel,
        .authenticate(
            AuthenticateRequest(
                account: account, challenge: .sample(0..<32), service: "login",
                timeoutMilliseconds: 1, maximumTries: 1, wantsKeyring: true,
                presence: .background, background: .warn)),
        .authenticate(
            AuthenticateRequest(
                account: account, challenge: .sample(0..<32), service: "login",
                timeoutMilliseconds: 1, maximumTries: 1,
                server: ServerLoginRequest(
                    url: "https://h", audience: Audience([1]),
                    key: .sample(repeating: 4)))),
        .authenticate(
            AuthenticateRequest(
                account: account, challenge: .sample(0..<32), service: "login",
                timeoutMilliseconds: 1, maximumTries: 1, wantsKeyring: true,
                commandDigest: thirtyTwo, agent: .max, agentUser: .max,
                server: ServerLoginRequest(
                    url: ServerURL(Bytes(repeating: 0x68, count: Limit.label)),
                    audience: Audience(Bytes(repeating: 0x61, count: Limit.label)),
                    key: .sample(repeating: 4), offlineHours: .max,
                    token: .file))),
        .enable(account: account, keyring: true), .enable(account: account, keyring: false),
        .secretSet(
            SecretSetRequest(
                account: account, size: .max, name: Bytes("mail".utf8), replaces: false)),
        .secretSet(
            SecretSetRequest(
                account: account, size: 0, name: Bytes(repeating: 1, count: Limit.secretName),
                replaces: true)),
        .secretPart([]), .secretPart(Bytes(repeating: 7, count: Limit.secretPart)),
        .secretGet(account: account, name: [0x20], timeoutMilliseconds: .max),
        .secretList(account: account), .secretDelete(account: account, name: [0xFF]),
        .vault, .migrate(account: account, vault: Bytes("tpm".utf8)), .trustVault,
        .passwordChanged(account: account, service: "passwd", password: [1, 2]),
        .readerPrints(ReaderPrintsRequest(.list)),
        .readerPrints(ReaderPrintsRequest(.clear, readerID: [1])),
        .watchReader(nil), .watchReader([1]),
        .watch(account: account),
        .importPrint(account: account),
        .confirm(account: account, challenge: .sample(0..<32)), .shown,
        .serverEnable(
            ServerEnableRequest(
                account: account, server: "https://h", code: Bytes("K7MDQ".utf8))),
        .serverDisable(account: account, server: ServerURL([1])),
        .serverLogin(account: account, server: ServerURL([1]), timeoutMilliseconds: .max),
        .serverLogin(
            account: account, server: ServerURL([1]), timeoutMilliseconds: 1, factor: .password),
        .serverPasswordKey(account: account, server: ServerURL([1])),
        .serverEnable(
            ServerEnableRequest(
                account: account, server: "https://h", code: Bytes("K7MDQ".utf8),
                factor: .password, deviceName: DeviceName([0x61]))),
        .serverEnable(
            ServerEnableRequest(
                account: account, server: "https://h", code: Bytes("K7MDQ".utf8),
                deviceName: DeviceName(Bytes(repeating: 0x61, count: DeviceName.longest)))),
        .serverList(account: account),
        .sign(
            SignRequest(
                account: account, timeoutMilliseconds: 1, matter: .file(name: [], digest: thirtyTwo)
            )),
        .sign(
            SignRequest(
                account: account, timeoutMilliseconds: 1,
                matter: .files([
                    FileDigest(name: [], digest: thirtyTwo),
                    FileDigest(name: Bytes("a.pdf".utf8), digest: thirtyTwo),
                ]))),
        .sign(
            SignRequest(
                account: account, timeoutMilliseconds: 1,
                matter: .files(
                    [FileDigest](
                        repeating: FileDigest(
                            name: Bytes(repeating: 7, count: Limit.listedNames / Limit.files),
                            digest: thirtyTwo), count: Limit.files)))),
        .sign(
            SignRequest(
                account: account, timeoutMilliseconds: .max,
                matter: .challenge(
                    audience: Audience([1]), text: Bytes(repeating: 7, count: Limit.challengeText)))
        ),
        .sign(
            SignRequest(
                account: account, timeoutMilliseconds: 1,
                matter: .request(
                    server: ServerURL([1]), method: Bytes("GET".utf8), resource: Bytes("/".utf8),
                    body: thirtyTwo))),
        .signingEnable(account: account), .signingDisable(account: account),
        .signingKey(account: account),
        .macTokenAdd(
            MACTokenAddRequest(
                account: account, timeoutMilliseconds: .max, server: ServerURL([1]),
                name: Bytes(repeating: 7, count: Limit.tokenName))),
        .macTokenList(account: account),
        .macTokenRemove(account: account, server: ServerURL([1]), name: [2]),
        .macTokenHeader(
            MACTokenHeaderRequest(
                account: account, server: ServerURL([1]), name: [2], method: Bytes("GET".utf8),
                resource: Bytes(repeating: 7, count: Limit.resource), bodyDigest: thirtyTwo)),
        .operationList(OperationListRequest(account: account, timeoutMilliseconds: nil)),
        .operationList(
            OperationListRequest(account: account, timeoutMilliseconds: 1, server: ServerURL([1]))),
        .operationList(
            OperationListRequest(account: account, timeoutMilliseconds: 1, factor: .password)),
        .operationShow(
            OperationShowRequest(
                account: account, timeoutMilliseconds: 1, server: ServerURL([1]),
                operation: .sample(0..<16), factor: .password)),
        .operationDecide(
            OperationDecideRequest(
                account: account, timeoutMilliseconds: 1, server: ServerURL([1]),
                operation: .sample(0..<16), decision: .approve, factor: .password)),
        .verify(account: account, timeoutMilliseconds: 1, reason: [0x78]),
        .operationShow(
            OperationShowRequest(
                account: account, timeoutMilliseconds: nil, server: ServerURL([1]),
                operation: .sample(0..<16))
        ),
        .operationShow(
            OperationShowRequest(
                account: account, timeoutMilliseconds: 1, server: ServerURL([1]),
                operation: .sample(0..<16))),
        .operationDecide(
            OperationDecideRequest(
                account: account, timeoutMilliseconds: 1, server: ServerURL([1]),
                operation: .sample(0..<16),
                decision: .reject)),
    ]

    static let status = StatusAnswer(
        account: account, prints: 0, damaged: 0, state: .none, generation: 0, lock: .open,
        program: Bytes("1.0".utf8), vault: Bytes("file".utf8), device: .sample(0..<16))

    static var fullStatus: StatusAnswer {
        var full = status
        full.seconds = 30
        full.cause = .fingerAdded
        full.since = .max
        full.configurationFault = Bytes("/etc/signet/signet.conf:3: unknown key".utf8)
        full.closed = Bytes("there is no usable TPM".utf8)
        full.prints = 10
        full.damaged = 2
        full.state = .invalidated
        full.generation = .max
        full.lock = .untilPassword
        full.keyring = .passwordChanged
        full.secrets = .max
        full.keptOut = Bytes("login.accounts".utf8)
        full.refusal = Denial(.vaultUnavailable, subject: Bytes("there is no usable TPM".utf8))
        return full
    }

    static let operation = OperationContent(
        operation: .sample(0..<16), template: [], data: [], created: 0, expires: 1)

    static let longOperation = OperationContent(
        operation: .sample(0..<16), template: Bytes(repeating: 7, count: Limit.template),
        data: Bytes(repeating: 7, count: Limit.operationData), created: .max, expires: .max)

    static let assertion = Assertion(statement: Bytes("text\n".utf8), signature: [1, 2, 3])

    static let answers: [Answer] =
        [
            .notice(Notice(.touch)),
            .notice(
                Notice(
                    .stage, scan: .swipe, retry: .tooShort, done: 1, total: 2, triesLeft: 3,
                    subject: Bytes("reader".utf8), requester: "bob",
                    wantsAcknowledgement: true)),
            .assertion(assertion),
            .receipt(ReceiptAnswer(statement: [1], signature: [1, 2], isGranted: false)),
            .receipt(ReceiptAnswer(statement: [1], signature: [1, 2], isGranted: true)),
            .refusal(
                Refusal(
                    AuthenticateRequest.verb, service: "sudo",
                    terminal: Bytes("tty1".utf8),
                    requester: "bob", reason: .noMatch, count: .max, since: 1,
                    until: .max)),
            .refusal(
                Refusal(SignRequest.verb, requester: .none, reason: .lidClosed, since: 0, until: 0)),
            .denial(
                Denial(
                    .invalidated, cause: .hostSecretChanged, seconds: 1, since: 2,
                    subject: [], finger: .rightLittle, mismatches: 255)),
            .passwordWanted(account: account),
            .done(DoneAnswer()),
            .done(DoneAnswer(finger: .leftRing, prints: 3, state: .valid)),
            .done(DoneAnswer(state: .valid, keyring: .on)),
            .done(
                DoneAnswer(
                    finger: .leftRing, prints: 3, state: .valid, secrets: .max,
                    keptOut: Bytes("login.groups".utf8))),
            .status(status), .status(fullStatus),
            .print(
                PrintAnswer(
                    finger: .rightIndex, printID: .sample(0..<16), readerID: [1], since: 3,
                    intact: true)),
            .print(
                PrintAnswer(
                    finger: nil, printID: .sample(0..<16), readerID: [], since: nil, intact: false)),
            .reader(
                ReaderAnswer(
                    readerID: [1], scan: .press, total: 5, name: [2], driver: [3],
                    features: [.identify, .hostMatching])),
            .signer(Bytes("alice ecdsa-sha2-nistp256 AAAA".utf8)),
            .setting(SettingAnswer(name: [1], value: [2], origin: [3])),
            .chainHead(counter: 42, digest: thirtyTwo),
            .assertion(
                Assertion(
                    statement: [1], signature: [2],
                    server: ServerProof(verdict: [3], signature: [4]))),
            .assertion(
                Assertion(
                    statement: [1], signature: [2],
                    server: ServerProof(
                        verdict: Bytes(repeating: 3, count: Limit.verdict),
                        signature: Bytes(repeating: 4, count: Limit.signature),
                        accessToken: Bytes(repeating: 5, count: Limit.accessToken),
                        hasTokenFile: true))),
            .confirmed(password: nil), .confirmed(password: Bytes("secret".utf8)),
            .secretPart([]), .secretPart(Bytes(repeating: 7, count: Limit.secretPart)),
            .secret(
                SecretAnswer(name: [1], size: .max, since: 3, vault: [4], state: .fits)),
            .secret(SecretAnswer(name: [1], size: 0, since: 0, vault: [], state: .stale)),
            .secret(SecretAnswer(name: [1], size: 0, since: 0, vault: [], state: .damaged)),
            .secretWanted,
            .event(
                EventAnswer(
                    account: account, service: "polkit-1",
                    requester: "bob", purpose: Bytes("pkexec id".utf8), isOver: false,
                    number: .max)),
            .event(
                EventAnswer(account: account, service: ServiceName([0x20]), isOver: true, number: 0)
            ),
            .importedPrint(
                ImportedPrintAnswer(
                    finger: .leftLittle, since: 5, subject: [1], outcome: .readerFailed,
                    place: [2])),
            .importedPrint(
                ImportedPrintAnswer(finger: .leftLittle, since: 5, outcome: nil, place: [2])),
            .storedPrint(
                StoredPrintAnswer(
                    account: account, finger: .leftLittle, readerID: [1], subject: [2])),
            .storedPrint(StoredPrintAnswer(account: nil, finger: nil, readerID: [])),
            .importedPrint(
                ImportedPrintAnswer(finger: nil, outcome: .foreign, place: [])),
            .serverEnabled(
                ServerEnabledAnswer(
                    account: ServerAccountName([1]), application: ApplicationName([2]),
                    fingerprint: [], progress: .active, hasPasswordKey: true)),
            .server(
                ServerAnswer(
                    account: ServerAccountName([1]), since: 1, state: .good,
                    server: ServerURL([2]), application: ApplicationName([3]), fingerprint: [],
                    hasPasswordKey: true, deviceName: DeviceName([0x61]))),
            .serverEnabled(
                ServerEnabledAnswer(
                    account: "a:b", application: ApplicationName([1]), fingerprint: [],
                    progress: .pendingCommit)),
            .token(TokenAnswer(accessToken: [0x61], seconds: 300, refreshToken: [])),
            .server(
                ServerAnswer(
                    account: ServerAccountName([1]), since: 2, state: .removing,
                    server: ServerURL([3]),
                    application: ApplicationName([4]),
                    fingerprint: [5])),
            .signed(SignedAnswer(signature: [1])),
            .signedFile(SignedFileAnswer(digest: thirtyTwo, signature: [1])),
            .signed(SignedAnswer(statement: [1], signature: [2])),
            .signingKey(
                SigningKeyAnswer(
                    since: .max, state: .invalidated, vault: [1], credential: .sample(0..<16),
                    publicKey: .sample(repeating: 4))),
            .macToken(
                MACTokenAnswer(
                    since: .max, server: ServerURL([1]), expires: 2, name: [3],
                    token: .sample(0..<16))),
            .authorization(Bytes("SignetMAC token=".utf8)),
            .operation(
                OperationAnswer(
                    account: ServerAccountName([1]), server: ServerURL([2]),
                    application: ApplicationName([3]),
                    content: operation,
                    state: .pending)),
            .operation(
                OperationAnswer(
                    account: ServerAccountName([1]), server: ServerURL([2]),
                    application: ApplicationName([3]),
                    content: longOperation,
                    state: .failed, failures: OperationFailures(count: 1, most: .max))),
            .operation(
                OperationAnswer(
                    account: ServerAccountName([1]), server: ServerURL([2]),
                    application: ApplicationName([3]), content: operation, state: .pending,
                    failures: OperationFailures(count: 0, most: 3), factors: .both,
                    missing: .finger)),
            .serverTrouble(
                ServerTroubleAnswer(server: ServerURL([1]), reason: .serverUnreachable, subject: [])
            ),
            .decided(.approved), .decided(.canceled),
            .vault(VaultAnswer(vault: Bytes("file".utf8), isChosen: true)),
            .vault(
                VaultAnswer(
                    vault: Bytes("tpm".utf8), isChosen: false, maker: [1], policy: [2],
                    registers: [3], root: Bytes(repeating: 1, count: Limit.rootName),
                    trouble: [4])),
        ] + DenialReason.allCases.map { .denial(Denial($0)) }
        + NoticeKind.allCases.map { .notice(Notice($0)) }
}

/// A field as raw bytes, well formed or not.
func field(_ tag: UInt8, _ value: Bytes) -> Bytes {
    [tag, UInt8(value.count >> 8), UInt8(value.count & 255)] + value
}

/// The fields of a well-formed frame, header left out.
func fields(of frame: Bytes) -> [Bytes] {
    var parts: [Bytes] = []
    var rest = frame.dropFirst(Frame.headerLength)
    while rest.count >= Frame.fieldHeaderLength {
        let bytes = Bytes(rest)
        let length = Frame.fieldHeaderLength + Int(bytes[1]) << 8 + Int(bytes[2])
        parts.append(Bytes(rest.prefix(length)))
        rest = rest.dropFirst(length)
    }
    return parts
}

/// Whether a decoder accepts a frame; `isRequest` says which decoder.
func accepts(_ frame: Bytes, isRequest: Bool) -> Bool {
    fault(frame, isRequest: isRequest) == nil
}

/// Why a decoder refuses a frame, or nil.
func fault(_ frame: Bytes, isRequest: Bool) -> WireFault? {
    do throws(WireFault) {
        if isRequest { _ = try Request(decoding: frame) } else { _ = try Answer(decoding: frame) }
        return nil
    } catch {
        return error
    }
}

/// Every sample's frame, and which decoder it is for.
let sampleFrames: [(frame: Bytes, isRequest: Bool)] = {
    var frames: [(frame: Bytes, isRequest: Bool)] = []
    for request in SampleFrames.requests {
        if let frame = try? request.encoded() { frames.append((frame, true)) }
    }
    for answer in SampleFrames.answers {
        if let frame = try? answer.encoded() { frames.append((frame, false)) }
    }
    return frames
}()

/// A frame of the same header with other fields.
func assembled(_ header: Bytes, _ parts: some Sequence<Bytes>) -> Bytes {
    Bytes(header.prefix(Frame.headerLength)) + parts.flatMap { $0 }
}
