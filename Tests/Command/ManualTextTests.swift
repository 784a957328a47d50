// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// What the pages say of texts, held against the texts in the sources.
@Suite("The diagnostics of the manual pages")
struct ManualTextTests {
    /// What a person may be told: everything but help and headings.
    private static let told =
        [
            "Shared/LoginMessages/LoginDenialText.swift", "Shared/LoginMessages/NoticeText.swift",
            "Shared/LoginMessages/SSHDenialText.swift",
            "Device/CommandMessages/DenialText.swift", "Device/ArgumentSyntax/UsageFault.swift",
            "Device/CommandMessages/UnknownNameText.swift",
            "Device/CommandMessages/StatusText.swift",
        ] + commands

    /// Those whose messages are what a command shows, and no fault.
    private static let results = [
        "DoctorCommand", "ImportCommand", "OperationText", "ReadersCommand",
    ].map { "/\($0).swift" }

    /// The files of the command that have messages.
    private static let commands: [String] = {
        let directory = "\(Layout.package)/Sources"
        let files = FileManager.default.enumerator(atPath: directory + "/Device/Command")
        return (files?.compactMap { $0 as? String } ?? []).map { "Device/Command/\($0)" }
            .filter { (try? TextLiteral.all(in: $0).isEmpty) == false }.sorted()
    }()

    @Test("have every text that a user may be shown", arguments: ManualTextTests.told)
    func complete(file: String) throws {
        let items = try (diagnostics("signet.1") + diagnostics("pam_signet.8")).flatMap(forms)
        let texts = try TextLiteral.all(in: file).filter(\.isWhole)
        #expect(!texts.isEmpty)
        let isResult = Self.results.contains(where: file.hasSuffix)
        for text in texts where !isResult && !text.isShown {
            #expect(items.contains { text.isPart(of: $0) }, "'\(text)' is in no page")
        }
    }

    @Test("have no text that is never shown", arguments: ["signet.1", "pam_signet.8"])
    func sound(page: String) throws {
        let texts = try
            ([
                "Shared/LoginMessages", "Device/CommandMessages", "Device/ArgumentSyntax",
            ].flatMap { directory in
                Layout.entries(of: "\(Layout.package)/Sources/\(directory)")
                    .filter { $0.hasSuffix(".swift") }.map { "\(directory)/\($0)" }
            } + Self.commands).flatMap { try TextLiteral.all(in: $0) }.filter { $0.size >= 6 }
        let items = try diagnostics(page)
        #expect(items.count > 10)
        for item in items {
            #expect(texts.contains { $0.makes(item) }, "no user is shown '\(item)'")
        }
        #expect(Set(items).count == items.count)
    }

    @Test("of the configuration have every fault of a file, and no other")
    func configuration() throws {
        let texts = try TextLiteral.all(in: "Device/Configuration/Configuration.swift")
        let items = try diagnostics("signet.conf.5")
        for text in texts where text.isWhole {
            #expect(items.contains { text.isPart(of: $0) }, "'\(text)' is not in the page")
        }
        for item in items {
            #expect(texts.contains { $0.size >= 6 && $0.makes(item) }, "no text says '\(item)'")
        }
    }

    /// A text of a page, also as it is shown if there is nothing to fill in.
    private func forms(of item: String) -> [String] {
        [
            item, item.replacing(#/(: | by | on | since )(WHY|WHO|DATE)/#, with: ""),
            item.replacing("NUMBER s", with: "a moment"),
        ]
    }

    private func diagnostics(_ page: String) throws -> [String] {
        try ManualPage(page).items("DIAGNOSTICS").map { $0.head.joined(separator: " ") }
    }
}

extension TextLiteral {
    /// Whether a command that works shows it: what a touch is for, a heading, a line of a list.
    fileprivate var isShown: Bool {
        description.hasPrefix("… to ")
            || [
                // A list.
                "template", "…: new keys are stored here", "no operation awaits your decision",
                "to read one in full and decide: 'signet operations show ID', 'approve ID', 'reject ID'",
                "new operations are shown as they arrive. Press Ctrl-C to stop",
                "operation … of …: …", "operation … of … is approved",
                "operation … of … is rejected",
                "session … at … has ended. Services that do not check with the server may accept "
                    + "its access token for a few more minutes",
                "sessions ended at …: …. Services that do not check with the server may accept "
                    + "their access tokens for a few more minutes",
                "older sessions at … that are not shown: …", "… (this device)", "refreshed",
                "touch and password", "no sessions: you are not logged in at any server",
                "names of devices and programs are unverified. To end a session: 'signet "
                    + "sessions end ID', or 'end --all'",
                // The line of a refusal in the log, and its reasons.
                "… times since …", "the session was remote", "only … may ask for this",
                "nothing showed that the user was at this machine",
                "the fingers, the key or the session changed after the touch", "the lid was closed",
                "the reader was at another seat",
                // What is signed.
                "  standard input (SHA-256 ……)",
                // What became of a MAC token, and a prompt.
                "the MAC token … of … is stored, and valid until …. Any program that runs 'signet "
                    + "mac-token header' as you can identify this device with it, without a touch",
                "the MAC token … of … was revoked and is no longer accepted",
                "the MAC token … of … is no longer used here. The server could not be informed: it will "
                    + "be as soon as it can be reached, and accepts the token until then",
                "Activation code for …: ",
            ].contains(description)
    }

    /// Whether it is more than a word or what stands for a name, and not merely the singular of
    /// one.
    fileprivate var isWhole: Bool {
        size >= 8 && !description.hasPrefix("1 ") && description != "with this name"
    }
}
