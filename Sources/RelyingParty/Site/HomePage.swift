// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import SignedFormats

// The home page: what the server stores about the person who is signed in.
extension Site {
    /// Lists the person's own devices, operations and audit lines.
    func homePage(
        _ own: PersonRecords, of signer: Signer, until end: Int64, _ call: SiteCall
    ) throws(Problem) -> HTTPResponse {
        guard let cookie = call.cookie else { throw .foreignForm }
        let menu: HTML = """
            <form method="post" action="\(SitePath.signOut)">
            \(try tokenField(cookie))
            <button type="submit">Sign out</button>
            </form>
            """
        let names = Dictionary(
            own.devices.map { (hexadecimal($0.id), hexadecimal($0.device)) },
            uniquingKeysWith: { first, _ in first })
        let now = service.core.now
        let content: HTML = """
            <p>You are signed in as <strong><bdi>\(signer.account.name)</bdi></strong> at \
            <bdi>\(signer.application.name)</bdi>, until \(moment(end)).</p>
            <section aria-labelledby="devices">
            <h2 id="devices">Devices</h2>
            \(list(own.devices.map { device($0, approving: signer.registration.id) }))
            </section>
            <section aria-labelledby="operations">
            <h2 id="operations">Operations</h2>
            <p>What you were asked to approve, the latest first.</p>
            \(list(own.operations.map { operation($0, names, at: now) }))
            </section>
            <section aria-labelledby="receipts">
            <h2 id="receipts">Receipts</h2>
            <p>What the server has checked of late in your name, the latest first. What you do not \
            know of, tell whoever runs this site.</p>
            \(list(own.receipts.map { receipt($0, names) }))
            </section>
            """
        return SitePage(title: "Your account", content: content, menu: menu).response()
    }

    private func list(_ items: [HTML]) -> HTML {
        guard !items.isEmpty else { return "<p>None.</p>" }
        let rows: [HTML] = items.map { "<li>\($0)</li>\n" }
        return "<ul class=\"records\">\n\(HTML(rows))</ul>"
    }

    private func device(_ record: RegistrationRecord, approving: [UInt8]) -> HTML {
        let here: HTML = record.id == approving ? row("This sign-in", "approved by it") : ""
        let fingerprint = record.publicKey.flatMap { keyFingerprint($0) } ?? "none yet"
        let used = record.lastUsed.map { moment($0) } ?? "never"
        return """
            <h3>Device <bdi>\(hexadecimal(record.device))</bdi></h3>
            <dl>
            \(row("State", state(record)))
            \(here)
            \(row("Last use", used))
            \(row("Registered", moment(record.created)))
            \(row("Integrity", integrity(record)))
            \(row("Fingerprint of the key", fingerprint))
            </dl>
            """
    }

    private func operation(
        _ record: OperationRecord, _ names: [String: String], at now: Int64
    ) -> HTML {
        let kind = record.session == nil ? "operation" : "sign-in"
        let device = record.registration.flatMap { names[hexadecimal($0)] }
        return """
            <p class="text"><bdi>\(.lines(record.data))</bdi></p>
            <dl>
            \(row("State", "\(record.status(at: now).word)"))
            \(row("Kind", kind))
            \(row("Asked", moment(record.created)))
            \(row(decided: record.decided))
            \(row(device: device))
            </dl>
            """
    }

    private func receipt(_ line: ListedAudit, _ names: [String: String]) -> HTML {
        let event = AuditEntry.Event(rawValue: line.event)
        let factor = line.outcome == "ok" && event?.isTouch == true ? "fingerprint" : "none"
        return """
            <dl>
            \(row("Time", moment(line.time)))
            \(row("What", event?.words ?? line.event))
            \(row("Outcome", outcome(line.outcome)))
            \(row("Factor", factor))
            \(row(device: names[line.registration]))
            \(row("Address", line.address.isEmpty ? "not known" : line.address))
            </dl>
            """
    }

    private func outcome(_ word: String) -> String {
        switch word {
        case "ok": "accepted"
        case AuditEntry.begun: "begun, not proven yet"
        default: "refused (\(word))"
        }
    }

    private func state(_ record: RegistrationRecord) -> String {
        let reason = record.reason.isEmpty ? "" : " (\(record.reason))"
        switch record.status {
        case .created: return "begun, its key is not proven yet"
        case .pendingCommit: return "waits until somebody has compared its key"
        case .active: return "active"
        case .blocked: return "blocked\(reason)"
        case .removed: return "removed\(reason)"
        }
    }

    private func integrity(_ record: RegistrationRecord) -> String {
        let boot = record.secureBoot.isEmpty ? "unknown" : record.secureBoot
        switch record.keyKind {
        case "tpm": return "key in a TPM, secure boot \(boot), as the device says"
        case "file": return "key in a file, secure boot \(boot), as the device says"
        default: return "not known yet"
        }
    }
}

/// A name and its value in a description list.
private func row(_ name: String, _ value: HTML) -> HTML {
    "<div><dt>\(name)</dt><dd>\(value)</dd></div>"
}

private func row(_ name: String, _ value: String) -> HTML {
    row(name, "<bdi>\(value)</bdi>" as HTML)
}

private func row(decided: Int64?) -> HTML {
    decided.map { row("Ended", moment($0)) } ?? ""
}

private func row(device: String?) -> HTML {
    device.map { row("Device", $0) } ?? ""
}

extension OperationStatus {
    /// The status in words for the page.
    fileprivate var word: String {
        switch self {
        case .pending: "waits for your decision"
        case .approved: "approved"
        case .rejected: "rejected"
        case .canceled: "taken back"
        case .expired: "too late, nobody decided"
        case .failed: "failed by wrong signatures"
        }
    }
}

extension AuditEntry.Event {
    /// The event in words for the page.
    fileprivate var words: String {
        switch self {
        case .activation: "activation code made"
        case .registration: "device registered"
        case .commit: "key compared"
        case .block: "device blocked"
        case .unblock: "device unblocked"
        case .removal: "device removed"
        case .login: "login"
        case .refresh: "tokens renewed"
        case .revocation: "session ended"
        case .macToken: "MAC token made"
        case .request: "signed request"
        case .operationCreated: "approval asked for"
        case .operationDecided: "decision of an operation"
        case .operationCancelled: "operation taken back"
        case .operationConsumed: "approved sign-in"
        case .administration: "change by the administrator"
        }
    }

    /// Whether this event is accepted only after a touch.
    fileprivate var isTouch: Bool {
        switch self {
        case .registration, .login, .macToken, .operationDecided, .operationConsumed: true
        case .activation, .commit, .block, .unblock, .removal, .refresh, .revocation, .request,
            .operationCreated, .operationCancelled, .administration:
            false
        }
    }
}
