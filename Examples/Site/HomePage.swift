// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import SignedFormats

// The home page: what the server stores about the person who is signed in.
extension Site {
    /// Lists the person's own devices, operations and audit lines.
    func homePage(
        _ own: PersonRecords, of session: BrowserSession, call: PageCall
    ) throws(PageFault) -> HTTPResponse {
        guard let cookie = call.cookie else { throw .foreignForm }
        let menu: HTML = """
            <form method="post" action="\(SitePath.signOut)">
            \(try tokenField(cookie))
            <button type="submit">Sign out</button>
            </form>
            """
        let names = Dictionary(
            own.devices.map { ($0.registration, $0.device) },
            uniquingKeysWith: { first, _ in first })
        let content: HTML = """
            <p>You are signed in as <strong><bdi>\(session.account)</bdi></strong> at \
            <bdi>\(session.application)</bdi>, until \(moment(session.ends)).</p>
            <section aria-labelledby="devices">
            <h2 id="devices">Devices</h2>
            \(list(own.devices.map { device($0, approving: session.registration) }))
            </section>
            <section aria-labelledby="operations">
            <h2 id="operations">Operations</h2>
            <p>What you were asked to approve, the latest first.</p>
            \(list(own.operations.map { operation($0, names: names) }))
            </section>
            <section aria-labelledby="receipts">
            <h2 id="receipts">Receipts</h2>
            <p>What the server has checked recently in your name, the latest first. Report anything \
            that you do not recognise to the operator of this site.</p>
            \(list(own.receipts.map { receipt($0, names: names) }))
            </section>
            """
        return Page(title: "Your account", content: content, menu: menu).response()
    }

    private func list(_ items: [HTML]) -> HTML {
        guard !items.isEmpty else { return "<p>None.</p>" }
        let rows: [HTML] = items.map { "<li>\($0)</li>\n" }
        return "<ul class=\"records\">\n\(HTML(rows))</ul>"
    }

    private func device(_ device: Device, approving: String) -> HTML {
        let here: HTML =
            device.registration == approving ? row("This sign-in", "approved by it") : ""
        let used = device.lastUsed.map { moment($0) } ?? "never"
        return """
            <h3>Device <bdi>\(device.device)</bdi></h3>
            <dl>
            \(row("State", state(device)))
            \(here)
            \(row("Last use", used))
            \(row("Registered", moment(device.created)))
            \(row("Integrity", integrity(device)))
            \(row("Fingerprint of the key", device.fingerprint ?? "none yet"))
            </dl>
            """
    }

    private func operation(_ operation: Operation, names: [String: String]) -> HTML {
        let kind = operation.purpose == "login" ? "sign-in" : "operation"
        let device = operation.registration.flatMap { names[$0] }
        return """
            <p class="text"><bdi>\(.lines(operation.text))</bdi></p>
            <dl>
            \(row("State", status(operation.status)))
            \(row("Kind", kind))
            \(row("Asked", moment(operation.created)))
            \(row("Asked from", operation.address))
            \(operation.decided.map { row("Ended", moment($0)) } ?? "")
            \(row("Device", device))
            </dl>
            """
    }

    private func receipt(_ receipt: Receipt, names: [String: String]) -> HTML {
        """
        <dl>
        \(row("Time", moment(receipt.time)))
        \(row("What", what(receipt.event)))
        \(row("Outcome", outcome(receipt.outcome)))
        \(row("Factor", receipt.factor ?? "none"))
        \(row("Device", receipt.registration.flatMap { names[$0] }))
        \(row("Address", receipt.address ?? "not known"))
        </dl>
        """
    }

    private func outcome(_ word: String) -> String {
        switch word {
        case "ok": "accepted"
        case "begun": "started, not proven yet"
        default: "refused (\(word))"
        }
    }

    private func state(_ device: Device) -> String {
        let reason = device.reason.map { " (\($0))" } ?? ""
        switch device.status {
        case "CREATED": return "started, its key is not proven yet"
        case "PENDING_COMMIT": return "waits until someone has compared its key"
        default: return device.status.lowercased() + reason
        }
    }

    private func integrity(_ device: Device) -> String {
        let boot = device.secureBoot ?? "unknown"
        switch device.key {
        case "tpm": return "key in a TPM, secure boot \(boot), according to the device"
        case "file": return "key in a file, secure boot \(boot), according to the device"
        default: return "not known yet"
        }
    }

    /// The status of an operation in words; a status that is new is shown as it is.
    private func status(_ word: String) -> String {
        switch word {
        case "PENDING": "waits for your decision"
        case "CANCELED": "taken back"
        case "EXPIRED": "expired without a decision"
        case "FAILED": "failed by wrong signatures"
        default: word.lowercased()
        }
    }

    /// An event of the audit trail in words; one that is new is shown as it is.
    private func what(_ event: String) -> String {
        switch event {
        case "activation": "activation code created"
        case "registration": "device registered"
        case "commit": "key compared"
        case "block": "device blocked"
        case "unblock": "device unblocked"
        case "removal": "device removed"
        case "refresh": "tokens renewed"
        case "revocation": "session ended"
        case "mac-token": "MAC token made"
        case "request": "signed request"
        case "operation-created": "approval requested"
        case "operation-decided": "decision of an operation"
        case "operation-cancelled": "operation cancelled"
        case "operation-consumed": "approved sign-in"
        case "administration": "change by the administrator"
        default: event
        }
    }
}

/// A name and its value in a description list.
private func row(_ name: String, _ value: HTML) -> HTML {
    "<div><dt>\(name)</dt><dd>\(value)</dd></div>"
}

/// The same for a text from outside; nothing if it is nil.
private func row(_ name: String, _ value: String?) -> HTML {
    value.map { row(name, "<bdi>\($0)</bdi>" as HTML) } ?? ""
}
